package baidu_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/baidu"
	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simbaidu "github.com/berth-lb/berth/test/sim/baidu"
	"github.com/berth-lb/berth/test/sim/baidu/simtest"
)

// simulated is a simulated account and the notes of its cluster.
type simulated struct {
	*simtest.Running
	notes providers.Notes
}

type world = account.World[simulated]

// Prefixes of keys.
const (
	kube = "service.beta.kubernetes.io/"
	lb   = kube + "cce-load-balancer-"
	eip  = kube + "cce-elastic-ip-"
	pods = "berth-lb.io/baidu-pods"
)

// onBaidu declares the cloud for the tests.
func onBaidu() account.Cloud[simbaidu.Options, simulated] {
	return account.Cloud[simbaidu.Options, simulated]{
		Entry: providers.EntryOf(baidu.Cloud()),
		Start: func(t testing.TB, opt simbaidu.Options) simulated {
			return simulated{Running: simtest.Start(t, opt), notes: berth.NewNotes(fake.NewClientset())}
		},
	}
}

func (s simulated) Config(testing.TB) []byte { return s.Cloud.Seed.CloudConf(s.URL) }

func (s simulated) Env() providers.Env {
	env := account.Env()
	env.Notes = s.notes
	return env
}

func (s simulated) KubernetesNodes() []corev1.Node { return s.Cloud.Seed.KubernetesNodes() }

func (s simulated) Control() *sim.Control { return &s.Cloud.Control }

func (s simulated) Forwards() []account.Forward {
	var out []account.Forward
	for _, f := range s.Cloud.Forwards() {
		out = append(out, account.Forward{Address: f.Address, Port: f.Port, Protocol: f.Protocol, Public: f.Public, To: f.Targets})
	}
	return out
}

// withNodes are the options of an account with so many nodes.
func withNodes(n int) simbaidu.Options {
	return simbaidu.Options{Seed: simbaidu.SeedOptions{Nodes: n}}
}

func beginWorld(t testing.TB, opt simbaidu.Options) *world {
	t.Helper()
	return onBaidu().Begin(t, opt)
}

// freshSubject starts accounts with six nodes.
func freshSubject() props.New { return onBaidu().Fresh(withNodes(6)) }

// withKey returns one annotation.
func withKey(key, value string) map[string]string { return map[string]string{key: value} }
