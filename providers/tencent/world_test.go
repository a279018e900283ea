package tencent_test

import (
	"bytes"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/tencent"
	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simtencent "github.com/berth-lb/berth/test/sim/tencent"
	"github.com/berth-lb/berth/test/sim/tencent/simtest"
)

// simulated is a simulated account and the notes of its cluster.
type simulated struct {
	*simtest.Running
	notes   providers.Notes
	share   float64  // of the documented rates; 0: the default
	regions []string // of the configuration, beside that of the cluster
}

type world = account.World[simulated]

// Prefixes of keys.
const (
	kube   = "service.kubernetes.io/"
	cloud  = "service.cloud.tencent.com/"
	opened = "service.beta.kubernetes.io/tencentcloud-loadbalancer-"
)

// onTencent declares the cloud for the tests.
func onTencent() account.Cloud[simtencent.Options, simulated] {
	return account.Cloud[simtencent.Options, simulated]{
		Entry: providers.EntryOf(tencent.Cloud()),
		Start: func(t testing.TB, opt simtencent.Options) simulated {
			return simulated{Running: simtest.Start(t, opt), notes: berth.NewNotes(fake.NewClientset())}
		},
	}
}

func (s simulated) Config(t testing.TB) []byte {
	text := s.Cloud.Seed.CloudConf(s.URL)
	if s.regions == nil {
		return text
	}
	others, err := json.Marshal(s.regions)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(`{"regions":`+string(others)+","), bytes.TrimPrefix(text, []byte("{"))...)
}

func (s simulated) Env() providers.Env {
	env := account.Env()
	env.Notes, env.Share = s.notes, s.share
	return env
}

func (s simulated) KubernetesNodes() []corev1.Node { return s.Cloud.Seed.KubernetesNodes() }

func (s simulated) Control() *sim.Control { return &s.Cloud.Control }

func (s simulated) Forwards() []account.Forward {
	var out []account.Forward
	for _, f := range s.Cloud.Forwards() {
		protocol := "TCP"
		if f.Protocol == "UDP" || f.Protocol == "QUIC" {
			protocol = "UDP"
		}
		out = append(out, account.Forward{Address: f.Address, Port: f.Port, Protocol: protocol, Public: f.Public, To: f.Targets})
	}
	return out
}

// withNodes are the options of an account with so many nodes.
func withNodes(n int) simtencent.Options {
	return simtencent.Options{Seed: simtencent.SeedOptions{Nodes: n}}
}

// withUsers are the options of an account in which a user has a load balancer.
func withUsers(n int) simtencent.Options {
	opt := withNodes(n)
	opt.Seed.Users = true
	return opt
}

func beginWorld(t testing.TB, opt simtencent.Options) *world {
	t.Helper()
	return onTencent().Begin(t, opt)
}

// freshSubject starts accounts with six nodes.
func freshSubject() props.New { return onTencent().Fresh(withNodes(6)) }

// withKey returns one annotation.
func withKey(key, value string) map[string]string { return map[string]string{key: value} }
