package tencent_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
	simtencent "github.com/berth-lb/berth/test/sim/tencent"
)

// podSubject is a cloud whose Services have pods, and Secrets that name certificates.
type podSubject struct{ account.Subject[simulated] }

func (s podSubject) Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	return podSlices(svc, s.Nodes())
}

func (s podSubject) Objects() map[providers.Reference]providers.Object {
	return namedObjects(s.Sim.Cloud.Seed)
}

// SetRole judges by a policy of CAM.
func (s podSubject) SetRole(t testing.TB, role []byte) {
	t.Helper()
	props.Judge(t, role, simtencent.ParsePolicy, s.Sim.Cloud.SetPolicy)
}

// freshPods starts accounts with pods.
func freshPods(t testing.TB) props.Subject { return podSubject{onTencent().Subject(t, withNodes(6))} }

// webCases have rules with certificates.
func webCases() []props.Case {
	web := func(name, hosts string, more ...string) props.Case {
		pairs := append([]string{protocols, `{"443":{"protocol":["HTTPS"],"hosts":` + hosts + `}}`}, more...)
		return props.Service(name, onTencent().Keys(pairs...))
	}
	return []props.Case{
		web("two domains", `{"a.example.com":{"tls":"one"},"b.example.com":{"tls":"one"}}`),
		web("another certificate", `{"a.example.com":{"tls":"other"},"b.example.com":{"tls":"one"}}`),
		web("one domain", `{"a.example.com":{"tls":"other"}}`, kube+"service.listenerParameters", tuned),
	}
}

// localCases have weights of nodes.
func localCases() []props.Case {
	return []props.Case{
		props.Service("local", withKey(bindLocal, "true"), props.Local),
		props.Service("by weight", onTencent().Keys(bindLocal, "true", cloud+"local-svc-weighted-balance", "true"), props.Local),
	}
}

// TestPropertiesPods: the properties hold for pods as targets, for certificates and for weights.
func TestPropertiesPods(t *testing.T) {
	props.Run(t, freshPods, append(webCases(), props.Service("pods", withKey(direct, "true")), props.Service("nodes", nil)))
	props.Run(t, freshPods, localCases())
}

// TestPermissions holds docs/permissions/tencent.json against what is called when load balancers are
// changed in everything that can change.
func TestPermissions(t *testing.T) {
	seed := onTencent().Start(t, withNodes(0)).Cloud.Seed
	permissions.Check(t, permissions.Tencent(), permissions.Walk{Fresh: freshPods, Cases: append(append([]props.Case{
		props.Service("plain", nil, withUDP), props.Service("guarded", onTencent().Keys(cloud+"security-groups", seed.SecurityGroups[0], cloud+"pass-to-target", "true", kube+"service.listenerParameters", tuned)),
	}, webCases()...), localCases()...)})
}
