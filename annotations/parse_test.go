package annotations_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

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

// withPrefix adds the example prefix to every key.
func withPrefix(short map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range short {
		out[prefix+key] = value
	}
	return out
}

// formatProblems renders problems with their severity; nil if there are none.
func formatProblems(problems annotations.Problems) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Severity.String()+" "+p.String())
	}
	return out
}

// problemCase is a Service and all its reported problems.
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
				Annotations: withPrefix(c.annotations), Labels: withPrefix(c.labels), Ports: testPorts, HealthCheckNodePort: 31000,
			})
			if diff := cmp.Diff(c.want, formatProblems(problems)); diff != "" {
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
		{"lb.exampel.com/tier", prefix + "tier"},
		{"lb.exampl.co/tier", "silent"},
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
			if diff := cmp.Diff(want, formatProblems(problems)); diff != "" {
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

func TestReadFromOtherObjects(t *testing.T) {
	managed, origin, problems := managedKey.Read("", map[string]string{prefix + "managed": "False"})
	if managed || origin.Source != annotations.FromLabel || problems != nil {
		t.Errorf("Read = %v from %v with %v, want false from the label", managed, origin, problems)
	}
	managed, _, problems = managedKey.Read("", map[string]string{prefix + "managed": "no"})
	want := []string{`warning lb.example.com/managed: "no" is not "true" or "false", so it is ignored; legal is "true" or "false", in any case`}
	if diff := cmp.Diff(want, formatProblems(problems)); diff != "" || !managed {
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
