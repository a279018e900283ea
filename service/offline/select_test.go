package offline

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
)

func TestClaim(t *testing.T) {
	ours := service.Classes{Default: true, Names: []string{"example.com/ours"}}
	here := func(*corev1.Service) providers.Choice { return providers.Choice{Kind: "nlb"} }
	away := func(*corev1.Service) providers.Choice { return providers.Choice{Elsewhere: "asks for another one"} }
	class := func(name string) func(*corev1.Service) {
		return func(s *corev1.Service) { s.Spec.LoadBalancerClass = &name }
	}
	stock := func(s *corev1.Service) { s.Finalizers = []string{service.StockFinalizer} }
	applied := func(s *corev1.Service) {
		s.Annotations = map[string]string{"berth-lb.io/applied": "abc;class="}
	}
	deleted := func(s *corev1.Service) { s.DeletionTimestamp = &metav1.Time{} }
	inner := func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP }
	type change = []func(*corev1.Service)
	for name, c := range map[string]struct {
		changes change
		written bool
		choose  chooser
		classes service.Classes
		want    string // "plan", "release", or the words of why not; "" is silence
	}{
		"no class":                         {nil, true, here, ours, "plan"},
		"our class":                        {change{class("example.com/ours")}, true, here, ours, "plan"},
		"another class":                    {change{class("example.com/theirs")}, true, here, ours, `"example.com/theirs" is not one that is served here`},
		"classless where classes rule":     {nil, true, here, service.Classes{}, "--default-class=false"},
		"elsewhere":                        {nil, true, away, ours, "asks for another one"},
		"elsewhere, and was ours":          {change{stock, applied}, false, away, ours, "release"},
		"deleted, with our finalizer":      {change{stock, deleted}, false, here, ours, "release"},
		"deleted, and never ours":          {change{deleted}, false, here, ours, "has nothing of ours"},
		"disowned by flags":                {change{stock, applied}, false, here, service.Classes{}, "--release-unclaimed"},
		"no balancer any more":             {change{stock, applied, inner}, false, here, ours, "release"},
		"no balancer, in a file":           {change{inner}, true, here, ours, "is of type ClusterIP"},
		"no balancer, one of many in here": {change{inner}, false, here, ours, ""},
	} {
		t.Run(name, func(t *testing.T) {
			svc := serviceOf("web", corev1.ServicePort{Port: 80})
			for _, f := range c.changes {
				f(svc)
			}
			job, why := claimItem(Item{Service: svc, Written: c.written}, c.classes, c.choose, providers.Outputs{})
			got := why
			if job != nil {
				got = map[bool]string{false: "plan", true: "release"}[job.Release]
			}
			if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}
