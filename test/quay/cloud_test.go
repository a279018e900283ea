package quay

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simquay "github.com/berth-lb/berth/test/sim/quay"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// subject is one fresh cloud with three machines.
type subject struct {
	url string
	*simquay.Harbour
}

func (s subject) Open(t testing.TB) providers.Bound {
	t.Helper()
	file := strings.NewReader(`{"endpoint": "` + s.url + `"}`)
	cloud, problems, err := providers.EntryOf(Cloud()).Open(t.Context(), file, providers.Env{Cluster: "test", Now: time.Now})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cloud
}

func (s subject) Nodes() []nodeports.Node {
	var nodes []corev1.Node
	for n := range 3 {
		nodes = append(nodes, simquay.Machine(n+1))
	}
	return props.Project(nodes)
}

func (s subject) Control() *sim.Control { return &s.Harbour.Control }

// Answers implements props.Answering.
func (s subject) Answers() []int { return props.AllAnswers() }

// newSubject returns a cloud whose load balancers are busy for two seconds after each
// change, and whose lists have two items on a page.
func newSubject(t testing.TB) props.Subject {
	h := simquay.New()
	h.Busy, h.PageSize = 2*time.Second, 2
	return subject{virtual.Start(t, h), h}
}

// TestProperties holds the cloud against everything that every cloud must be: it
// converges, it finishes what a crash began, it leaves nothing behind.
func TestProperties(t *testing.T) {
	props.Run(t, newSubject, []props.Case{
		props.Service("plain", nil),
		props.Service("internal", map[string]string{"quay.example/internal": "true"}),
		props.Service("mixed", nil, func(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }),
	})
}

// TestBesideTheOthers adds the one line that a cloud needs in the list of all clouds.
func TestBesideTheOthers(t *testing.T) {
	list := providers.Beside(append(all.List(), providers.EntryOf(Cloud()))...)
	if got := list[len(list)-1].Name; got != "quay" {
		t.Errorf("the last cloud is %q, want quay", got)
	}
}

func TestConfig(t *testing.T) {
	for file, want := range map[string]string{`{`: "malformed JSON", `{}`: "endpoint: is empty"} {
		_, _, err := providers.EntryOf(Cloud()).Open(t.Context(), strings.NewReader(file), providers.Env{Cluster: "test"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("file %s: %v, want %q", file, err, want)
		}
	}
}
