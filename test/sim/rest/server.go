package rest

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
)

// State is everything that a cloud holds. Objects in it are never changed in place, so
// a copy of the tables is a copy of the state.
type State[S any] interface {
	Clone() S
	// Settle ends what has ended by itself until now.
	Settle(now time.Time)
	Dump() map[string][]Object
}

// Caller is a call in the words of a cloud, around a Visit.
type Caller[S any] interface {
	Shared() *Visit[S]
	// Admit returns an error for a caller that is not allowed. It is called under the lock.
	Admit() error
	// Envelope is a refusal in the form of the API.
	Envelope(*Error) Answer
}

// Server takes calls to their routes: through throttle, faults and permissions, one at a
// time. S is the state of the cloud, V what it makes of a call.
type Server[S State[S], V Caller[S]] struct {
	sim.Control
	Clock clock.PassiveClock
	// Live is the state as it is now, and is read and written under the lock.
	Live S

	words  Words
	begin  func(Visit[S]) V
	routes []ready[V]
	past   sim.History[S]
	mu     sync.Mutex
}

// Locked does something while no call runs.
func (s *Server[S, V]) Locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Open makes a server that has what live says. begin makes a call of the cloud of the
// part that all clouds share.
func Open[S State[S], V Caller[S]](on clock.PassiveClock, live S, words Words, routes []Route[V], begin func(Visit[S]) V) *Server[S, V] {
	s := &Server[S, V]{Clock: on, Live: live, words: words, begin: begin}
	for _, r := range routes {
		s.routes = append(s.routes, ready[V]{r, splitPath(r.Path)})
	}
	s.State = func() (dump any) {
		s.Locked(func() {
			s.Live.Settle(s.Clock.Now())
			dump = s.Live.Dump()
		})
		return dump
	}
	return s
}

// ServeHTTP answers the control API under /_sim/, and the APIs of the cloud.
func (s *Server[S, V]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Handle(w, r, func() (*sim.Visit, sim.Answer) {
		c := s.begin(Visit[S]{HTTP: r, Answer: Answer{Header: http.Header{}}})
		v := c.Shared()
		v.Time = s.Clock.Now()
		if err := s.visit(c, v); err != nil {
			v.Answer = c.Envelope(s.words.refusal(err))
		}
		v.note(s.words.Secret)
		return &v.Visit, func(w http.ResponseWriter, seq int) {
			w.Header().Set(s.words.Header, s.words.ID(r.Header.Get(s.words.Header), seq))
			v.Answer.write(w)
		}
	})
}

// visit takes a call to its route.
func (s *Server[S, V]) visit(c V, v *Visit[S]) error {
	route, params, known := findRoute(s.routes, v.HTTP.Method, v.HTTP.URL.Path)
	if !known {
		v.Operation = v.HTTP.Method + " " + v.HTTP.URL.Path
		return &s.words.Unknown
	}
	v.Service, v.Operation, v.Write, v.Open, v.Params = route.API, route.Name, route.Write, route.Open, params
	if err := v.read(s.words.Malformed); err != nil {
		return err
	}
	stale, err := s.pass(v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := c.Admit(); err != nil {
		return err
	}
	s.Live.Settle(v.Time)
	return s.operate(c, v, route, stale)
}

// pass takes the call through throttle and faults. It returns the fault that asks for an
// earlier state, if any. A fault of status 200 lets the call through, and what it does
// breaks.
func (s *Server[S, V]) pass(v *Visit[S]) (*sim.Fault, error) {
	if taken := s.Throttle.Take(v.Call(), s.Clock.Now()); taken.Refused {
		v.Throttled = true
		refused := s.words.TooFast
		refused.Wait = taken.Wait
		return nil, &refused
	}
	met := v.Meet(v.HTTP.Context(), &s.Faults)
	v.Time = s.Clock.Now()
	var refused error
	for _, f := range met.Errors {
		switch f.Status {
		case http.StatusOK:
			v.Breaks = true
			continue
		case http.StatusAccepted:
			v.Fails = true
			continue
		}
		refused = s.words.injected(f)
	}
	return met.Stale, refused
}

// operate runs the call, and takes back what a refused one has begun.
func (s *Server[S, V]) operate(c V, v *Visit[S], route Route[V], stale *sim.Fault) error {
	before := s.Live
	v.State = s.Live
	if v.Write {
		before = s.Live.Clone()
	} else {
		v.State = s.past.At(s.Live, stale, v.Time)
	}
	result, err := route.Run(c)
	if err != nil {
		s.Live = before
		return err
	}
	if v.Again {
		return nil
	}
	v.Committed = true
	if v.Answer.Status == 0 {
		v.Answer.Status, v.Answer.Body = route.Status, result
	}
	switch {
	case !s.Faults.WantsHistory():
		s.past.Forget()
	case v.Write:
		s.past.Keep(v.Time, before)
	}
	return nil
}
