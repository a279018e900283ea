package query_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type named struct {
	Name string `required:"true" length:"2..4" pattern:"^[a-z]*$"`
}

type action struct {
	Kind   string `xml:"Type,omitempty" required:"true" enum:"forward|redirect"`
	Weight *int   `range:"0..999"`
}

type members struct {
	Port    int `range:"1..65535"`
	Enabled *bool
	Actions []action
	Words   []string `enum:"on|off"`
	Ports   []int
	Names   []string `count:"1..2"`
	Nested  *action
	Hidden  string `xml:"-"`
	named
}

func decodeMembers(text string) (members, error) {
	form, err := url.ParseQuery(text)
	if err != nil {
		return members{}, err
	}
	var out members
	err = query.Decode(query.ParseForm(form, query.AWSQuery), &out)
	return out, err
}

func TestDecode(t *testing.T) {
	got, err := decodeMembers("Port=80&Enabled=false&Actions.member.2.Type=redirect&Actions.member.1.Type=forward&Actions.member.1.Weight=0&Words=&Ports.member.1=7&Nested.Type=forward&Hidden=x&Name=abc")
	if err != nil {
		t.Fatal(err)
	}
	want := members{
		Port: 80, Enabled: new(bool), Actions: []action{{"forward", new(int)}, {Kind: "redirect"}}, Words: []string{}, Ports: []int{7},
		Nested: &action{Kind: "forward"}, named: named{"abc"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(members{})); diff != "" {
		t.Errorf("members (-want +got)\n%s", diff)
	}
}

func TestConstraints(t *testing.T) {
	const one = "ValidationError: 1 validation error detected: Value "
	for form, want := range map[string]string{
		"Name=ab":                               "",
		"":                                      one + "null at 'name' failed to satisfy constraint: Member must not be null",
		"Name=a":                                one + "'a' at 'name' failed to satisfy constraint: Member must have length greater than or equal to 2",
		"Name=ab9":                              one + "'ab9' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: ^[a-z]*$",
		"Name=abcde":                            one + "'abcde' at 'name' failed to satisfy constraint: Member must have length less than or equal to 4",
		"Name=ab&Port=0":                        one + "'0' at 'port' failed to satisfy constraint: Member must have value greater than or equal to 1",
		"Name=ab&Port=65536":                    one + "'65536' at 'port' failed to satisfy constraint: Member must have value less than or equal to 65535",
		"Name=ab&Port=x":                        "ValidationError: Value 'x' at 'Port' is not a valid integer",
		"Name=ab&Enabled=x":                     "ValidationError: Value 'x' at 'Enabled' is not a valid boolean",
		"Name=ab&Ports.member.1=x":              "ValidationError: Value 'x' at 'ports' is not a valid integer",
		"Name=ab&Actions.member.1.Type=x":       one + "'x' at 'actions.1.member.type' failed to satisfy constraint: Member must satisfy enum value set: [forward, redirect]",
		"Name=ab&Nested.Weight=1":               one + "null at 'nested.type' failed to satisfy constraint: Member must not be null",
		"Name=ab&Words.member.1=x":              one + "'x' at 'words.1.member' failed to satisfy constraint: Member must satisfy enum value set: [on, off]",
		"Name=ab&Names=":                        one + "'[]' at 'names' failed to satisfy constraint: Member must have length greater than or equal to 1",
		"Name=ab&Names.1=a&Names.2=b&Names.3=c": one + "'3 names' at 'names' failed to satisfy constraint: Member must have length less than or equal to 2",
		"Port=0&Enabled=x": "ValidationError: 2 validation errors detected: Value '0' at 'port' failed to satisfy constraint: Member must have value greater than or equal to 1; " +
			"Value null at 'name' failed to satisfy constraint: Member must not be null",
	} {
		got := ""
		if _, err := decodeMembers(form); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", form, got, want)
		}
	}
}
