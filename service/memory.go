package service

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// memory is the state that the loop keeps for the Services that it has handled, besides
// their snapshots.
type memory struct {
	mu  sync.Mutex
	all map[string]*remembered
}

// remembered is the state of one Service. The worker with its key reads and writes it;
// other workers only read stalled.
type remembered struct {
	owner stack.Owner
	// served is the last served version of the Service, for a release if it vanishes. Nil:
	// it has no resources.
	served *corev1.Service
	// lost are Services that have vanished without a release.
	lost []lost
	// said are the recorded events that still hold, with their last time.
	said map[string]time.Time
	// marks is the metadata that users and their tools wrote, see touched.
	marks string
	// asked is the value of the annotation by which a user requests a read, looked the time
	// of the last read of the cloud for the Service.
	asked  string
	looked time.Time
	// written are the addresses that we wrote last.
	written []corev1.LoadBalancerIngress
	// corrected are the steps of the last check for drift.
	corrected []string

	// programmed is the digest of the request when the conditions of the Service were written.
	programmed string

	// gates are the pod conditions of the load balancer since the process started.
	gates map[string]bool

	attempts
}

// attempts are the runs of a Service since it was last in its desired state.
type attempts struct {
	failures int       // consecutive failures
	plans    int       // consecutive plans that required another one
	waits    time.Time // start of the wait; zero: none
	ensuring bool      // a write was performed, and success was not reported yet
	behind   time.Time // time since which nodes and pods are not followed; zero: they are
	stalled  bool      // blocked by others; under the lock of the memory
}

func newMemory() *memory { return &memory{all: map[string]*remembered{}} }

// entry returns the state of a key, and creates it if necessary.
func (m *memory) entry(key string) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.all[key]
	if !ok {
		r = &remembered{}
		m.all[key] = r
	}
	return r
}

// get returns the state of a key; nil if there is none.
func (m *memory) get(key string) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[key]
}

func (m *memory) drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}

func (m *memory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]string, 0, len(m.all))
	for k := range m.all {
		out = append(out, k)
	}
	return out
}

// stall records whether a Service is blocked by others.
func (m *memory) stall(key string, stalled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.all[key]; ok {
		r.stalled = stalled
	}
}

// stalled returns the Services that are blocked by others.
func (m *memory) stalled() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for k, r := range m.all {
		if r.stalled {
			out = append(out, k)
		}
	}
	return out
}
