package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// selectors are the list of a configuration whose load balancers are for namespaces
// and Services with labels.
const selectors = `"multipleStandardLoadBalancerConfigurations": [
	{"name": "kubernetes", "primaryVMSet": "none"},
	{"name": "second", "primaryVMSet": "nothing", "serviceNamespaceSelector": {"matchExpressions": [{"key": "env", "operator": "In", "values": ["prod", "live"]}]}},
	{"name": "third", "primaryVMSet": "nobody", "serviceNamespaceSelector": {"matchLabels": {"env": "prod", "kubernetes.io/metadata.name": "shop"}}, "serviceLabelSelector": {"matchLabels": {"tier": "front"}}},
	{"name": "fourth", "primaryVMSet": "nowhere", "serviceNamespaceSelector": {"matchExpressions": [{"key": "closed", "operator": "Exists"}]}, "allowServicePlacement": false}]`

// changedService returns a changed Service of the namespace shop.
func changedService(change func(*corev1.Service)) *corev1.Service {
	svc := testService(1, nil, 80)
	if change != nil {
		change(svc)
	}
	return svc
}

func namingBalancers(balancers string) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Annotations[configurationsKey.Name] = balancers }
}

func addLabel(s *corev1.Service) { s.Labels = map[string]string{"tier": "front"} }

// TestNamespaceSelectors: which load balancers a Service may be on, by the labels
// of its namespace.
func TestNamespaceSelectors(t *testing.T) {
	config := parseConfig(t, `{"loadBalancerBackendPoolConfigurationType": "nodeIP", `+selectors+`}`)
	if d := cmp.Diff(providers.Labels{Service: []string{"tier"}, Namespace: []string{"closed", "env"}}, labelsThatPlace(config)); d != "" {
		t.Errorf("labels that are looked at (-want +got):\n%s", d)
	}
	if d := cmp.Diff(providers.Labels{}, labelsThatPlace(Config{}), cmp.Transformer("", func(l []string) int { return len(l) })); d != "" {
		t.Errorf("labels that are looked at with one load balancer (-want +got):\n%s", d)
	}
	for _, c := range []struct {
		what      string
		namespace map[string]string
		change    func(*corev1.Service)
		want      string
	}{
		{"no label", nil, nil, "kubernetes"},
		{"another value", map[string]string{"env": "test"}, nil, "kubernetes"},
		{"a value", map[string]string{"env": "live"}, nil, "second"},
		{"the label of the Service does not count", nil, func(s *corev1.Service) { s.Labels = map[string]string{"env": "live"} }, "kubernetes"},
		{"the Service's as well", map[string]string{"env": "prod"}, addLabel, "second third"},
		{"the Service's alone", nil, addLabel, "kubernetes"},
		{"the name as well", map[string]string{"env": "prod"}, func(s *corev1.Service) { addLabel(s); s.Namespace = "other" }, "second"},
		{"one that takes no Service", map[string]string{"closed": ""}, nil, "kubernetes"},
		{"what it names does not fit", map[string]string{"env": "test"}, namingBalancers("second"), ""},
		{"of what it names", map[string]string{"env": "prod"}, namingBalancers("second,kubernetes"), "second"},
	} {
		in, _ := inputOf(config, "kubernetes", changedService(c.change), nil)
		in.NamespaceLabels = c.namespace
		if got := strings.Join(newBuilder(in, &Facts{}, &stack.Stack{}).mayBeOn(), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// TestNowhereByLabels verifies the message for a Service that no load balancer admits by
// its labels or the labels of its namespace.
func TestNowhereByLabels(t *testing.T) {
	config := testConfig()
	config.PoolType = PoolNodeIP
	config.Multi = []MultiBalancer{{Name: "kubernetes", PrimaryVMSet: "none", ServiceNamespaces: &LabelSelector{MatchLabels: map[string]string{"env": "prod"}}}}
	const want = "labels: of the Service and of its namespace fit no load balancer of the cloud configuration that takes it"
	for _, change := range []func(*corev1.Service){nil, namingBalancers("kubernetes")} {
		in, _ := inputOf(config, "kubernetes", changedService(change), nil)
		_, problems, err := buildStack(in, &Facts{}, &stack.Stack{})
		if d := cmp.Diff([]string{want}, problems.Strings()); d != "" || err != nil || !problems.Errors() {
			t.Errorf("%v, problems (-want +got):\n%s", err, d)
		}
	}
}
