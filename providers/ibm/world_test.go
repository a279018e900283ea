package ibm_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/ibm"
	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/ibm/simtest"
)

// simulated is a simulated account, the file with its API key, and the notes of the cluster.
type simulated struct {
	*simtest.Running
	keyFile string
	notes   providers.Notes
}

type (
	world   = account.World[*simulated]
	subject = account.Subject[*simulated]
)

const prefix = "service.kubernetes.io/ibm-load-balancer-cloud-provider-"

// onIBM declares the cloud for the tests.
func onIBM() account.Cloud[simibm.Options, *simulated] {
	return account.Cloud[simibm.Options, *simulated]{
		Entry: providers.EntryOf(ibm.Cloud()), Prefix: prefix,
		Start: func(t testing.TB, opt simibm.Options) *simulated {
			t.Helper()
			s := &simulated{simtest.Start(t, opt), filepath.Join(t.TempDir(), "api-key"), emptyNotes()}
			if err := os.WriteFile(s.keyFile, []byte(s.Cloud.Seed.APIKey()+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
}

func (s *simulated) Config(testing.TB) []byte { return s.Cloud.Seed.CloudConf(s.URL, s.keyFile) }

func (s *simulated) Env() providers.Env {
	env := account.Env()
	env.Notes = s.notes
	return env
}

func (s *simulated) KubernetesNodes() []corev1.Node { return s.Cloud.Seed.KubernetesNodes() }

func (s *simulated) Control() *sim.Control { return &s.Cloud.Control }

func (s *simulated) Forwards() []account.Forward {
	var out []account.Forward
	for _, f := range s.Cloud.Forwards() {
		for _, port := range slices.Compact([]int{f.First, f.Last}) {
			line := account.Forward{Address: f.Host, Port: port, Protocol: strings.ToUpper(f.Protocol), Public: f.Public}
			for _, m := range f.Machines {
				line.To = append(line.To, fmt.Sprintf("%s:%d", m, cmp.Or(f.MemberPort, port)))
			}
			out = append(out, line)
		}
	}
	return out
}

func emptyNotes() providers.Notes { return berth.NewNotes(fake.NewClientset()) }

// withNodes are the options of an account with so many nodes.
func withNodes(n int) simibm.Options { return simibm.Options{Seed: simibm.SeedOptions{Nodes: n}} }

func beginWorld(t testing.TB, opt simibm.Options) *world {
	t.Helper()
	return onIBM().Begin(t, opt)
}

// freshSubject starts accounts with six nodes.
func freshSubject() props.New {
	opt := withNodes(6)
	opt.RequireToken = true
	return onIBM().Fresh(opt)
}

func withKeys(pairs ...string) map[string]string { return onIBM().Keys(pairs...) }
