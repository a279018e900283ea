package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/quay/model"
)

// faultsOfRefusals lists the faults that show where the cloud refuses a part of the desired
// state.
func faultsOfRefusals() []knownFault {
	return []knownFault{
		{name: "the first failure of a run decides when it goes on", fresh: halfRefusing, tales: []Tale{halfRefused()}, world: firstDecides},
		{name: "many bad members keep the good ones out", fresh: newPicky, tales: []Tale{manyBad()}, world: forgetSessions},
	}
}

// soonEnough bounds the time until everything that is not blocked is done, with two
// deviations: it is less than the five minutes for which a failure that only a user can
// correct waits.
const soonEnough = 4 * time.Minute

// halfRefused is a Service of whose ports one is never taken, and one not yet.
func halfRefused() Tale {
	return Tale{"half refused", []Move{
		Create("web", nil),
		{Name: "look for port 80", Later: soonEnough, Check: func(w *world) string { return w.wantsInCloud(`"tcp-80"`) }},
		Change("web", "fewer ports", FewerPorts), Settled(Delete("web")),
	}}
}

// wantsInCloud is what is wrong if something is not in the cloud.
func (w *world) wantsInCloud(words ...string) string {
	state, err := json.Marshal(w.subject.Control.State())
	if err != nil {
		return err.Error()
	}
	for _, word := range words {
		if !bytes.Contains(state, []byte(word)) {
			return fmt.Sprintf("%s is not in the cloud after %v", word, soonEnough)
		}
	}
	return ""
}

// halfRefusing is the small cloud when it does not take port 443, ever, and port 80 for a
// while.
func halfRefusing(t testing.TB) Subject {
	const notYet = 20 * time.Second
	s := onQuay(t)
	next := s.Handler
	var mu sync.Mutex
	var first time.Time
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if first.IsZero() && r.Method == http.MethodPut {
			first = time.Now()
		}
		switch {
		case r.Method != http.MethodPut:
		case strings.HasSuffix(r.URL.Path, "/listeners/tcp-443"):
			writeRefusal(w, http.StatusBadRequest, "PortNotAllowed")
			return
		case strings.HasSuffix(r.URL.Path, "/listeners/tcp-80") && time.Since(first) < notYet:
			writeRefusal(w, http.StatusServiceUnavailable, "NotYet")
			return
		}
		next.ServeHTTP(w, r)
	})
	return s
}

// writeRefusal writes the answer of a cloud that refuses a call.
func writeRefusal(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"code":%q,"message":"refused"}`, code) // only the log receives it
}

// firstDecides has all failures of a run mean what one of them means that no repetition
// mends.
func firstDecides(w *world) {
	breakSession(func(_ *world, b *providers.Bound) {
		var mu sync.Mutex
		last := map[stack.Owner]time.Time{}
		apply := b.Apply
		b.Apply = func(ctx context.Context, batch plan.Batch) []plan.Outcome {
			out := apply(ctx, batch)
			mu.Lock()
			defer mu.Unlock()
			for i := range out {
				owner := batch.Steps[i].ID.Owner
				switch {
				case fault.Is(out[i].Err, fault.Invalid):
					last[owner] = time.Now()
				case out[i].Err != nil && time.Since(last[owner]) < time.Second:
					out[i].Err = &fault.Fault{Meaning: fault.Invalid, Err: out[i].Err}
				}
			}
			return out
		}
	})(w)
}

// forgetSessions performs each call in a new session, which has learned nothing from earlier
// calls.
func forgetSessions(w *world) {
	open := w.subject.Open
	w.subject.Open = func(ctx context.Context, url string) (providers.Bound, error) {
		b, err := open(ctx, url)
		b.Apply = func(ctx context.Context, batch plan.Batch) []plan.Outcome {
			fresh, err := open(ctx, url)
			if err != nil {
				panic(err) // the small cloud opens without a call
			}
			return fresh.Apply(ctx, batch)
		}
		return b, err
	}
}

// How many members the picky cloud is asked to take.
const badMembers, goodMembers = 100, 6

// manyBad is a Service whose machines are mostly such as the cloud does not take.
func manyBad() Tale {
	var good []string
	for n := range goodMembers {
		good = append(good, fmt.Sprintf("%q", goodName(n)))
	}
	return Tale{"many bad members", []Move{
		Create("web", nil),
		{Name: "look for the good machines", Later: soonEnough, Check: func(w *world) string { return w.wantsInCloud(good...) }},
		Delete("web"),
	}}
}

func goodName(n int) string { return fmt.Sprint("node-", n+1) }

// machinesOf returns the machines of the picky cloud: the ones that it rejects are first.
var machinesOf = sync.OnceValue(func() []corev1.Node {
	var nodes []corev1.Node
	add := func(name string) { nodes = append(nodes, onQuayMachine(name)) }
	for n := range badMembers {
		add(fmt.Sprintf("bad-%03d", n))
	}
	for n := range goodMembers {
		add(goodName(n))
	}
	return nodes
})

// newPicky returns the small cloud with refusals of lists that hold unknown machines. Its
// sessions search for the rejected members as those of the real clouds do.
func newPicky(t testing.TB) Subject {
	s := onQuay(t)
	next, open := s.Handler, s.Open
	s.Nodes = machinesOf()
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/machines") {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte("bad-")) {
			writeRefusal(w, http.StatusBadRequest, "NoSuchMachine")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
	s.Open = func(ctx context.Context, url string) (providers.Bound, error) {
		b, err := open(ctx, url)
		b.Apply = splitMembers(b.Apply)
		return b, err
	}
	return s
}

// splitMembers adds the machines that the cloud accepts to a load balancer, and remembers
// the rejected ones between runs.
func splitMembers(apply func(context.Context, plan.Batch) []plan.Outcome) func(context.Context, plan.Batch) []plan.Outcome {
	memory := &fault.Suspects{}
	return func(ctx context.Context, batch plan.Batch) []plan.Outcome {
		step := batch.Steps[0]
		want, ok := step.Target.Spec.(model.Machines)
		if len(batch.Steps) != 1 || !ok || step.ID.Action != plan.Update {
			return apply(ctx, batch)
		}
		found, _ := step.Found.(model.Machines)
		in := slices.DeleteFunc(slices.Clone(found.Names), func(name string) bool { return !slices.Contains(want.Names, name) })
		missing := slices.DeleteFunc(slices.Clone(want.Names), func(name string) bool { return slices.Contains(in, name) })
		before := step.Target
		before.Spec = model.Machines{Names: slices.Clone(in)}
		outcome := plan.Done(before)
		refused, err := kit.SplitAmong(memory, step.ID.Owner.UID, missing, func(name string) string { return name }, nil, func(part []string) error {
			step.Target.Spec = model.Machines{Names: slices.Sorted(slices.Values(append(slices.Clone(in), part...)))}
			batch.Steps = []plan.Step{step}
			out := apply(ctx, batch)[0]
			if out.Err == nil {
				outcome, in = out, append(in, part...)
			}
			return out.Err
		})
		outcome.Refused, outcome.Err = refused, err
		return []plan.Outcome{outcome}
	}
}
