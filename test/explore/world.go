package explore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers"
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
	// Call names a request and says whether it writes; empty for what passes without
	// being held, such as logins.
	Call func(r *http.Request, body []byte) (what string, write bool)
	// Throttled is how the cloud refuses a call that is one too many.
	Throttled sim.Fault
}

// world is one schedule under way: a cloud, an API server and the processes.
type world struct {
	name    string // of its hosts
	subject Subject
	kube    *kube
	gate    *gate
	server  *http.Server
	running sync.WaitGroup
	log     klog.Logger // of the processes

	recorder record.EventRecorder // of what the processes say
	policies []plan.Policy        // of the processes

	mu        sync.Mutex
	processes []*process
	writes    []string // calls that took effect in the cloud, in order
	gone      []*corev1.Service
	made      int // Services, for their UIDs
}

// newWorld serves a subject in memory.
func newWorld(s Subject) *world {
	l := virtual.Listen()
	w := &world{name: l.Name, subject: s, gate: newGate(), recorder: &record.FakeRecorder{}}
	w.kube = newKube(func(svc *corev1.Service) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.gone = append(w.gone, svc)
	})
	for i := range s.Nodes {
		node := s.Nodes[i].DeepCopy()
		node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
		w.kube.putNode(node, "ADDED")
	}
	w.server = &http.Server{Handler: w, ReadHeaderTimeout: time.Hour}
	w.running.Go(func() { _ = w.server.Serve(l) }) // it ends with an error when it is closed
	return w
}

// close ends everything, whatever is still under way.
func (w *world) close() {
	w.mu.Lock()
	processes := w.processes
	w.mu.Unlock()
	for _, p := range processes {
		p.end()
	}
	w.gate.openAll()
	for _, p := range processes {
		<-p.done
	}
	_ = w.server.Close() // connections that are cut are no failure here
	w.running.Wait()
}

// process finds who calls by the name of the host.
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

// ServeHTTP holds every request until the schedule lets it go on.
func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	p := w.process(r.Host)
	if p != nil && p.over() {
		panic(http.ErrAbortHandler)
	}
	_, what, _ := strings.Cut(r.Host, "-")
	if strings.HasPrefix(what, "kube") {
		w.serveKube(out, r, p)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	name, write := w.subject.Call(r, body)
	if p == nil || name == "" {
		w.subject.Handler.ServeHTTP(out, r)
		return
	}
	d := w.gate.pass(Point{Process: p.id, Party: Cloud, What: name, Write: write})
	r = r.WithContext(context.WithoutCancel(r.Context())) // what has arrived takes effect, whoever has gone away
	w.serveCloud(out, r, p.effect(d), name, write)
}

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
		fault.Kind = sim.FaultStale
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

// serveKube answers as the API server does.
func (w *world) serveKube(out http.ResponseWriter, r *http.Request, p *process) {
	q, err := readKube(r)
	if err != nil || p == nil {
		panic(http.ErrAbortHandler)
	}
	switch {
	case q.watch:
		w.serveWatch(out, r, p, q)
	case r.Method == http.MethodPatch:
		d := p.effect(w.gate.pass(Point{Process: p.id, Party: Kube, What: "patch " + q.key, Write: true}))
		switch d.Kind {
		case Lost:
			panic(http.ErrAbortHandler)
		case Refuse:
			answer(out, http.StatusInternalServerError, refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcdserver: request timed out"))
			return
		default: // it is done
		}
		code, body := w.kube.patch(q.key, q.body)
		if d.Kind == Unanswered {
			panic(http.ErrAbortHandler)
		}
		answer(out, code, body)
	case r.Method == http.MethodGet:
		answer(out, http.StatusOK, w.kube.list(q.resource))
	default:
		answer(out, http.StatusMethodNotAllowed, refusal(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, fmt.Sprintf("%s %s", r.Method, r.URL.Path)))
	}
}

// serveWatch shows changes one by one, each when the schedule lets it.
func (w *world) serveWatch(out http.ResponseWriter, r *http.Request, p *process, q kubeRequest) {
	s, ok := w.kube.watch(q.resource, q.version)
	if !ok {
		answer(out, http.StatusGone, refusal(http.StatusGone, metav1.StatusReasonExpired, "too old resource version"))
		return
	}
	defer w.kube.unwatch(s)
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(out)
	_ = flush.Flush() // a client that has gone away ends the loop below
	for {
		what, ok := s.peek()
		if !ok {
			select {
			case <-s.woken:
				continue
			case <-r.Context().Done():
				return
			}
		}
		d := p.effect(w.gate.pass(Point{Process: p.id, Party: Watch, What: what}))
		if d.Kind == Lost || d.Kind == Unanswered || d.Kind == Miss || r.Context().Err() != nil {
			return
		}
		c, _ := s.first(d.Kind == Merge)
		if _, err := fmt.Fprintf(out, "{\"type\":%q,\"object\":%s}\n", c.Type, c.Object); err != nil {
			return
		}
		if flush.Flush() != nil {
			return
		}
	}
}
