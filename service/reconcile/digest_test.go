package reconcile

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// TestDigestOfLabels: labels of the Service and of its namespace are input where the
// cloud looks at them, each of them, and only those.
func TestDigestOfLabels(t *testing.T) {
	set, err := annotations.NewSet("toy", nil)
	if err != nil {
		t.Fatal(err)
	}
	type labels = map[string]string
	of := func(wanted providers.Labels, service, namespace labels) string {
		cloud := providers.Bound{Annotations: set, Labels: wanted}
		job := Job{Service: &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: service}}, NamespaceLabels: namespace}
		return askedDigest(cloud, providers.Request{Service: job.Service, NamespaceLabels: New(cloud, Options{}).selectLabels(job.NamespaceLabels)})
	}
	both := providers.Labels{Service: []string{"team", "tier"}, Namespace: []string{"team", "tier"}}
	plain := of(providers.Labels{}, nil, nil)
	digests := map[string]string{}
	for name, tc := range map[string]struct {
		wanted             providers.Labels
		service, namespace labels
		same               bool
	}{
		"there are none":           {wanted: both, same: true},
		"another label":            {wanted: both, service: labels{"other": "x"}, namespace: labels{"other": "x"}, same: true},
		"a label of the Service":   {wanted: both, service: labels{"team": "a"}},
		"a label of the namespace": {wanted: both, namespace: labels{"team": "a"}},
		"another one":              {wanted: both, namespace: labels{"tier": "a"}},
		"an empty label":           {wanted: both, namespace: labels{"team": ""}},
		"no label counts":          {service: labels{"team": "a"}, namespace: labels{"team": "a"}, same: true},
	} {
		got := of(tc.wanted, tc.service, tc.namespace)
		if (got == plain) != tc.same {
			t.Errorf("%s: as without labels: %t, want %t", name, got == plain, tc.same)
		}
		if other, twice := digests[got]; twice && !tc.same {
			t.Errorf("%s: same digest as %s", name, other)
		}
		digests[got] = name
	}
}

// TestAskedDigest: what we write on the Service ourselves is no input, and what
// the user says is.
func TestAskedDigest(t *testing.T) {
	key := func(name string) annotations.Declaration {
		return &annotations.Key[string]{Name: name, Group: "all", Doc: "A text.", Forms: []annotations.Form[string]{{Type: annotations.String(), Source: "here"}}}
	}
	set, err := annotations.NewSet("toy", nil, key("toy.example.com/wish"), key("toy.example.com/made"))
	if err != nil {
		t.Fatal(err)
	}
	cloud := providers.Bound{
		Annotations: set,
		Traits:      providers.Traits{Outputs: providers.Outputs{Annotations: []string{"toy.example.com/made"}, Labels: []string{"toy.example.com/id"}}},
		Labels:      providers.Labels{Service: []string{"toy.example.com/id", "tier"}},
	}
	of := func(change func(*corev1.Service)) string {
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "1", Annotations: map[string]string{"toy.example.com/wish": "a"}}}
		change(svc)
		return askedDigest(cloud, providers.Request{Service: svc})
	}
	plain := of(func(*corev1.Service) {})
	for name, tc := range map[string]struct {
		change func(*corev1.Service)
		same   bool
	}{
		"an output":                 {func(s *corev1.Service) { s.Annotations["toy.example.com/made"] = "x" }, true},
		"a label that Berth writes": {func(s *corev1.Service) { s.Labels = map[string]string{"toy.example.com/id": "lb-1"} }, true},
		"a label that decides":      {func(s *corev1.Service) { s.Labels = map[string]string{"tier": "edge"} }, false},
		"an unknown key":            {func(s *corev1.Service) { s.Annotations["other"] = "x" }, true},
		"a selector":                {func(s *corev1.Service) { s.Spec.Selector = map[string]string{"a": "b"} }, true},
		"a wish":                    {func(s *corev1.Service) { s.Annotations["toy.example.com/wish"] = "b" }, false},
		"where traffic is": {func(s *corev1.Service) {
			s.Spec.TrafficDistribution = new(corev1.ServiceTrafficDistributionPreferClose)
		}, false},
		"another Service's": {func(s *corev1.Service) { s.UID = "2" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := of(tc.change); (got == plain) != tc.same {
				t.Errorf("equal digests: %t, want %t", got == plain, tc.same)
			}
		})
	}
}

// TestDigestOfBackends: what is recorded on a Service does not follow the nodes, and
// what decides whether there is work does.
func TestDigestOfBackends(t *testing.T) {
	set, err := annotations.NewSet("toy", nil)
	if err != nil {
		t.Fatal(err)
	}
	of := func(nodes ...nodeports.Node) (asked, input string) {
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
		req := providers.Request{Service: svc, Backends: nodeports.BackendsOf(svc, nodeports.Select(nodes, nodeports.Filter{}), nil, nodeports.FallbackOf(svc))}
		asked = askedDigest(providers.Bound{Annotations: set}, req)
		return asked, inputDigest(asked, req)
	}
	asked, input := of(nodeports.Node{Name: "a", ProviderID: "toy:///a"})
	askedMore, inputMore := of(nodeports.Node{Name: "a", ProviderID: "toy:///a"}, nodeports.Node{Name: "b", ProviderID: "toy:///b"})
	if asked != askedMore || input == inputMore || asked == input {
		t.Errorf("asked %s, then %s; input %s, then %s", asked, askedMore, input, inputMore)
	}
}
