package annotations_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

var testPorts = []corev1.ServicePort{{Name: "http", Port: 80}, {Name: "https", Port: 443}}

// outcome is what a text does: a value, or the sentence of the problem.
type outcome struct {
	Value any
	Says  []string
}

// readOne reads one text with a type inside of a set, so that the message is the one
// that a user receives.
func readOne[T any](t *testing.T, as annotations.Type[T], raw string) outcome {
	t.Helper()
	key := &annotations.Key[T]{Name: "k", Doc: "A key.", Forms: []annotations.Form[T]{{Type: as}}}
	set, err := annotations.NewSet("test", nil, key)
	if err != nil {
		t.Fatal(err)
	}
	bag, problems := set.Parse("kind", annotations.Source{Annotations: map[string]string{"k": raw}, Ports: testPorts})
	out := outcome{}
	if len(problems) > 0 {
		out.Says = problems.Strings()
	}
	if value, _, ok := key.Lookup(bag); ok {
		out.Value = value
	}
	return out
}

// typeCase is one line of a table: a type, a text, and the result.
type typeCase struct {
	name string
	got  func(*testing.T, string) outcome
	raw  string
	want any    // the value, or nil
	says string // the problem, or ""
}

func readAs[T any](as annotations.Type[T]) func(*testing.T, string) outcome {
	return func(t *testing.T, raw string) outcome { return readOne(t, as, raw) }
}

func runTypes(t *testing.T, cases []typeCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s/%q", c.name, c.raw), func(t *testing.T) {
			want := outcome{Value: c.want}
			if c.says != "" {
				want.Says = []string{c.says}
			}
			if diff := cmp.Diff(want, c.got(t, c.raw), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestScalars(t *testing.T) {
	words := readAs(annotations.BoolWords([]string{"on"}, []string{"off"}, false))
	folded := readAs(annotations.BoolWords([]string{"true"}, []string{"false"}, true))
	unless := readAs(annotations.BoolUnless("false"))
	between := readAs(annotations.IntRange(5, 300).In("seconds"))
	protocols := readAs(annotations.Enum("TCP", "HTTP"))
	foldProtocols := readAs(annotations.EnumFold("tcp", "http"))
	wait := readAs(annotations.Duration(time.Second, time.Hour))
	runTypes(t, []typeCase{
		{"string", readAs(annotations.String()), "", "", ""},
		{"string", readAs(annotations.String()), " any text ", " any text ", ""},
		{"nonempty", readAs(annotations.NonEmpty()), "x", "x", ""},
		{"nonempty", readAs(annotations.NonEmpty()), "  ", nil, `k: "  " is empty; legal is text that is not empty`},
		{"bool", readAs(annotations.Bool()), "T", true, ""},
		{"bool", readAs(annotations.Bool()), "0", false, ""},
		{"bool", readAs(annotations.Bool()), "yes", nil, `k: "yes" is not true or false`},
		{"bool", readAs(annotations.Bool()), " true", nil, `k: " true" is not true or false`},
		{"bool", readAs(annotations.Bool()), "", nil, `k: the empty text is not true or false`},
		{"trimmed", readAs(annotations.Bool().Trimmed()), " true ", true, ""},
		{"words", words, "on", true, ""},
		{"words", words, "off", false, ""},
		{"words", words, "On", nil, `k: "On" is not "on" or "off"`},
		{"folded words", folded, "TrUe", true, ""},
		{"folded words", folded, "1", nil, `k: "1" is not "true" or "false"; legal is "true" or "false", in any case`},
		{"unless", unless, "false", false, ""},
		{"unless", unless, "", false, ""},
		{"unless", unless, "0.0.0.0/0", true, ""},
		{"unless", unless, "False", true, ""},
		{"presence", readAs(annotations.Presence()), "", true, ""},
		{"int", readAs(annotations.Int()), "-3", -3, ""},
		{"int", readAs(annotations.Int()), "3.5", nil, `k: "3.5" is not a whole number`},
		{"int", readAs(annotations.Int()), "3000000000", nil, `k: "3000000000" does not fit into 32 bits; legal is a whole number`},
		{"range", between, "5", 5, ""},
		{"range", between, "300", 300, ""},
		{"range", between, "4", nil, `k: "4" is below 5; legal is a whole number of seconds from 5 to 300`},
		{"range", between, "301", nil, `k: "301" is above 300; legal is a whole number of seconds from 5 to 300`},
		{"range", between, "10s", nil, `k: "10s" is not a whole number; legal is a whole number of seconds from 5 to 300`},
		{"at least", readAs(annotations.IntAtLeast(2)), "1", nil, `k: "1" is below 2; legal is a whole number, at least 2`},
		{"one of", readAs(annotations.IntOneOf(5, 60).In("minutes")), "60", 60, ""},
		{"one of", readAs(annotations.IntOneOf(5, 60).In("minutes")), "10", nil, `k: "10" is not 5 or 60; legal is a whole number of minutes, 5 or 60`},
		{"duration", wait, "1m30s", 90 * time.Second, ""},
		{"duration", wait, "90", nil, `k: "90" is not a duration; legal is a duration such as 30s or 5m, from 1s to 1h0m0s`},
		{"duration", wait, "2h", nil, `k: "2h" is above 1h0m0s; legal is a duration such as 30s or 5m, from 1s to 1h0m0s`},
		{"duration", wait, "1ms", nil, `k: "1ms" is below 1s; legal is a duration such as 30s or 5m, from 1s to 1h0m0s`},
		{"enum", protocols, "HTTP", "HTTP", ""},
		{"enum", protocols, "http", nil, `k: "http" is not "HTTP", case matters; legal is "TCP" or "HTTP"`},
		{"enum", protocols, "UDP", nil, `k: "UDP" is not "TCP" or "HTTP"`},
		{"fold", foldProtocols, "HTTP", "http", ""},
		{"fold", foldProtocols, "udp", nil, `k: "udp" is not "tcp" or "http"; legal is "tcp" or "http", in any case`},
	})
}

func TestNetworkTypes(t *testing.T) {
	blocks := readAs(annotations.CIDRs(annotations.AnyFamily))
	prefixes := func(texts ...string) []netip.Prefix {
		out := []netip.Prefix{}
		for _, text := range texts {
			out = append(out, netip.MustParsePrefix(text))
		}
		return out
	}
	runTypes(t, []typeCase{
		{"ip", readAs(annotations.IP(annotations.AnyFamily)), "::1", netip.MustParseAddr("::1"), ""},
		{"ip4", readAs(annotations.IP(annotations.IPv4)), "10.0.0.1", netip.MustParseAddr("10.0.0.1"), ""},
		{"ip4", readAs(annotations.IP(annotations.IPv4)), "::1", nil, `k: "::1" is not an IPv4 address`},
		{"ip6", readAs(annotations.IP(annotations.IPv6)), "fe80::1%eth0", nil, `k: "fe80::1%eth0" is not an IPv6 address`},
		{"cidrs", blocks, "10.1.2.3/8, 2001:db8::1/32 ,", prefixes("10.0.0.0/8", "2001:db8::/32"), ""},
		{"cidrs", blocks, "10.1.2.3/8,10.9.9.9/8", prefixes("10.0.0.0/8"), ""},
		{"cidrs", blocks, "010.0.0.0/8", prefixes("10.0.0.0/8"), ""},
		{"cidrs", blocks, "", prefixes(), ""},
		{"cidrs", blocks, "10.0.0.0/8,10.0.0.1", nil, `k: "10.0.0.0/8,10.0.0.1" has item "10.0.0.1", which is not a CIDR such as 10.0.0.0/8; legal is a comma separated list, each a CIDR such as 10.0.0.0/8`},
		{"cidr4", readAs(annotations.CIDR(annotations.IPv4)), "::/0", nil, `k: "::/0" is not an IPv4 CIDR`},
		{"strict", readAs(annotations.CIDRStrict(annotations.IPv4)), "10.1.0.0/16", netip.MustParsePrefix("10.1.0.0/16"), ""},
		{"strict", readAs(annotations.CIDRStrict(annotations.IPv4)), "10.1.0.1/16", nil, `k: "10.1.0.1/16" has host bits, 10.1.0.0/16 is meant; legal is an IPv4 CIDR without host bits`},
		{"id", readAs(annotations.ID("sg-", "pl-")), "pl-0a", "pl-0a", ""},
		{"id", readAs(annotations.ID("sg-")), "sg-", nil, `k: "sg-" is not an id sg-...`},
		{"id", readAs(annotations.ID("sg-", "pl-")), " sg-1", nil, `k: " sg-1" is not an id sg-... or pl-...`},
		{"arn", readAs(annotations.ARN("acm", "iam")), "arn:aws-cn:acm:cn-north-1:1:certificate/x", "arn:aws-cn:acm:cn-north-1:1:certificate/x", ""},
		{"arn", readAs(annotations.ARN("acm", "iam")), "arn:aws:s3:::bucket", nil, `k: "arn:aws:s3:::bucket" is an ARN of service "s3"; legal is an ARN of service acm or iam`},
		{"arn", readAs(annotations.ARN()), "certificate/x", nil, `k: "certificate/x" is not an ARN`},
	})
}

func TestListsAndMaps(t *testing.T) {
	names := readAs(annotations.ListOf(annotations.String()))
	raw := readAs(annotations.ListWith(annotations.ListOptions{Raw: true}, annotations.ID("eip-")))
	blanks := readAs(annotations.ListWith(annotations.ListOptions{Separator: " ", Unique: true}, annotations.String()))
	bounded := readAs(annotations.ListWith(annotations.ListOptions{AtLeast: 1, AtMost: 2}, annotations.String()))
	two := annotations.Only("a", "b")
	runTypes(t, []typeCase{
		{"list", names, " b, a,,c ", []string{"b", "a", "c"}, ""},
		{"list", names, "", []string{}, ""},
		{"raw", raw, "eip-1, eip-2", nil, `k: "eip-1, eip-2" has item " eip-2", which is not an id eip-...; legal is a comma separated list, each an id eip-...`},
		{"blanks", blanks, "  b a\tb ", []string{"b", "a"}, ""},
		{"bounded", bounded, "", nil, `k: the empty text has 0 items, fewer than 1; legal is a comma separated list of 1 to 2 items, each any text`},
		{"bounded", bounded, "a,b,c", nil, `k: "a,b,c" has 3 items, more than 2; legal is a comma separated list of 1 to 2 items, each any text`},
		{"lenient", readAs(annotations.MapLenient()), " a=1 , b ,c=, =x,d=1=2 ", map[string]string{"a": "1", "b": "", "c": "", "d": "1"}, ""},
		{"strict", readAs(annotations.MapStrict()), "", map[string]string{}, ""},
		{"strict", readAs(annotations.MapStrict()), ` a = 1\,2 , b=x=y`, map[string]string{"a": "1,2", "b": "x=y"}, ""},
		{"strict", readAs(annotations.MapStrict()), `a=1\`, map[string]string{"a": `1\`}, ""},
		{"strict", readAs(annotations.MapStrict()), "a=1,", map[string]string{"a": "1"}, `k: "a=1," ends with a comma, which is ignored`},
		{"strict", readAs(annotations.MapStrict()), "a=1,b", nil, `k: "a=1,b" has the piece "b", which has no "="; legal is key=value pairs separated by commas, with a backslash before a comma that belongs to a value`},
		{"strict", readAs(annotations.MapStrict()), "=1", nil, `k: "=1" has the piece "=1", which has no key; legal is key=value pairs separated by commas, with a backslash before a comma that belongs to a value`},
		{"only", readAs(annotations.MapLenient().Checked(two)), "b=1,z=2", nil, `k: "b=1,z=2" has key "z", only a and b can be set; legal is key=value pairs separated by commas`},
		{"selector", readAs(annotations.SelectorLenient()), "b=1,a", annotations.Selector{{Key: "a", Exists: true}, {Key: "b", Value: "1"}}, ""},
		{"selector", readAs(annotations.SelectorStrict()), "b=1,a=", annotations.Selector{{Key: "a"}, {Key: "b", Value: "1"}}, ""},
		{"selector", readAs(annotations.SelectorStrict()), "a", nil, `k: "a" has the piece "a", which has no "="; legal is key=value pairs separated by commas`},
	})
}

func TestPortsAndOthers(t *testing.T) {
	loose := readAs(annotations.PortList(annotations.PortOptions{Names: true, Star: true, EmptyIsAll: true}))
	strict := readAs(annotations.PortList(annotations.PortOptions{Names: true, MustMatch: true}))
	numbers := readAs(annotations.PortList(annotations.PortOptions{}))
	object := readAs(annotations.JSONOf("an action object", checkAction))
	even := readAs(annotations.Custom("int", "an even number", func(raw string) (int, error) {
		if raw == "2" {
			return 2, nil
		}
		return 0, errors.New("is odd")
	}))
	target := readAs(annotations.CustomPorts("port", "the name of a port", func(raw string, ports []corev1.ServicePort) (int32, error) {
		for _, p := range ports {
			if p.Name == raw {
				return p.Port, nil
			}
		}
		return 0, errors.New("is no port name")
	}))
	runTypes(t, []typeCase{
		{"loose", loose, "*", annotations.AllPorts(), ""},
		{"loose", loose, "", annotations.AllPorts(), ""},
		{"loose", loose, "https, 80,80", annotations.Ports{Numbers: []int32{80}, Names: []string{"https"}}, ""},
		{"loose", loose, "8443,80", annotations.Ports{Numbers: []int32{80}}, `k: "8443,80" has item "8443", which is no port of the Service (http 80, https 443), so it has no effect`},
		{"strict", strict, "", annotations.Ports{}, ""},
		{"strict", strict, "*", nil, `k: "*" has item "*", which is no port of the Service (http 80, https 443); legal is a comma separated list of port numbers or names of the Service`},
		{"numbers", numbers, "http", nil, `k: "http" has item "http", which is not a port number; legal is a comma separated list of port numbers of the Service`},
		{"json", object, `{"type":"forward","weight":3}`, action{Type: "forward", Weight: 3}, ""},
		{"json", object, `{"type":"drop"}`, nil, `k: "{\"type\":\"drop\"}" has type "drop", only forward is possible; legal is an action object`},
		{"json", object, `{"type":"forward","x":1}`, action{Type: "forward"}, `k: "{\"type\":\"forward\",\"x\":1}" has a field that is ignored: json: unknown field "x"`},
		{"json", object, `{"type":"forward"}}`, nil, `k: "{\"type\":\"forward\"}}" is not legal JSON here: text after the JSON value; legal is an action object`},
		{"json", object, `{"weight":"3"}`, nil, `k: "{\"weight\":\"3\"}" is not legal JSON here: json: cannot unmarshal string into Go struct field action.weight of type int; legal is an action object`},
		{"custom", even, "2", 2, ""},
		{"custom", even, "3", nil, `k: "3" is odd; legal is an even number`},
		{"custom ports", target, "https", int32(443), ""},
		{"custom ports", target, "x", nil, `k: "x" is no port name; legal is the name of a port`},
		{"forbidden", readAs(annotations.Forbidden[string]("it has no groups")), "", nil, `k: the empty text must not be set on this kind: it has no groups`},
	})
}

func TestPortsHas(t *testing.T) {
	http, unnamed := testPorts[0], corev1.ServicePort{Port: 9}
	cases := []struct {
		name string
		set  annotations.Ports
		port corev1.ServicePort
		want bool
	}{
		{"none", annotations.Ports{}, http, false},
		{"all", annotations.AllPorts(), unnamed, true},
		{"number", annotations.Ports{Numbers: []int32{80}}, http, true},
		{"name", annotations.Ports{Names: []string{"http"}}, http, true},
		{"no name", annotations.Ports{Names: []string{""}}, unnamed, false},
	}
	for _, c := range cases {
		if got := c.set.Has(c.port); got != c.want {
			t.Errorf("%s: Has = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSelectorMatches(t *testing.T) {
	selector := annotations.Selector{{Key: "a", Exists: true}, {Key: "b", Value: "1"}}
	cases := []struct {
		labels map[string]string
		want   bool
	}{
		{map[string]string{"a": "x", "b": "1"}, true},
		{map[string]string{"a": "", "b": "1"}, true},
		{map[string]string{"b": "1"}, false},
		{map[string]string{"a": "x", "b": "2"}, false},
	}
	for _, c := range cases {
		if got := selector.Matches(c.labels); got != c.want {
			t.Errorf("%v: Matches = %v, want %v", c.labels, got, c.want)
		}
	}
	if !(annotations.Selector{}).Matches(nil) {
		t.Error("the empty selector must match everything")
	}
}

func TestTypeOutsideOfASet(t *testing.T) {
	got, err := annotations.IntRange(1, 9).Parse("4")
	if err != nil || got != 4 {
		t.Errorf("Parse = %d, %v, want 4", got, err)
	}
	if _, err := (annotations.Type[int]{}).Parse("4"); err == nil {
		t.Error("a type that was never made must not accept anything")
	}
	if got, want := annotations.IntRange(1, 9).In("minutes").Legally("a digit").Legal(), "a digit"; got != want {
		t.Errorf("Legal = %q, want %q", got, want)
	}
}
