package service

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// memory is what the loop remembers of the Services that it has handled, besides
// their snapshots.
type memory struct {
	mu  sync.Mutex
	all map[string]*remembered
}

// remembered is what is remembered of one Service. Whoever has its key reads and
// writes it, one at a time; only stalled is asked for by others.
type remembered struct {
	owner stack.Owner
	// served is the Service as it was when it was served last: by it it is released
	// should it vanish. Nil: nothing of ours needs to be left.
	served *corev1.Service
	// lost are Services that have vanished without being released.
	lost []lost
	// said are the events that were told and still hold, and when they were last.
	said map[string]time.Time
	// marks is what users and their tools wrote beside the spec, see touched.
	marks string
	// asked is the value of the annotation by which a user asks for a look, looked when
	// the cloud was last looked at for the Service.
	asked  string
	looked time.Time
	// written are the addresses that we wrote last.
	written []corev1.LoadBalancerIngress

	// programmed is the digest of what the Service asked for when its conditions were written.
	programmed string

	// gates are the conditions of pods that the load balancer has stood for since the
	// process started.
	gates map[string]bool

	failures int       // how often in a row it failed
	plans    int       // how many plans in a row made more to be done
	waits    time.Time // since when it waits; zero: it does not
	ensuring bool      // something was written, and it was not yet told that all serves
	behind   time.Time // since when nodes and pods are not followed; zero: they are
	stalled  bool      // something of others is in the way; under the lock of the memory
}

func newMemory() *memory { return &memory{all: map[string]*remembered{}} }

// entry returns what is remembered of a key, from now on if it is not yet.
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

// get returns what is remembered of a key; nil if nothing is.
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

// stall notes whether what others have is in the way of a Service.
func (m *memory) stall(key string, stalled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.all[key]; ok {
		r.stalled = stalled
	}
}

// stalled lists the Services that others are in the way of.
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
