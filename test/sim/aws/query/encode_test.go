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

type record struct {
	base
	ID       string
	Hidden   string `xml:"-"`
	Short    string `xml:"short,omitempty"`
	Port     int
	Weight   *int `xml:",omitempty"`
	Whether  bool
	Protocol string              `xml:"Listener>Protocol"`
	Inside   int                 `xml:"Listener>Port"`
	Deeper   string              `xml:"Listener>Is>Deep,omitempty"`
	After    string              `xml:"Other>Name"`
	Members  query.Members[text] `xml:"Members"`
	Items    query.Items[item]   `xml:"itemSet"`
	List     []item              `xml:"Extra>member,omitempty"`
	Open     []string            `xml:"Open>member"`
	Any      any
	Nil      any
	private  string
}

// TestEncoder compares the encoder with encoding/xml.
func TestEncoder(t *testing.T) {
	weight := 0
	full := record{
		base: base{"a"}, ID: `<&>"'` + "\n\t\r\x01é", Hidden: "h", Short: "s", Port: -7, Weight: &weight, Whether: true, Protocol: "TCP", Inside: 80, Deeper: "d", After: "o",
		Members: query.Members[text]{Member: []text{"x", "", "z"}}, Items: query.Items[item]{Item: []item{{ID: "1", Inner: &item{ID: "2"}}, {}}},
		List: []item{{ID: "3"}, {ID: "4"}}, Open: []string{"p"}, Any: &item{ID: "5"}, private: "q",
	}
	var e query.Encoder
	for _, r := range []record{{}, full, {Open: []string{}, Deeper: "d"}, full} {
		want, err := xml.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Encode(&r)
		if text := "<record>" + string(got) + "</record>"; err != nil || text != string(want) {
			t.Errorf("error %v\ngot  %s\nwant %s", err, text, want)
		}
	}
	got, err := e.Encode(query.List{Name: "set", Items: []item{{ID: "1"}}, Next: "a<b"})
	if want := "<set><item><id>1</id></item></set><nextToken>a&lt;b</nextToken>"; err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	for _, r := range []any{7, struct{ F float64 }{1}, struct{ M map[string]int }{}, struct {
		A string `xml:"a,attr"`
	}{}} {
		if got, err := e.Encode(r); err == nil {
			t.Errorf("%T is encoded as %s", r, got)
		}
	}
}
