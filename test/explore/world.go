package explore

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Subject is one fresh simulated cloud.
type Subject struct {
	Handler http.Handler
	Control *sim.Control
	Nodes   []corev1.Node
	Classes []string // of load balancers that the processes serve
	// Open makes a session, as a process that starts does, whose calls go to a URL.
	Open func(ctx context.Context, url string) (providers.Bound, error)
	// Other makes a session of a cluster of another name; nil: the cloud has none.
	Other func(ctx context.Context, url string) (providers.Bound, error)
	// Call names a request and reports whether it writes; empty for requests that pass without
	// being held, such as logins.
	Call func(r *http.Request, body []byte) (what string, write bool)
	// Throttled is how the cloud refuses a call that is one too many.
	Throttled sim.Fault
	// Consistent says that no read is behind a write that has ended.
	Consistent bool
}

// world is one schedule under way: a cloud, an API server and the processes.
type world struct {
	name     string // of its hosts
	subject  Subject
	kube     *kube
	gate     *gate
	unlisten func() error
	running  sync.WaitGroup
	log      klog.Logger // of the processes

	recorder record.EventRecorder                                        // of what the processes say
	policies []plan.StepFilter                                           // of the processes
	settings func(providers.Bound, *reconcile.Options, *service.Options) // what else of theirs is otherwise; nil: nothing

	// Faults that are brought back; see TestKnownFaults.
	unfenced     bool                                  // processes do not ask whether their Lease is over
	noLateWait   bool                                  // processes do not wait for what is late
	patched      func(body []byte) []byte              // what becomes of a patch; nil: nothing
	answered     func(now *corev1.Service, was string) // what becomes of the answer to a patch of a version; nil: nothing
	unlikeStatus bool                                  // other controllers change a label with each address

	mu        sync.Mutex
	processes []*process
	writes    []string // calls that took effect in the cloud, in order
	gone      []*corev1.Service
	made      int // Services, for their UIDs
	enders    []context.CancelFunc
	patches   map[string][]time.Time // of each Service, those of the last minute
	late      map[string]string      // by UID, the version that a process wrote after its end
	trespass  string                 // a write of a process whose Lease is over; empty: there was none
	hurried   string                 // a Service that was written to too often; empty: none was
	stripped  map[types.UID]bool     // whose finalizers a user has removed
	reapplied map[types.UID]bool     // that a user has created under the name of a stripped one
	forgotten bool                   // the process that remembers them has ended
}

// newWorld serves a subject in memory.
func newWorld(s Subject) *world {
	l := virtual.Listen()
	w := &world{name: l.Name, subject: s, gate: newGate(), recorder: &record.FakeRecorder{}, patches: map[string][]time.Time{}, late: map[string]string{}, stripped: map[types.UID]bool{}, reapplied: map[types.UID]bool{}}
	w.kube = newKube(func(svc *corev1.Service) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.gone = append(w.gone, svc)
	})
	for i := range s.Nodes {
		node := s.Nodes[i].DeepCopy()
		w.kube.putNode(node, watch.Added)
	}
	l.Answer, w.unlisten = w, l.Close
	return w
}

// close ends everything, whatever is still under way.
func (w *world) close() {
	w.mu.Lock()
	processes := w.processes
	for _, end := range w.enders {
		end()
	}
	w.mu.Unlock()
	for _, p := range processes {
		p.end()
	}
	w.gate.openAll()
	for _, p := range processes {
		<-p.done
	}
	_ = w.unlisten() // it has no connections
	w.running.Wait()
}

// process finds the calling process by the name of the host.
func (w *world) process(host string) *process {
	label, _, _ := strings.Cut(host, "-")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		if p.label() == label {
			return p
		}
	}
	return nil
}

// numbered finds a process by its number; nil: it is no process of the world.
func (w *world) numbered(id int) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id < 1 || id > len(w.processes) {
		return nil
	}
	return w.processes[id-1]
}

// projected returns the Nodes in the order of their names.
func (w *world) projected() []nodeports.Node {
	w.kube.mu.Lock()
	defer w.kube.mu.Unlock()
	var out []nodeports.Node
	for _, name := range slices.Sorted(maps.Keys(w.kube.nodes)) {
		out = append(out, nodeports.Project(w.kube.nodes[name], func(string) bool { return true }))
	}
	return out
}

// staleness is how old a stale read is.
const staleness = 5 * time.Second

// serveCloud performs a call in the way that the schedule has.
func (w *world) serveCloud(out http.ResponseWriter, r *http.Request, d Deviation, name string, write bool) {
	fault := sim.Fault{Count: 1}
	switch d.Kind {
	case Lost:
		panic(http.ErrAbortHandler)
	case Unanswered:
		w.note(name, write)
		w.subject.Handler.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case Refuse:
		fault.Kind, fault.Status, fault.Code = sim.FaultError, http.StatusForbidden, "AccessDenied"
	case Throttle:
		fault = w.subject.Throttled
		fault.Kind, fault.Count = sim.FaultError, 1
	case Stale:
		fault.Kind, fault.BehindTime = sim.FaultStale, staleness
	default:
		w.note(name, write)
		w.subject.Handler.ServeHTTP(out, r)
		return
	}
	id, err := w.subject.Control.Faults.Add(fault)
	if err != nil {
		panic(err) // a fault that this package made
	}
	defer w.subject.Control.Faults.Remove(id)
	w.subject.Handler.ServeHTTP(out, r)
}

// remember has the cloud keep what it was before each write, for stale reads: a fault is
// armed that no call meets.
func (w *world) remember() {
	if _, err := w.subject.Control.Faults.Add(sim.Fault{Kind: sim.FaultStale, Operation: "none"}); err != nil {
		panic(err) // a fault that this package made
	}
}

func (w *world) note(name string, write bool) {
	if !write {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, name)
}

func (w *world) written() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes
}
