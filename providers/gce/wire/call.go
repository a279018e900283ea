package wire

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
)

const (
	// callLimit bounds one call, from the moment at which the limits let it through.
	callLimit = 30 * time.Second
	// attempts is how often a reading call is made that a server failed to answer.
	attempts = 3
	// page is the largest page that lists give.
	page = 500
)

// method is a reading method of any of the library's clients.
type method[R, A any] func(context.Context, *R, ...gax.CallOption) (*A, error)

// readCall makes a reading call. Errors are faults.
func readCall[R, A any](ctx context.Context, call method[R, A], request *R) (*A, error) {
	out, err := call(ctx, request, readOptions()...)
	return out, faultOf(err, kit.Reading)
}

// beginList begins a list call. A request that does not say otherwise is for project and region of
// the session and for the largest pages, and one over all scopes takes an answer with holes.
func beginList[R, I any, M message[R]](ctx context.Context, s *Session, call func(context.Context, *R, ...gax.CallOption) *I, request M) *I {
	s.place(request)
	setField(request, "max_results", protoreflect.ValueOfUint32(page))
	if strings.HasPrefix(string(request.ProtoReflect().Descriptor().Name()), "AggregatedList") {
		setField(request, "return_partial_success", protoreflect.ValueOfBool(true))
	}
	return call(ctx, request, readOptions()...)
}

// place makes a request that names no project or region one for those of the session.
func (s *Session) place(m proto.Message) {
	setField(m, "project", protoreflect.ValueOfString(s.config.Project))
	setField(m, "region", protoreflect.ValueOfString(s.config.Region))
}

// setField sets a field that a request has and leaves open.
func setField(m proto.Message, name protoreflect.Name, value protoreflect.Value) {
	r := m.ProtoReflect()
	if f := r.Descriptor().Fields().ByName(name); f != nil && !r.Has(f) {
		r.Set(f, value)
	}
}

// readOptions replace the library's retries, which last for minutes: longer waits are
// left to the caller. The library's deadlines would begin before the limits let a call
// through.
func readOptions() []gax.CallOption {
	return []gax.CallOption{gax.WithTimeout(0), gax.WithRetry(func() gax.Retryer {
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
	if other, is := errors.AsType[*fault.PageError](err); is {
		err = &googleapi.Error{Code: other.Status}
	}
	return r.Retryer.Retry(err)
}

// walkList iterates over a list. seen receives every raw page that was fetched, which
// reports what could not be reached.
func walkList[T any](next func() (T, error), seen func(), use func(T)) error {
	for {
		item, err := next()
		seen()
		if errors.Is(err, iterator.Done) {
			return nil
		}
		if err != nil {
			return faultOf(err, kit.Reading)
		}
		use(item)
	}
}

// walkScopes walks a list over all scopes. use returns the scope of an item, and its warning;
// lost receives every scope that could not be reached.
func walkScopes[P any](next func() (P, error), response *any, lost func(where string), use func(P) (string, *computepb.Warning)) error {
	return walkList(next, func() {
		if partial, ok := (*response).(interface{ GetUnreachables() []string }); ok {
			for _, where := range partial.GetUnreachables() {
				lost(where)
			}
		}
	}, func(p P) {
		if where, warning := use(p); warning.GetCode() == computepb.Warning_UNREACHABLE.String() {
			lost(where)
		}
	})
}

// collectAll returns a list of which every page is complete.
func collectAll[T any](next func() (T, error)) (out []T, err error) {
	err = eachComplete(next, func(item T) { out = append(out, item) })
	return out, err
}

// keepAll keeps every object of a list of which every page is complete.
func keepAll[T object](r *read, f family, next func() (T, error)) error {
	return eachComplete(next, func(o T) { r.keep(f, o) })
}

// eachComplete walks a list of which every page is complete.
func eachComplete[T any](next func() (T, error), use func(T)) error {
	return walkList(next, func() {}, use)
}

// gatherer combines requests: one call is under way at a time, and requests that arrive
// meanwhile are sent together in the next one.
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

func newGatherer[Q, A any](pause time.Duration, call func(context.Context, []Q) []A) *gatherer[Q, A] {
	return &gatherer[Q, A]{call: call, pause: pause}
}

// await waits for the result; it returns an error once ctx is done.
func (g *gatherer[Q, A]) await(ctx context.Context, question Q) (A, error) {
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
		return none, faultOf(ctx.Err(), kit.Reading)
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
	_, rest, _ := strings.Cut(model.ProjectPathOf(url), "projects/")
	project, _, _ := strings.Cut(rest, "/")
	return project
}
