package alibaba_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/alibaba/simtest"
)

// simulated is a simulated account.
type simulated struct{ *simtest.Running }

type world = account.World[simulated]

const (
	domain = "service.beta.kubernetes.io/"
	prefix = domain + "alibaba-cloud-loadbalancer-"
)

// onAlibaba declares the cloud for the tests.
func onAlibaba() account.Cloud[simalibaba.Options, simulated] {
	return account.Cloud[simalibaba.Options, simulated]{
		Entry: providers.EntryOf(alibaba.Cloud()), Prefix: prefix,
		Start: func(t testing.TB, opt simalibaba.Options) simulated { return simulated{simtest.Start(t, opt)} },
	}
}

func (s simulated) Config(testing.TB) []byte { return s.Cloud.Seed.CloudConf(s.URL) }

func (s simulated) KubernetesNodes() []corev1.Node { return s.Cloud.Seed.KubernetesNodes() }

func (s simulated) Control() *sim.Control { return &s.Cloud.Control }

func (s simulated) Forwards() []account.Forward {
	var out []account.Forward
	for _, f := range s.Cloud.Forwards() {
		protocol := "TCP"
		if f.Protocol == "udp" {
			protocol = "UDP"
		}
		out = append(out, account.Forward{Address: f.Address, Port: f.Port, Protocol: protocol, Public: f.Public && len(f.Admits)+len(f.Denies) == 0, To: f.Servers})
	}
	return out
}

// withNodes are the options of an account with so many nodes.
func withNodes(n int) simalibaba.Options {
	return simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: n}}
}

// withUsers are the options of an account in which a user has a load balancer.
func withUsers(n int) simalibaba.Options {
	return simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: n, Users: true}}
}

func beginWorld(t testing.TB, opt simalibaba.Options) *world {
	t.Helper()
	return onAlibaba().Begin(t, opt)
}

// freshSubject starts accounts with six nodes.
func freshSubject() props.New { return onAlibaba().Fresh(withNodes(6)) }

func withKeys(pairs ...string) map[string]string { return onAlibaba().Keys(pairs...) }
