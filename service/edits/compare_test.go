package edits_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/edits"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// declareKey returns annotations of every declared effect; "old-spelling" is another name of
// "in-place".
func declareKey(key string) (annotations.Row, bool) {
	facts := func(change annotations.Change, removal annotations.Removal) annotations.Facts {
		return annotations.Facts{Kinds: []string{"lb"}, Effects: annotations.Effects{Change: change, Removal: removal}}
	}
	rows := map[string]annotations.Row{
		"in-place":  {Facts: facts(annotations.InPlace, "")},
		"brief":     {Facts: facts(annotations.Brief, "")},
		"replaced":  {Facts: facts(annotations.Replaced, "")},
		"ignored":   {Facts: facts(annotations.IgnoredAfterCreation, "")},
		"refused":   {Facts: facts(annotations.Refused, "")},
		"stays":     {Facts: facts(annotations.InPlace, annotations.Stays)},
		"secret":    {Facts: facts(annotations.InPlace, ""), Secret: true},
		"reported":  {Facts: facts(annotations.InPlace, ""), Writer: annotations.ByController},
		"elsewhere": {Facts: annotations.Facts{Kinds: []string{"nlb"}}},
	}
	name := key
	if key == "old-spelling" {
		name = "in-place"
	}
	row, known := rows[name]
	row.Key, row.On = name, annotations.ServiceAnnotation
	return row, known
}

// newSide returns a Service of one version.
func newSide(name, place string, change func(*corev1.Service)) edits.Side {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Annotations: map[string]string{}}}
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	svc.Spec.Ports = []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}
	if change != nil {
		change(svc)
	}
	return edits.Side{
		Owner: stack.Owner{Namespace: "shop", Name: name}, Service: svc, Place: place, Provider: "toy", Kind: "lb", Declared: declareKey,
		At: func(where string) string { return place + ":" + where },
	}
}

func newVersion(name string, sides ...edits.Side) edits.Version {
	return edits.Version{Name: name, Services: sides}
}

// TestImpactOfKeys: another value, and the removal, of annotations of every effect.
func TestImpactOfKeys(t *testing.T) {
	for key, want := range map[string][3]edits.Impact{ // added, changed, removed
		"in-place":  {edits.InPlace, edits.InPlace, edits.InPlace},
		"brief":     {edits.Brief, edits.Brief, edits.Brief},
		"replaced":  {edits.Replaced, edits.Replaced, edits.Replaced},
		"ignored":   {edits.Ignored, edits.Ignored, edits.Ignored},
		"refused":   {edits.Forbidden, edits.Forbidden, edits.Forbidden},
		"stays":     {edits.InPlace, edits.InPlace, edits.Ignored},
		"secret":    {edits.InPlace, edits.InPlace, edits.InPlace},
		"elsewhere": {edits.None, edits.None, edits.None},
		"reported":  {},
		"unknown":   {},
	} {
		values := [][2]string{{"", "a"}, {"a", "b"}, {"b", ""}}
		for i, v := range values {
			with := func(value string) edits.Side {
				return newSide("web", "a.yaml", func(svc *corev1.Service) {
					if value != "" {
						svc.Annotations[key] = value
					}
				})
			}
			doc := edits.Compare(newVersion("base", with(v[0])), newVersion("head", with(v[1])))
			got := edits.Impact("")
			if len(doc.Services) == 1 && len(doc.Services[0].Edits) == 1 {
				got = doc.Services[0].Edits[0].Impact
			}
			if got != want[i] {
				t.Errorf("%s from %q to %q: %q, want %q", key, v[0], v[1], got, want[i])
			}
			if text := edits.Human(doc) + edits.Markdown(doc); key == "secret" && (strings.Contains(text, `"a"`) || strings.Contains(text, "`a`")) {
				t.Errorf("a secret value is shown:\n%s", text)
			}
		}
	}
}

// TestAnotherSpelling: a key that gets its other name does nothing.
func TestAnotherSpelling(t *testing.T) {
	with := func(key string) edits.Side {
		return newSide("web", "a.yaml", func(svc *corev1.Service) { svc.Annotations[key] = "a" })
	}
	doc := edits.Compare(newVersion("base", with("old-spelling")), newVersion("head", with("in-place")))
	if len(doc.Services) != 1 || doc.Services[0].Impact != edits.None {
		t.Errorf("got %+v", doc.Services)
	}
}

// TestImpactOfFields changes each field that a load balancer depends on, and one that none
// depends on.
func TestImpactOfFields(t *testing.T) {
	class, protocol := "example.com/lb", "http"
	for name, tc := range map[string]struct {
		change func(*corev1.ServiceSpec)
		want   string // impact and text of each edit
	}{
		"port added": {func(s *corev1.ServiceSpec) {
			s.Ports = append(s.Ports, corev1.ServicePort{Port: 443, Protocol: corev1.ProtocolTCP})
		}, "in place: opens 443/TCP"},
		"port changed":     {func(s *corev1.ServiceSpec) { s.Ports[0].Port = 81 }, "in place: opens 81/TCP, closes a port: closes 80/TCP"},
		"protocol changed": {func(s *corev1.ServiceSpec) { s.Ports[0].Protocol = corev1.ProtocolUDP }, "in place: opens 80/UDP, closes a port: closes 80/TCP"},
		"target":           {func(s *corev1.ServiceSpec) { s.Ports[0].TargetPort = intstr.FromInt32(8080) }, "in place: 80/TCP: another port of the pods"},
		"node port": {func(s *corev1.ServiceSpec) { s.Ports[0].NodePort = 30080 },
			"unknown: 80/TCP: not every load balancer takes another node port without an interruption"},
		"application": {func(s *corev1.ServiceSpec) { s.Ports[0].AppProtocol = &protocol }, "unknown: 80/TCP: some clouds read the protocol"},
		"ranges": {func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.1.2.3/8", " 10.0.0.0/8"} },
			"closes a port: opens for 10.0.0.0/8; closes for every address"},
		"class":    {func(s *corev1.ServiceSpec) { s.LoadBalancerClass = &class }, "refused: the API server refuses another class for a Service of type LoadBalancer"},
		"selector": {func(s *corev1.ServiceSpec) { s.Selector = map[string]string{"app": "web"} }, "in place: other pods serve the ports"},
		"families": {func(s *corev1.ServiceSpec) { s.IPFamilies = []corev1.IPFamily{"IPv4", "IPv6"} },
			"unknown: not every load balancer takes another family in place"},
		"name of a port": {func(s *corev1.ServiceSpec) { s.Ports[0].Name = "http" }, ""},
		"external":       {func(s *corev1.ServiceSpec) { s.ExternalIPs = []string{"192.0.2.1"} }, ""},
	} {
		doc := edits.Compare(newVersion("base", newSide("web", "a.yaml", nil)), newVersion("head", newSide("web", "a.yaml", func(svc *corev1.Service) { tc.change(&svc.Spec) })))
		var got []string
		for _, s := range doc.Services {
			for _, e := range s.Edits {
				got = append(got, string(e.Impact)+": "+e.Text)
			}
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestPairs: a Service that moves to another file is the same one; of two with one name, the
// one in the same file is; a file that cannot be read removes nothing.
func TestPairs(t *testing.T) {
	base := newVersion("base", newSide("web", "dev.yaml", nil), newSide("web", "prod.yaml", nil), newSide("api", "api.yaml", nil), newSide("old", "old.yaml", nil))
	head := newVersion("head", newSide("web", "prod.yaml", func(svc *corev1.Service) { svc.Spec.Ports[0].Port = 81 }), newSide("web", "dev.yaml", nil), newSide("api", "new/api.yaml", nil))
	head.Faults = []edits.Fault{{Place: "old.yaml", Problem: edits.Problem{Problem: plan.Problem{Text: "cut off"}}}}
	doc := edits.Compare(base, head)
	var got []string
	for _, s := range doc.Services {
		got = append(got, fmt.Sprintf("%s %s", s.At, s.Impact))
	}
	if want := "[prod.yaml: closes a port old.yaml: unknown]"; fmt.Sprint(got) != want || doc.Same != 2 || doc.ExitCode() != plan.ExitError {
		t.Errorf("got %v, want %s; same %d, exit code %d", got, want, doc.Same, doc.ExitCode())
	}
}

// TestMarkdownIsBounded: 3,000 Services fit, and what a user wrote stays text.
func TestMarkdownIsBounded(t *testing.T) {
	var sides []edits.Side
	for i := range 3000 {
		sides = append(sides, newSide(fmt.Sprintf("web-%d", i), "a.yaml", func(svc *corev1.Service) { svc.Annotations["in-place"] = "<script>|`x`\n## y" }))
	}
	for n, most := range map[int]int{3000: 60000, 3: 2000} {
		text := edits.Markdown(edits.Compare(newVersion("base"), newVersion("head", sides[:n]...)))
		if len(text) > most {
			t.Errorf("%d Services: %d characters", n, len(text))
		}
		if n == 3000 && !strings.Contains(text, "more Services do not fit") {
			t.Error("what is left out is not counted")
		}
	}
	changed := edits.Compare(newVersion("base", newSide("web-0", "a.yaml", nil)), newVersion("head", sides[0]))
	if text := edits.Markdown(changed); strings.Contains(text, "\n## y") || !strings.Contains(text, "`` <script>\\|`x` ## y ``") {
		t.Errorf("a value is not shown as text:\n%s", text)
	}
}
