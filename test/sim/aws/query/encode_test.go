package query_test

import (
	"encoding/xml"
	"testing"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type text string

type base struct{ Name text }

type item struct {
	ID    string `xml:"id"`
	Inner *item  `xml:"inner"`
}

type front struct {
	Protocol string
	Inside   int `xml:"Port"`
}

type record struct {
	base
	Front   front `xml:"Listener"`
	ID      string
	Hidden  string `xml:"-"`
	Short   string `xml:"short,omitempty"`
	Port    int
	Weight  *int `xml:",omitempty"`
	Whether bool
	Any     any
	Nil     any
	private string
}

// TestEncoder compares the encoder with encoding/xml.
func TestEncoder(t *testing.T) {
	weight := 0
	full := record{
		base: base{"a"}, Front: front{"TCP", 80}, ID: `<&>"'` + "\n\t\r\x01é", Hidden: "h", Short: "s", Port: -7, Weight: &weight, Whether: true,
		Any: &item{ID: "5", Inner: &item{ID: "2"}}, private: "q",
	}
	var e query.Encoder
	for _, r := range []record{{}, full, full} {
		want, err := xml.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Encode(query.AWSQuery, &r)
		if text := "<record>" + string(got) + "</record>"; err != nil || text != string(want) {
			t.Errorf("error %v\ngot  %s\nwant %s", err, text, want)
		}
	}
	for _, r := range []any{7, struct{ F float64 }{1}, struct{ M map[string]int }{}, struct {
		A string `xml:"a,attr"`
	}{}} {
		if got, err := e.Encode(query.AWSQuery, r); err == nil {
			t.Errorf("%T is encoded as %s", r, got)
		}
	}
}

// TestEncodedLists verifies the elements around lists and their members, and their absence
// where there is nothing.
func TestEncodedLists(t *testing.T) {
	type lists struct {
		Texts []text  `xml:"texts"`
		Items []*item `xml:"items,omitempty"`
		front `xml:"Front,omitempty"`
	}
	for _, tc := range []struct {
		style  query.Style
		result any
		want   string
	}{
		{query.AWSQuery, lists{}, "<texts></texts>"},
		{query.AWSQuery, lists{Items: []*item{}}, "<texts></texts><items></items>"},
		{query.AWSQuery, lists{Texts: []text{"x", ""}, front: front{Inside: 1}}, "<texts><member>x</member><member></member></texts><Front><Protocol></Protocol><Port>1</Port></Front>"},
		{query.EC2Query, lists{Items: []*item{{ID: "3"}, {}}}, "<texts></texts><items><item><id>3</id></item><item><id></id></item></items>"},
		{query.EC2Query, query.List{Name: "set", Items: []item{{ID: "1"}}, Next: "a<b"}, "<set><item><id>1</id></item></set><nextToken>a&lt;b</nextToken>"},
	} {
		var e query.Encoder
		if got, err := e.Encode(tc.style, tc.result); err != nil || string(got) != tc.want {
			t.Errorf("%+v is encoded as %s %v, want %s", tc.result, got, err, tc.want)
		}
	}
}
