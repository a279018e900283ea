package annotations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
)

func TestValuesAndOrigins(t *testing.T) {
	set := mustSet(t)
	bag, problems := set.Parse("clb", annotations.Source{
		Annotations: withPrefix(map[string]string{"interval": "20", "check-timeout": "x", "target": "pods", "token": "tok-1"}),
		Labels:      withPrefix(map[string]string{"share": "blue"}),
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
	if tier := tierKey.Or(bag, "Standard"); tier != "Standard" {
		t.Errorf("Or = %q, want the configured value", tier)
	}
	if share := shareKey.Or(bag, "green"); share != "blue" {
		t.Errorf("Or = %q, want the user's value", share)
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
		Annotations: withPrefix(map[string]string{
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
		Annotations: withPrefix(map[string]string{"keep-address": "maybe", "scheme": "bad", "nonsense": "1"}),
	})
	want := []string{`warning lb.example.com/keep-address: "maybe" is not true or false, so it counts as "true"`}
	if diff := cmp.Diff(want, formatProblems(problems)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !keepKey.Get(bag) {
		t.Error("a bad value must mean what destroys less")
	}
	if bag, _ = set.ParseOnDelete(annotations.Source{}); keepKey.Get(bag) {
		t.Error("an absent key is the default")
	}
}

func TestDigest(t *testing.T) {
	set := mustSet(t)
	digest := func(annotated, labels map[string]string) string {
		return set.Digest(annotations.Source{Annotations: annotated, Labels: labels})
	}
	base := digest(withPrefix(map[string]string{"scheme": "internal", "attributes.80": "a=b"}), nil)
	const want = "2e15933ca3f38fed4fd524d375ba6e52"
	if base != want {
		t.Errorf("Digest = %s, want %s: a change of the digest makes every Service of every cluster new work", base, want)
	}
	same := withPrefix(map[string]string{"scheme": "internal", "attributes.80": "a=b", "dns-ttl": "1", "nonsense": "2"})
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
		if digest(withPrefix(other), nil) == base {
			t.Errorf("%s: the digest should differ", name)
		}
	}
	if digest(nil, withPrefix(map[string]string{"share": "x"})) == digest(nil, nil) {
		t.Error("a declared label belongs to the digest")
	}
}

func TestProblemOfAKey(t *testing.T) {
	set := mustSet(t)
	bag, _ := set.Parse("clb", annotations.Source{Annotations: withPrefix(map[string]string{"interval": "20"})})
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
		Spec: corev1.ServiceSpec{
			Ports: testPorts, HealthCheckNodePort: 31000, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
			SessionAffinity: corev1.ServiceAffinityNone, IPFamilies: []corev1.IPFamily{corev1.IPv6Protocol, corev1.IPv4Protocol},
			LoadBalancerClass: new("x.io/class"), LoadBalancerSourceRanges: []string{"10.0.0.0/8"},
		},
	}
	want := annotations.Source{
		Annotations: map[string]string{"a": "1"}, Labels: map[string]string{"l": "2"},
		Ports: testPorts, HealthCheckNodePort: 31000,
		Fields: map[string]string{
			annotations.FieldTrafficPolicy: "Local", annotations.FieldSessionAffinity: "None",
			annotations.FieldFamilies: "IPv6,IPv4", annotations.FieldFirstFamily: "IPv6",
			annotations.FieldClass: "x.io/class", annotations.FieldRanges: "10.0.0.0/8",
		},
	}
	if diff := cmp.Diff(want, annotations.SourceOf(service)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
