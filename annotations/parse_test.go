package annotations_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
)

func mustSet(t testing.TB) *annotations.Set {
	t.Helper()
	set, err := exampleSet()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// under puts the example prefix before every key.
func under(short map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range short {
		out[prefix+key] = value
	}
	return out
}

// said renders problems with their severity; nil if there are none.
func said(problems annotations.Problems) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Severity.String()+" "+p.String())
	}
	return out
}

// problemCase is a Service and everything its user is told.
type problemCase struct {
	name        string
	kind        string
	annotations map[string]string
	labels      map[string]string
	want        []string
}

func runProblems(t *testing.T, cases []problemCase) {
	t.Helper()
	set := mustSet(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, problems := set.Parse(c.kind, annotations.Source{
				Annotations: under(c.annotations), Labels: under(c.labels), Ports: testPorts, HealthCheckNodePort: 31000,
			})
			if diff := cmp.Diff(c.want, said(problems)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestProblemsOfValues(t *testing.T) {
	runProblems(t, []problemCase{
		{name: "nothing", kind: "clb"},
		{
			name: "all legal", kind: "clb",
			annotations: map[string]string{"scheme": "internal", "check-interval": "30", "ssl-ports": "https", "groups": "sg-1", "cert": ""},
		},
		{
			name: "all problems at once, errors first", kind: "clb",
			annotations: map[string]string{"scheme": "Internal", "check-interval": "x", "tier": "Gold", "quic": "true", "nonsense": "1"},
			want: []string{
				`error lb.example.com/check-interval: "x" is not a whole number; legal is a whole number of seconds from 5 to 300`,
				`error lb.example.com/scheme: "Internal" is not "internal", case matters; legal is "internal" or "public"`,
				`warning lb.example.com/nonsense: is not known, so it has no effect`,
				`warning lb.example.com/quic: is not yet supported by this version: QUIC targets need a pod webhook`,
				`warning lb.example.com/tier: "Gold" is not "Premium" or "Standard", so it is ignored`,
			},
		},
		{
			name: "the same text means something else per kind", kind: "nlb",
			annotations: map[string]string{"check-interval": "15", "check-protocol": "HTTP", "groups": "sg-1", "cert": "arn:x"},
			want: []string{
				`error lb.example.com/cert: "arn:x" has item "arn:x", which is not an ARN; legal is a comma separated list, each an ARN`,
				`error lb.example.com/check-interval: "15" is not 10 or 30; legal is a whole number of seconds, 10 or 30`,
				`error lb.example.com/groups: "sg-1" must not be set on this kind: it has no groups`,
			},
		},
		{
			name: "accepted without effect, still checked", kind: "nlb",
			annotations: map[string]string{"check-timeout": "soon"},
			want: []string{
				`error lb.example.com/check-timeout: "soon" is not a whole number; legal is a whole number of seconds`,
				`warning lb.example.com/check-timeout: is accepted but has no effect: the API has a fixed timeout`,
			},
		},
		{
			name: "a key for another kind", kind: "clb",
			annotations: map[string]string{"attributes.80": "a=b"},
			want:        []string{`warning lb.example.com/attributes.80: has no effect on clb, only on nlb`},
		},
		{
			name: "fallback", kind: "clb", annotations: map[string]string{"target": "pods"},
			want: []string{`warning lb.example.com/target: "pods" is not "ip" or "node", so it counts as "node"`},
		},
	})
}

func TestProblemsOfKeys(t *testing.T) {
	runProblems(t, []problemCase{
		{
			name: "deprecated spellings", kind: "clb",
			annotations: map[string]string{"hc-interval": "20", "interval": "30"},
			want: []string{
				`warning lb.example.com/hc-interval: is deprecated, use lb.example.com/check-interval`,
				`warning lb.example.com/interval: is ignored, because lb.example.com/hc-interval is set too`,
			},
		},
		{
			name: "a secret stays secret", kind: "clb", annotations: map[string]string{"token": "hunter2"},
			want: []string{`error lb.example.com/token: has a value that is not legal; legal is an id tok-...`},
		},
		{
			name: "a check across keys", kind: "clb",
			annotations: map[string]string{"check-interval": "10", "check-timeout": "10"},
			want:        []string{`error lb.example.com/check-timeout: "10" is not below the interval; legal is less than 10 seconds`},
		},
		{
			name: "a check stays silent about a stand-in", kind: "clb",
			annotations: map[string]string{"check-interval": "x", "check-timeout": "30"},
			want:        []string{`error lb.example.com/check-interval: "x" is not a whole number; legal is a whole number of seconds from 5 to 300`},
		},
		{
			name: "per-port keys that fit nothing", kind: "nlb",
			annotations: map[string]string{"attributes.81": "a=b", "attributes.http": "a=b", "attributes.080": "a=b", "action.UDP-80": "{}"},
			want: []string{
				`warning lb.example.com/action.UDP-80: names protocol "UDP", so it has no effect; legal is TCP or TLS`,
				`warning lb.example.com/attributes.080: names port "080", which is no port number of the Service, so it has no effect; legal is 80, 443 or 31000`,
				`warning lb.example.com/attributes.81: names port "81", which is no port number of the Service, so it has no effect; legal is 80, 443 or 31000`,
				`warning lb.example.com/attributes.http: names port "http", which is no port number of the Service, so it has no effect; legal is 80, 443 or 31000`,
			},
		},
		{
			name: "keys in the wrong place", kind: "clb",
			annotations: map[string]string{"share": "x", "managed": "false"},
			labels:      map[string]string{"scheme": "internal", "managed": "true", "other": "1"},
			want: []string{
				`warning lb.example.com/managed: has no effect here, it is read as a node label`,
				`warning lb.example.com/scheme: has no effect as a label, it is read as a service annotation`,
				`warning lb.example.com/share: has no effect here, it is read as a service label`,
			},
		},
		{
			name: "a bad label", kind: "clb", labels: map[string]string{"share": " "},
			want: []string{`error lb.example.com/share: " " is empty; legal is text that is not empty`},
		},
		{name: "keys of other programs", kind: "clb", annotations: map[string]string{"dns-ttl": "x", "hostname": "y"}},
		{
			name: "a long value is cut", kind: "clb", annotations: map[string]string{"scheme": "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789end"},
			want: []string{`error lb.example.com/scheme: "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789..." is not "internal" or "public"`},
		},
	})
}

func TestHints(t *testing.T) {
	cases := []struct{ key, want string }{
		{prefix + "shceme", prefix + "scheme"},
		{prefix + "check-intervall", prefix + "check-interval"},
		{prefix + "check_timeout", prefix + "check-timeout"},
		{prefix + "health-check-timeout", prefix + "check-timeout"},
		{prefix + "attribute.443", prefix + "attributes.443"},
		{prefix + "actions.TLS-443", prefix + "action.TLS-443"},
		{prefix + "check-timeout-in-seconds", prefix + "check-timeout"},
		{prefix + "check-prot", prefix + "check-protocol"},
		{prefix + "protocol", ""},
		{prefix + "scheduler", ""},
		{prefix + "x", ""},
		{prefix, ""},
		{"lb.exampel.com/check-interval", prefix + "check-interval"},
		{"lb.exampel.com/tier", "silent"},
		{"other.org/check-interval", "silent"},
		{"kubernetes.io/description", "silent"},
	}
	set := mustSet(t)
	for _, c := range cases {
		t.Run(c.key, func(t *testing.T) {
			_, problems := set.Parse("nlb", annotations.Source{Annotations: map[string]string{c.key: "v"}, Ports: testPorts})
			want := []string{"warning " + c.key + ": is not known, so it has no effect; did you mean " + c.want + "?"}
			switch c.want {
			case "":
				want = []string{"warning " + c.key + ": is not known, so it has no effect"}
			case "silent":
				want = nil
			}
			if diff := cmp.Diff(want, said(problems)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFloods: a value beyond all measure is refused unread, keys by the thousand are
// each told without guesses at what they mean, and ports by the thousand are counted.
func TestFloods(t *testing.T) {
	set, err := annotations.NewSet("demo", []string{"lb.example.com/"}, stringKey("lb.example.com/name"), stringKey("lb.example.com/attributes.<PORT>"))
	if err != nil {
		t.Fatal(err)
	}
	src := annotations.Source{Annotations: map[string]string{"lb.example.com/name": strings.Repeat("x", annotations.MostText+1), "lb.example.com/attributes.x": "1"}}
	for i := range 1000 {
		src.Annotations[fmt.Sprintf("lb.example.com/nam%04d", i)] = "x"
		src.Ports = append(src.Ports, corev1.ServicePort{Port: int32(1 + i)})
	}
	_, problems := set.Parse("", src)
	hints := 0
	for _, p := range problems {
		if strings.Contains(p.Message, "did you mean") {
			hints++
		}
		if len(p.String()) > 1000 {
			t.Errorf("a problem of %d bytes: %.200s", len(p.String()), p)
		}
	}
	if !strings.Contains(problems[0].Message, "longer than the 65536 bytes") || len(problems) != 1002 || hints > 50 {
		t.Errorf("%d problems, %d hints, first: %s", len(problems), hints, problems[0])
	}
}

func TestValuesAndOrigins(t *testing.T) {
	set := mustSet(t)
	bag, problems := set.Parse("clb", annotations.Source{
		Annotations: under(map[string]string{"interval": "20", "check-timeout": "x", "target": "pods", "token": "tok-1"}),
		Labels:      under(map[string]string{"share": "blue"}),
	})
	if !problems.Errors() || !bag.Refused(timeoutKey) || bag.Refused(intervalKey, shareKey) {
		t.Errorf("only the timeout should be refused: %v", problems)
	}
	if got := intervalKey.Get(bag); got != 20 {
		t.Errorf("interval = %d, want 20, from the alias", got)
	}
	if got := timeoutKey.Get(bag); got != 5 {
		t.Errorf("timeout = %d, want the default 5 for a refused value", got)
	}
	if got := targetKey.Get(bag); got != "node" {
		t.Errorf("target = %q, want the fallback", got)
	}
	wantOrigins := []annotations.Origin{
		{Source: annotations.FromAnnotation, Key: prefix + "interval", Raw: "20"},
		{Source: annotations.FromLabel, Key: prefix + "share", Raw: "blue"},
		{Source: annotations.FromAnnotation, Key: prefix + "target", Raw: "pods"},
		{Source: annotations.FromAnnotation, Key: prefix + "token"},
	}
	if diff := cmp.Diff(wantOrigins, bag.Origins()); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
	config := annotations.Origin{Source: annotations.FromConfig, Key: "Global.Tier"}
	if tier, origin := tierKey.Or(bag, "Standard", config); tier != "Standard" || origin != config {
		t.Errorf("Or = %q from %v, want the configured value", tier, origin)
	}
	if share, origin := shareKey.Or(bag, "green", config); share != "blue" || origin.Source != annotations.FromLabel {
		t.Errorf("Or = %q from %v, want the user's value", share, origin)
	}
	if _, origin, ok := schemeKey.Lookup(bag); ok || origin.String() != "default" {
		t.Errorf("scheme comes from %v, set %v, want the default", origin, ok)
	}
}

func TestDefaultsFollowTheKind(t *testing.T) {
	set := mustSet(t)
	for kind, want := range map[string]int{"clb": 10, "nlb": 30, "unheard-of": 0, "": 10} {
		bag, _ := set.Parse(kind, annotations.Source{})
		if got := intervalKey.Get(bag); got != want || intervalKey.Default(kind) != want {
			t.Errorf("kind %q: interval = %d, want %d", kind, got, want)
		}
		if got := schemeKey.Get(bag); got != public {
			t.Errorf("kind %q: scheme = %q, want the default of every kind", kind, got)
		}
	}
	if got := schemeKey.Get(nil); got != public {
		t.Errorf("a nil bag gives %q, want the default", got)
	}
}

func TestPerPort(t *testing.T) {
	set := mustSet(t)
	bag, problems := set.Parse("nlb", annotations.Source{
		Annotations: under(map[string]string{
			"attributes.443": "a=1", "attributes.80": "b=2", "attributes.31000": "c=3",
			"action.TLS-443": `{"type":"forward","weight":2}`,
		}),
		Ports: testPorts, HealthCheckNodePort: 31000,
	})
	if problems != nil {
		t.Fatalf("unexpected problems: %v", problems)
	}
	if diff := cmp.Diff(map[string]string{"a": "1"}, attributesKey.Port(bag, 443)); diff != "" {
		t.Errorf("443 (-want +got):\n%s", diff)
	}
	if got := attributesKey.Port(bag, 8080); got != nil {
		t.Errorf("8080 = %v, want the default", got)
	}
	var ports []int32
	for _, use := range attributesKey.All(bag) {
		ports = append(ports, use.Port)
	}
	if diff := cmp.Diff([]int32{80, 443, 31000}, ports); diff != "" {
		t.Errorf("All (-want +got):\n%s", diff)
	}
	if got := actionKey.PortProtocol(bag, 443, "TLS"); got.Weight != 2 {
		t.Errorf("action = %v, want weight 2", got)
	}
	if _, _, ok := actionKey.LookupPortProtocol(bag, 443, "TCP"); ok {
		t.Error("an action for TLS must not hold for TCP")
	}
}

func TestParseOnDelete(t *testing.T) {
	set := mustSet(t)
	bag, problems := set.ParseOnDelete(annotations.Source{
		Annotations: under(map[string]string{"keep-address": "maybe", "scheme": "bad", "nonsense": "1"}),
	})
	want := []string{`warning lb.example.com/keep-address: "maybe" is not true or false, so it counts as "true"`}
	if diff := cmp.Diff(want, said(problems)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !keepKey.Get(bag) {
		t.Error("a bad value must mean what destroys less")
	}
	if bag, _ = set.ParseOnDelete(annotations.Source{}); keepKey.Get(bag) {
		t.Error("an absent key is the default")
	}
}

func TestReadFromOtherObjects(t *testing.T) {
	managed, origin, problems := managedKey.Read("", map[string]string{prefix + "managed": "False"})
	if managed || origin.Source != annotations.FromLabel || problems != nil {
		t.Errorf("Read = %v from %v with %v, want false from the label", managed, origin, problems)
	}
	managed, _, problems = managedKey.Read("", map[string]string{prefix + "managed": "no"})
	want := []string{`warning lb.example.com/managed: "no" is not "true" or "false", so it is ignored; legal is "true" or "false", in any case`}
	if diff := cmp.Diff(want, said(problems)); diff != "" || !managed {
		t.Errorf("managed %v (-want +got):\n%s", managed, diff)
	}
	if interval, _, _ := intervalKey.Read("nlb", nil); interval != 30 {
		t.Errorf("Read = %d, want the default of the kind", interval)
	}
}

func TestErr(t *testing.T) {
	warning := annotations.Problem{Key: "b", Message: "is odd", Severity: annotations.Warning}
	if err := (annotations.Problems{warning}).Err(); err != nil {
		t.Errorf("warnings alone are no error, got %v", err)
	}
	first := annotations.Problem{Key: "a", Value: "1", Message: "is bad", Legal: "2"}
	second := annotations.Problem{Key: "c", Message: "is worse"}
	all := annotations.Problems{second, warning, first, second}
	err := all.Err()
	if want := `a: "1" is bad; legal is 2 | c: is worse`; err == nil || err.Error() != want {
		t.Errorf("Err = %v, want %s", err, want)
	}
	var found annotations.Problem
	if !errors.As(err, &found) || found != first {
		t.Errorf("errors.As found %v, want the first problem", found)
	}
	if diff := cmp.Diff(annotations.Problems{warning}, all.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestDigest(t *testing.T) {
	set := mustSet(t)
	digest := func(annotated, labels map[string]string) string {
		return set.Digest(annotations.Source{Annotations: annotated, Labels: labels})
	}
	base := digest(under(map[string]string{"scheme": "internal", "attributes.80": "a=b"}), nil)
	const want = "2e15933ca3f38fed4fd524d375ba6e52"
	if base != want {
		t.Errorf("Digest = %s, want %s: a change of the digest makes every Service of every cluster new work", base, want)
	}
	same := under(map[string]string{"scheme": "internal", "attributes.80": "a=b", "dns-ttl": "1", "nonsense": "2"})
	same["kubectl.kubernetes.io/restartedAt"] = "now"
	if got := digest(same, map[string]string{"app": "web", prefix + "scheme": "x"}); got != base {
		t.Error("keys that mean nothing to the provider must not change the digest")
	}
	for name, other := range map[string]map[string]string{
		"value":    {"scheme": "public", "attributes.80": "a=b"},
		"key gone": {"scheme": "internal"},
		"other":    {"scheme": "internal", "attributes.443": "a=b"},
		"alias":    {"scheme": "internal", "attributes.80": "a=b", "hc-interval": "10"},
	} {
		if digest(under(other), nil) == base {
			t.Errorf("%s: the digest should differ", name)
		}
	}
	if digest(nil, under(map[string]string{"share": "x"})) == digest(nil, nil) {
		t.Error("a declared label belongs to the digest")
	}
}

func TestProblemOfAKey(t *testing.T) {
	set := mustSet(t)
	bag, _ := set.Parse("clb", annotations.Source{Annotations: under(map[string]string{"interval": "20"})})
	if got, want := intervalKey.Refusal(bag, "is too long here", "").String(), `lb.example.com/interval: "20" is too long here`; got != want {
		t.Errorf("Refusal = %s, want %s", got, want)
	}
	warning := schemeKey.Warning(bag, "does not fit the subnets", "")
	if want := `lb.example.com/scheme: does not fit the subnets`; warning.String() != want || warning.Severity != annotations.Warning {
		t.Errorf("Warning = %s %s, want a warning: %s", warning.Severity, warning, want)
	}
}

func TestNilBag(t *testing.T) {
	var bag *annotations.Bag
	if bag.Kind() != "" || bag.Refused(schemeKey) || bag.Origins() != nil || attributesKey.All(bag) != nil {
		t.Error("a nil bag says nothing")
	}
}

func TestSourceOf(t *testing.T) {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "1"}, Labels: map[string]string{"l": "2"}},
		Spec:       corev1.ServiceSpec{Ports: testPorts, HealthCheckNodePort: 31000},
	}
	want := annotations.Source{
		Annotations: map[string]string{"a": "1"}, Labels: map[string]string{"l": "2"},
		Ports: testPorts, HealthCheckNodePort: 31000,
	}
	if diff := cmp.Diff(want, annotations.SourceOf(service)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
