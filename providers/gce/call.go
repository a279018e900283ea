package gce

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/uuid"
	"github.com/googleapis/gax-go/v2"
	"golang.org/x/sync/errgroup"
	"google.golang.org/api/iterator"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/berth-lb/berth/providers/fault"
)

const (
	// patience is how long a step waits for its operation before it hands the
	// waiting to the caller.
	patience = 10 * time.Second
	// lateDelay is when to ask again for an operation that took longer.
	lateDelay = 5 * time.Second
	// lateAge is how long an operation is remembered that nobody asks for again.
	lateAge = time.Hour
	// readLimit bounds one reading call, with its retries.
	readLimit = 30 * time.Second
	// attempts is how often a reading call is made that a server failed to answer.
	attempts = 3
	// inParallel bounds the calls that one read or step makes at the same time.
	inParallel = 8
	// page is the largest page that lists give.
	page = 500
)

// method is a reading method of any of the library's clients.
type method[R, A any] func(context.Context, *R, ...gax.CallOption) (*A, error)

// ask makes a reading call. Errors are faults.
func ask[R, A any](ctx context.Context, call method[R, A], request *R) (*A, error) {
	out, err := call(ctx, request, readOptions()...)
	return out, faultOf(err, reading)
}

// readOptions replace the library's retries, which go on for minutes: longer
// waits are the business of those who plan.
func readOptions() []gax.CallOption {
	return []gax.CallOption{gax.WithTimeout(readLimit), gax.WithRetry(func() gax.Retryer {
		return &retryer{Retryer: gax.OnHTTPCodes(gax.Backoff{Initial: 100 * time.Millisecond, Max: time.Second, Multiplier: 2},
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout)}
	})}
}

// retryer bounds the tries of another one.
type retryer struct {
	gax.Retryer
	made int
}

// Retry says when to try again, if at all.
func (r *retryer) Retry(err error) (time.Duration, bool) {
	r.made++
	if r.made >= attempts {
		return 0, false
	}
	return r.Retryer.Retry(err)
}

// each walks a list. seen gets every raw page that was fetched, which says what
// could not be reached.
func each[T any](next func() (T, error), seen func(), use func(T)) error {
	for {
		item, err := next()
		seen()
		if errors.Is(err, iterator.Done) {
			return nil
		}
		if err != nil {
			return faultOf(err, reading)
		}
		use(item)
	}
}

// all walks a list of which every page is complete.
func all[T any](next func() (T, error), use func(T)) error { return each(next, func() {}, use) }

// handle is where an operation is found.
type handle struct {
	project, region, zone, name string

	since time.Time
}

// writes is a writing method of any of the library's clients.
type writes[R any] func(context.Context, *R, ...gax.CallOption) (*compute.Operation, error)

// message is a request of the library.
type message[R any] interface {
	*R
	proto.Message
}

// tell makes a writing call and waits until its operation has ended. Errors are
// faults; Ambiguous if the call may have taken effect without an answer, and
// *slow if it went out and takes longer than a step may: the same request made
// again waits for it and is not sent twice.
func tell[R any, M message[R]](ctx context.Context, s *Session, call writes[R], request M) error {
	label := fmt.Sprintf("%T %v", request, request)
	return s.send(ctx, label, func(ctx context.Context) (*computepb.Operation, error) {
		withToken(request)
		op, err := call(ctx, request)
		if err != nil {
			return nil, err
		}
		return op.Proto(), nil
	})
}

// withToken makes a request that arrives twice one request for the cloud.
func withToken(m proto.Message) {
	r := m.ProtoReflect()
	r.Set(r.Descriptor().Fields().ByName("request_id"), protoreflect.ValueOfString(uuid.NewString()))
}

// send is tell for a call of any library.
func (s *Session) send(ctx context.Context, label string, call func(context.Context) (*computepb.Operation, error)) error {
	if at, ok := s.takeLate(label); ok {
		return s.keepLate(label, s.await(ctx, at, nil))
	}
	var left atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { left.Store(true) }})
	op, err := call(traced)
	way := stayed
	if left.Load() {
		way = sentOff
	}
	if err != nil {
		return faultOf(err, way)
	}
	return s.keepLate(label, s.await(ctx, handleOf(op, s.config.Project, s.now()), op))
}

func (s *Session) takeLate(label string) (handle, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.late[label]
	delete(s.late, label)
	return at, ok
}

// keepLate notes an operation that has not ended.
func (s *Session) keepLate(label string, err error) error {
	var w *slow
	if errors.As(err, &w) {
		s.mu.Lock()
		defer s.mu.Unlock()
		maps.DeleteFunc(s.late, func(_ string, h handle) bool { return s.now().Sub(h.since) > lateAge })
		s.late[label] = w.at
	}
	return err
}

// slow is an operation that was accepted and has not ended in time.
type slow struct{ at handle }

func (w *slow) Error() string { return "operation " + w.at.name + " has not ended yet" }

// await waits on an operation, which costs the cloud less than asking it again
// and again. It may answer early, so the wait is repeated, with a pause that
// grows while the answers are quick.
func (s *Session) await(ctx context.Context, at handle, op *computepb.Operation) error {
	limited, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	pause := gax.Backoff{Initial: 50 * time.Millisecond, Max: time.Second, Multiplier: 2}
	for tries := 0; op.GetStatus() != computepb.Operation_DONE; tries++ {
		if tries > 0 && gax.Sleep(limited, pause.Pause()) != nil {
			return &slow{at: at}
		}
		now, err := s.waitOn(limited, at)
		switch {
		case err == nil:
			op = now
		case limited.Err() != nil:
			return &slow{at: at}
		case fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Throttled):
			if tries >= attempts {
				return &slow{at: at}
			}
		default:
			// The operation is somewhere; what became of it only a read can tell.
			return &fault.Fault{Meaning: fault.Ambiguous, Text: "operation " + at.name + ": its end cannot be read", Err: err}
		}
	}
	return faultOfOperation(op)
}

func (s *Session) waitOn(ctx context.Context, at handle) (*computepb.Operation, error) {
	switch {
	case at.zone != "":
		return once(ctx, s.operationAPI.zone.Wait, &computepb.WaitZoneOperationRequest{Project: at.project, Zone: at.zone, Operation: at.name})
	case at.region != "":
		return once(ctx, s.operationAPI.region.Wait, &computepb.WaitRegionOperationRequest{Project: at.project, Region: at.region, Operation: at.name})
	default:
		return once(ctx, s.operationAPI.global.Wait, &computepb.WaitGlobalOperationRequest{Project: at.project, Operation: at.name})
	}
}

// once is ask without retries, for calls that are repeated anyway.
func once[R, A any](ctx context.Context, call method[R, A], request *R) (*A, error) {
	out, err := call(ctx, request, gax.WithTimeout(patience))
	return out, faultOf(err, reading)
}

// handleOf reads project and scope out of an operation's own link.
func handleOf(op *computepb.Operation, project string, now time.Time) handle {
	at := handle{since: now, project: project, name: op.GetName(), region: lastOf(op.GetRegion()), zone: lastOf(op.GetZone())}
	if own := projectOf(op.GetSelfLink()); own != "" {
		at.project = own
	}
	return at
}

// forEach runs f for every item, some at a time. f keeps its own errors.
func forEach[T any](items []T, f func(T)) {
	var group errgroup.Group
	group.SetLimit(inParallel)
	for _, item := range items {
		group.Go(func() error { f(item); return nil })
	}
	_ = group.Wait() // no function returns an error
}

// gatherer puts questions together: one call is under way at a time, and what is
// asked meanwhile goes out together in the next one.
type gatherer[Q, A any] struct {
	call  func(context.Context, []Q) []A // one answer for each, in order
	pause time.Duration                  // how long a question waits for company

	mu      sync.Mutex
	busy    bool
	waiting []asked[Q, A]
}

type asked[Q, A any] struct {
	question Q
	answer   chan A
}

func gather[Q, A any](pause time.Duration, call func(context.Context, []Q) []A) *gatherer[Q, A] {
	return &gatherer[Q, A]{call: call, pause: pause}
}

// ask waits for the answer; an error is that nobody waits any longer.
func (g *gatherer[Q, A]) ask(ctx context.Context, question Q) (A, error) {
	a := asked[Q, A]{question: question, answer: make(chan A, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, a)
	if !g.busy {
		g.busy = true
		go g.drain(context.WithoutCancel(ctx))
	}
	g.mu.Unlock()
	select {
	case answer := <-a.answer:
		return answer, nil
	case <-ctx.Done():
		var none A
		return none, faultOf(ctx.Err(), reading)
	}
}

func (g *gatherer[Q, A]) drain(ctx context.Context) {
	for {
		time.Sleep(g.pause)
		g.mu.Lock()
		batch := g.waiting
		g.waiting, g.busy = nil, len(batch) > 0
		g.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		questions := make([]Q, 0, len(batch))
		for _, a := range batch {
			questions = append(questions, a.question)
		}
		for i, answer := range g.call(ctx, questions) {
			batch[i].answer <- answer
		}
	}
}

// projectOf is the project in a URL or path.
func projectOf(url string) string {
	_, rest, _ := strings.Cut(projectPathOf(url), "projects/")
	project, _, _ := strings.Cut(rest, "/")
	return project
}
