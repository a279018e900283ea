package azure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// selectors are the list of a configuration whose load balancers are for namespaces
// and Services with labels.
const selectors = `"multipleStandardLoadBalancerConfigurations": [
	{"name": "kubernetes", "primaryVMSet": "none"},
	{"name": "second", "primaryVMSet": "nothing", "serviceNamespaceSelector": {"matchExpressions": [{"key": "env", "operator": "In", "values": ["prod", "live"]}]}},
	{"name": "third", "primaryVMSet": "nobody", "serviceNamespaceSelector": {"matchLabels": {"env": "prod", "kubernetes.io/metadata.name": "shop"}}, "serviceLabelSelector": {"matchLabels": {"tier": "front"}}},
	{"name": "fourth", "primaryVMSet": "nowhere", "serviceNamespaceSelector": {"matchExpressions": [{"key": "closed", "operator": "Exists"}]}, "allowServicePlacement": false}]`

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
		{"the Service's as well", map[string]string{"env": "prod"}, front, "second third"},
		{"the Service's alone", nil, front, "kubernetes"},
		{"the name as well", map[string]string{"env": "prod"}, func(s *corev1.Service) { front(s); s.Namespace = "other" }, "second"},
		{"one that takes nobody", map[string]string{"closed": ""}, nil, "kubernetes"},
		{"what it names does not fit", map[string]string{"env": "test"}, value("azure-load-balancer-configurations", "second"), ""},
		{"of what it names", map[string]string{"env": "prod"}, value("azure-load-balancer-configurations", "second,kubernetes"), "second"},
	} {
		in, _ := inputOf(config, "kubernetes", numbered(1, Public, c.change), nil)
		in.NamespaceLabels = c.namespace
		if got := strings.Join(newBuilder(in, &Facts{}, &stack.Stack{}).mayBeOn(), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// TestNamespaceLabelChanges: a Service moves when the labels of its namespace no
// longer fit where it is, with its address, and stays when they still do.
func TestNamespaceLabelChanges(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 6}, ARM: simarm.Options{Async: simarm.AsyncNone}})
		r.edit = [2]string{"{", "{" + selectors + ","}
		r.open()
		svcs := []*corev1.Service{numbered(1, Public, nil), numbered(2, Internal, nil), numbered(3, Public, front)}
		address := map[string]string{}
		for _, step := range []struct {
			what  string
			label string
			want  []string
		}{
			{"none yet", "", []string{"kubernetes", "kubernetes-internal", "kubernetes"}},
			{"another selector fits", "live", []string{"second", "second-internal", "second"}},
			{"where they are still fits", "prod", []string{"second", "second-internal", "second"}},
			{"nothing fits any more", "test", []string{"kubernetes", "kubernetes-internal", "kubernetes"}},
		} {
			r.labels = map[string]string{"env": step.label}
			r.runAll(false, svcs...)
			r.runAll(false, svcs...)
			for i, svc := range svcs {
				if got := r.where(svc); got != step.want[i] {
					t.Errorf("%s: %s is on %q, want %s", step.what, svc.Name, got, step.want[i])
				}
				now := r.address(svc)
				if before := address[svc.Name]; now == "" || before != "" && before != now {
					t.Errorf("%s: %s had the address %q and has %q", step.what, svc.Name, before, now)
				}
				address[svc.Name] = now
				svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: now}} // as the loop writes it
			}
		}
		r.restThenLeave(svcs...)
	})
}

// address is what clients of a Service use.
func (r *rig) address(svc *corev1.Service) string {
	r.Helper()
	result := addresses(r.input(svc), r.read(false, svc)[0].Have)
	if len(result.Ingress) != 1 {
		r.Fatalf("%s: addresses %v", svc.Name, result.Ingress)
	}
	return result.Ingress[0].IP
}

// TestNowhereByLabels: a Service that its labels or those of its namespace leave no
// load balancer is told what is the matter.
func TestNowhereByLabels(t *testing.T) {
	config := testConfig()
	config.PoolType = poolNodeIP
	config.Multi = []MultiBalancer{{Name: "kubernetes", PrimaryVMSet: "none", ServiceNamespaces: &LabelSelector{MatchLabels: map[string]string{"env": "prod"}}}}
	const want = "labels: of the Service and of its namespace fit no load balancer of the cloud configuration that takes it"
	for _, change := range []func(*corev1.Service){nil, value("azure-load-balancer-configurations", "kubernetes")} {
		in, _ := inputOf(config, "kubernetes", numbered(1, Public, change), nil)
		_, problems, err := build(in, &Facts{}, &stack.Stack{})
		if d := cmp.Diff([]string{want}, problems.Strings()); d != "" || err != nil || !problems.Errors() {
			t.Errorf("%v, problems (-want +got):\n%s", err, d)
		}
	}
}
