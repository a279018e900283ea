package main

import (
	"os"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack/plan"
)

// TestPlanByNamespaceLabels: a Namespace among the files says which load balancer a
// Service gets; without one the plan says what it assumes.
func TestPlanByNamespaceLabels(t *testing.T) {
	flags, nodes := startCloud(t, "azure", 2)
	conf, err := os.ReadFile(flags[3])
	if err != nil {
		t.Fatal(err)
	}
	selecting := strings.Replace(string(conf), "{", `{"useManagedIdentityExtension": true, "multipleStandardLoadBalancerConfigurations": [
		{"name": "kubernetes", "primaryVMSet": "none"},
		{"name": "prod", "primaryVMSet": "nothing", "serviceNamespaceSelector": {"matchLabels": {"env": "prod"}}}],`, 1)
	flags[3] = writeFile(t, "cloud.conf", selecting)
	const (
		service   = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n"
		namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {env: prod}}\n"
		list      = "---\napiVersion: v1\nkind: NamespaceList\nitems: [{metadata: {name: other}}, {metadata: {name: shop, labels: {env: test}}}]\n"
		assumed   = `the labels of namespace "shop" decide on the Service and are not known`
	)
	for _, c := range []struct {
		what, text, on string
		assumes        bool
	}{
		{"no Namespace", service, "load-balancer-entries/kubernetes", true},
		{"a Namespace", service + namespace, "load-balancer-entries/prod", false},
		{"one in a list", service + list, "load-balancer-entries/kubernetes", false},
	} {
		got := runBerth(t, c.text, append([]string{"plan", "-f", "-", "--nodes", nodes, "--width", "300"}, flags...)...)
		if got.code != plan.ExitChanges || !strings.Contains(got.out, c.on+"\n") && !strings.Contains(got.out, c.on+" ") {
			t.Errorf("%s: exit code %d, want %s in\n%s%s", c.what, got.code, c.on, got.out, got.err)
		}
		if strings.Contains(got.out, assumed) != c.assumes {
			t.Errorf("%s: tells what it assumes: %t, want %t\n%s", c.what, !c.assumes, c.assumes, got.out)
		}
	}
	if got := runBerth(t, namespace+namespace, append([]string{"plan", "-f", "-"}, flags...)...); !strings.Contains(got.err, `namespace "shop" is defined twice`) {
		t.Errorf("a Namespace twice: %s", got.err)
	}
}
