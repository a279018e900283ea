package reconcile_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// The toy cloud is a real little cloud: it has state, refuses what is used, and
// marks what it makes. A load balancer has listeners that send to pools of
// nodes; rules let traffic to the nodes and carry no mark, so that whose they
// are follows only from the load balancer and its pools.

type balancer struct{ Scheme string }

type listener struct {
	Port int32
	To   stack.Ref
}

type pool struct{ NodePort int32 }

type members struct{ Nodes []string }

type rule struct{ Allow string }

const (
	kindLB       stack.Kind = "lb"
	kindListener stack.Kind = "listener"
	kindPool     stack.Kind = "pool"
	kindMembers  stack.Kind = "members"
	kindRule     stack.Kind = "rule"
)

var (
	lbKey    = stack.Key{Kind: kindLB}
	nodesKey = stack.Key{Kind: "nodes"}

	schemeAnnotation = &annotations.Key[string]{
		Name: "toy.example/scheme", Group: "Toy", Doc: "Where the load balancer can be reached from.",
		Forms: []annotations.Form[string]{{Type: annotations.Enum("public", "internal"), Default: "public"}},
	}
	labelAnnotation = &annotations.Key[string]{
		Name: "toy.example/node-label", Group: "Toy", Doc: "Label that nodes behind the load balancer have.",
		Forms: []annotations.Form[string]{{Type: annotations.String(), Default: ""}},
	}
)

// thing is what the cloud has: marked with an owner's UID unless it is a rule.
type thing struct {
	id, uid string
	in      string // identifier of what it is in
	port    string // of pools and listeners
	spec    stack.Spec
}

type world struct {
	mu     sync.Mutex
	next   int
	things map[string]*thing
	// calls are the writing calls so far; crashAt is the one at which the process
	// dies, committed or not; nothing gets through after it.
	calls, crashAt int
	commit         bool
	deep, narrow   int          // reads, of all and of some kinds
	facts          int          // reads of facts alone
	blind          []stack.Kind // kinds whose read is denied
	// named marks with names in place of UIDs, and identifies resources by them.
	named bool
	// state is how load balancers are.
	state stack.State
	// refusesTaken makes a second load balancer of one owner fail.
	refusesTaken bool
	// asked receives the scopes of reads.
	asked func(providers.Scope)
	// slow is called when a read has been answered, before the answer arrives.
	slow func()
	// refuse answers a step instead of the cloud.
	refuse func(plan.Step) *plan.Outcome
}

func newWorld() *world { return &world{things: map[string]*thing{}} }

func (w *world) Apply(_ context.Context, b plan.Batch) []plan.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]plan.Outcome, len(b.Steps))
	for i, s := range b.Steps {
		out[i] = w.step(b, s)
	}
	return out
}

func (w *world) step(b plan.Batch, s plan.Step) plan.Outcome {
	if w.refuse != nil {
		if o := w.refuse(s); o != nil {
			return *o
		}
	}
	w.calls++
	dead := w.crashAt > 0 && w.calls >= w.crashAt
	lost := plan.Outcome{Err: fault.New(fault.Unavailable, "connection cut"), Sent: plan.MaybeSent}
	if dead && (w.calls > w.crashAt || !w.commit) {
		return lost
	}
	o := w.perform(b, s)
	if dead {
		return lost
	}
	return o
}

func (w *world) perform(b plan.Batch, s plan.Step) plan.Outcome {
	t := s.Target
	switch s.ID.Action {
	case plan.Create:
		return w.create(b, s)
	case plan.Update:
		id := cmpOr(t.ID, b.ID(s, stack.RefTo(t.In)))
		if t.Key.Kind == kindMembers {
			id = b.ID(s, stack.RefTo(t.In)) + "/members"
		}
		if w.things[id] == nil {
			return plan.Failed(fault.New(fault.NotFound, "%s %q", t.Key, id))
		}
		w.things[id].spec = resolveRefs(b, s, t.Spec)
		return plan.Done(stack.Resource{ID: id, Spec: t.Spec})
	default:
		return w.remove(b, s)
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// resolveRefs turns references into identifiers, as a cloud stores them.
func resolveRefs(b plan.Batch, s plan.Step, spec stack.Spec) stack.Spec {
	if l, ok := spec.(listener); ok {
		l.To = stack.RefID(b.ID(s, l.To))
		return l
	}
	return spec
}

func (w *world) create(b plan.Batch, s plan.Step) plan.Outcome {
	w.next++
	t := &thing{id: string(s.Target.Key.Kind) + "-" + strconv.Itoa(w.next), uid: w.markOf(s.ID.Owner), port: s.Target.Key.Name, spec: resolveRefs(b, s, s.Target.Spec)}
	if w.named {
		t.id = strings.Join([]string{string(s.Target.Key.Kind), t.uid, t.port}, "-")
	}
	if w.refusesTaken && s.Target.Key.Kind == kindLB && len(w.of(t.uid, kindLB)) > 0 {
		return plan.Failed(fault.New(fault.Exists, "load balancer of %s", t.uid))
	}
	switch s.Target.Key.Kind {
	case kindRule:
		t.id, t.uid = s.Target.Key.String(), ""
	case kindListener:
		t.in = b.ID(s, stack.RefTo(lbKey))
		for _, o := range w.things {
			if o.in == t.in && o.port == t.port && o.id != t.id {
				return plan.Failed(fault.New(fault.Exists, "listener %s", t.port))
			}
		}
		if w.things[t.in] == nil || w.things[t.spec.(listener).To.ID] == nil {
			return plan.Failed(fault.New(fault.NotFound, "listener %s", t.port))
		}
	case kindPool:
		w.things[t.id+"/members"] = &thing{id: t.id + "/members", uid: t.uid, in: t.id, spec: members{}}
	}
	w.things[t.id] = t
	return plan.Done(stack.Resource{ID: t.id, Spec: s.Target.Spec, Proof: stack.Tag})
}

func (w *world) remove(b plan.Batch, s plan.Step) plan.Outcome {
	id := s.Target.ID
	if s.Target.Key.Kind == kindRule && len(b.Claims.Others(s.ID.Owner, s.Target)) > 0 {
		return plan.Outcome{Sent: plan.WasSent} // another Service wants it since
	}
	for _, t := range w.things {
		if l, ok := t.spec.(listener); ok && l.To.ID == id {
			return plan.Failed(fault.New(fault.InUse, "%s uses %s", t.id, id))
		}
	}
	for _, t := range maps.Collect(maps.All(w.things)) {
		if t.in == id {
			delete(w.things, t.id)
		}
	}
	delete(w.things, id)
	return plan.Outcome{Sent: plan.WasSent}
}

func (w *world) Read(_ context.Context, scopes []providers.Scope) []providers.Found[struct{}] {
	if w.slow != nil {
		defer w.slow()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]providers.Found[struct{}], len(scopes))
	for i, s := range scopes {
		out[i].Blind = providers.Blind{}
		out[i].Blind.Add(fault.New(fault.Denied, "not for us"), w.blind...)
		if w.asked != nil {
			w.asked(s)
		}
		switch {
		case len(s.Own) == 0:
			w.facts++
			out[i].Blind = nil // nothing was looked at
		case len(s.Only) > 0:
			w.narrow++
			out[i].Have = w.narrowed(s)
		default:
			w.deep++
			out[i].Have = w.find(s.Owner)
		}
	}
	return out
}

// narrowed is what there is of some kinds, with what it is in.
func (w *world) narrowed(s providers.Scope) *stack.Stack {
	have := w.find(s.Owner)
	parents := map[stack.Key]bool{}
	for _, r := range have.Resources {
		if slices.Contains(s.Only, r.Key.Kind) {
			parents[r.In] = true
		}
	}
	for i, r := range have.Resources {
		if parents[r.Key] && !slices.Contains(s.Only, r.Key.Kind) {
			have.Resources[i].Spec = nil // its identifier alone
		}
	}
	have.Resources = slices.DeleteFunc(have.Resources, func(r stack.Resource) bool {
		return !slices.Contains(s.Only, r.Key.Kind) && !parents[r.Key]
	})
	return have
}

func (w *world) find(o stack.Owner) *stack.Stack {
	have := &stack.Stack{Owner: o}
	mark := w.markOf(o)
	lb := w.of(mark, kindLB)
	balancers := map[string]stack.Key{}
	for i, t := range lb { // the newest is the one that is being filled
		k := lbKey
		if i < len(lb)-1 {
			k.Name = t.id
		}
		balancers[t.id] = k
		have.Put(stack.Resource{Key: k, ID: t.id, Proof: stack.Tag, State: w.state, Spec: t.spec})
	}
	used, evident := map[string]bool{}, map[string]bool{"health": len(lb) > 0}
	for _, t := range w.of(mark, kindListener) {
		used[t.spec.(listener).To.ID] = true
	}
	keyOf := map[string]stack.Key{}
	for _, t := range w.of(mark, kindPool) {
		k := stack.Key{Kind: kindPool, Name: t.port}
		if _, taken := have.Get(k); taken || !used[t.id] && len(w.of(mark, kindListener)) > 0 {
			k.Name += " " + t.id
		}
		keyOf[t.id] = k
		evident[allowPort(t.spec.(pool).NodePort)] = len(lb) > 0
		have.Put(stack.Resource{Key: k, ID: t.id, Proof: stack.Tag, Spec: t.spec})
		m := w.things[t.id+"/members"]
		have.Put(stack.Resource{Key: stack.Key{Kind: kindMembers, Name: k.Name}, ID: m.id, In: k, Proof: stack.Derived, Spec: m.spec})
	}
	for _, t := range w.of(mark, kindListener) {
		l := t.spec.(listener)
		l.To = stack.RefTo(keyOf[l.To.ID])
		name := t.port + strings.TrimRight(" "+balancers[t.in].Name, " ")
		have.Put(stack.Resource{Key: stack.Key{Kind: kindListener, Name: name}, ID: t.id, In: balancers[t.in], Slot: "port " + t.port, Proof: stack.Derived, Spec: l})
	}
	for _, t := range w.of("", kindRule) {
		r := ruleOf(t.spec.(rule).Allow)
		r.ID = t.id
		if evident[t.spec.(rule).Allow] {
			r.Proof = stack.Derived
		}
		have.Put(r)
	}
	have.Resources = slices.DeleteFunc(have.Resources, func(r stack.Resource) bool { return slices.Contains(w.blind, r.Key.Kind) })
	return have
}

// markOf returns the mark of a Service.
func (w *world) markOf(o stack.Owner) string {
	if w.named {
		return o.Name
	}
	return o.UID
}

// of lists what is marked with a UID, of one kind, oldest first.
func (w *world) of(uid string, kind stack.Kind) []*thing {
	var out []*thing
	for _, t := range w.things {
		isOf := map[stack.Kind]bool{
			kindLB: hasKind[balancer](t), kindListener: hasKind[listener](t), kindPool: hasKind[pool](t), kindRule: hasKind[rule](t),
		}
		if t.uid == uid && isOf[kind] {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *thing) int { return strings.Compare(fmt.Sprintf("%20s", a.id), fmt.Sprintf("%20s", b.id)) })
	return out
}

func hasKind[T any](t *thing) bool {
	_, ok := t.spec.(T)
	return ok
}

func allowPort(nodePort int32) string { return "node port " + strconv.Itoa(int(nodePort)) }
