package account

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
)

// Simulator is one running simulated account.
type Simulator interface {
	// Config returns the cloud configuration file of a process.
	Config(t testing.TB) []byte
	// KubernetesNodes returns the machines of the account as Nodes.
	KubernetesNodes() []corev1.Node
	// Control returns the journal and the faults.
	Control() *sim.Control
	// Forwards returns the traffic that the account passes on, in any order.
	Forwards() []Forward
}

// Equipped is a Simulator whose sessions need more of their environment than [Env] has.
type Equipped interface {
	Env() providers.Env
}

// Env returns the environment that the program gives to a session.
func Env() providers.Env { return providers.Env{Cluster: "kubernetes", Now: time.Now} }

// Cloud declares a cloud for the tests of this package. O is the options of its simulator.
type Cloud[O any, S Simulator] struct {
	Entry providers.Entry
	// Prefix begins the keys of the cloud.
	Prefix string
	// Start serves a new account until the test ends.
	Start func(t testing.TB, opt O) S
	// Complete makes a Service one of the kind under test; nil: it is one already.
	Complete func(*corev1.Service)
}

// complete returns the Service as one of the kind under test.
func (c Cloud[O, S]) complete(svc *corev1.Service) *corev1.Service {
	if c.Complete != nil {
		c.Complete(svc)
	}
	return svc
}

// Keys returns annotations from pairs of a key without the prefix and a value.
func (c Cloud[O, S]) Keys(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		out[c.Prefix+pairs[i]] = pairs[i+1]
	}
	return out
}

// UID returns a UID for each number. The last digit is constant, because some clouds cut names.
func UID(n int) types.UID { return types.UID(fmt.Sprintf("5a0c1f6e-0000-4000-8000-%011d0", n+1)) }

// Numbered returns the Service with two ports that has a name and a UID of this number.
func Numbered(n int, annotations map[string]string, changes ...func(*corev1.ServiceSpec)) *corev1.Service {
	svc := props.Service("", annotations, changes...).Service
	svc.Name, svc.UID = fmt.Sprintf("web-%d", n), UID(n)
	return svc
}

// Subject returns a new account.
func (c Cloud[O, S]) Subject(t testing.TB, opt O) Subject[S] {
	t.Helper()
	return Subject[S]{Sim: c.Start(t, opt), entry: c.Entry}
}

// Fresh returns new accounts for package props.
func (c Cloud[O, S]) Fresh(opt O) props.New {
	return func(t testing.TB) props.Subject { return c.Subject(t, opt) }
}

// Subject is one account, as package props sees it.
type Subject[S Simulator] struct {
	Sim   S
	entry providers.Entry
}

// Open implements props.Subject.
func (s Subject[S]) Open(t testing.TB) providers.Bound {
	t.Helper()
	cloud, problems, err := s.entry.Open(t.Context(), bytes.NewReader(s.Sim.Config(t)), s.env())
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cloud
}

func (s Subject[S]) env() providers.Env {
	if e, ok := any(s.Sim).(Equipped); ok {
		return e.Env()
	}
	return Env()
}

// Nodes implements props.Subject.
func (s Subject[S]) Nodes() []nodeports.Node { return props.Project(s.Sim.KubernetesNodes()) }

// Control implements props.Subject.
func (s Subject[S]) Control() *sim.Control { return s.Sim.Control() }

// Answers implements props.Answering.
func (s Subject[S]) Answers() []int { return props.AllAnswers() }

// Cloud returns the cloud of the account; see props.Planned.
func (s Subject[S]) Cloud() providers.Entry { return s.entry }

// KubernetesNodes returns the machines of the account; see props.Planned.
func (s Subject[S]) KubernetesNodes() []corev1.Node { return s.Sim.KubernetesNodes() }
