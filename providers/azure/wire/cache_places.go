package wire

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
)

// placeAge is how long a Service that is on no load balancer yet, and is not looked
// at any more, keeps its place from others.
const placeAge = 5 * time.Minute

// queue has the new Services that are to be shared out over several load balancers,
// in the order in which they were seen: each is placed as if all before it were. It
// is safe for concurrent use.
type queue struct {
	mu   sync.Mutex
	list []unplaced
}

// unplaced is a Service without a load balancer.
type unplaced struct {
	owner stack.Owner
	kind  string
	wish  model.Wish
	seen  time.Time
}

// enter takes the Services of a read into the queue, and those out of it that are
// on a load balancer by now, are released, or were not seen for long.
func (q *queue) enter(scopes []providers.Scope, placed map[string]bool, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := make(map[stack.Owner]int, len(q.list))
	for i, n := range q.list {
		at[n.owner] = i
	}
	gone := map[stack.Owner]bool{}
	for _, scope := range scopes {
		wishes := lookupValues(scope, model.KindBalancer, model.ByPlace)
		if len(wishes) == 0 {
			gone[scope.Owner] = true
			continue
		}
		n := unplaced{owner: scope.Owner, kind: kindWanted(scope), wish: model.WishOf(wishes[0]), seen: now}
		if i, waits := at[scope.Owner]; waits {
			q.list[i] = n
			continue
		}
		at[scope.Owner] = len(q.list)
		q.list = append(q.list, n)
	}
	q.list = slices.DeleteFunc(q.list, func(n unplaced) bool {
		return gone[n.owner] || placed[strings.ToLower(model.BaseName(n.owner.UID))] || now.Sub(n.seen) > placeAge
	})
}

// ahead returns, for each Service of the queue, the earlier ones of its kind.
func (q *queue) ahead() map[stack.Owner][]model.Wish {
	q.mu.Lock()
	defer q.mu.Unlock()
	out, before := make(map[stack.Owner][]model.Wish, len(q.list)), map[string][]model.Wish{}
	for _, n := range q.list {
		all := before[n.kind]
		out[n.owner] = all[:len(all):len(all)] // what is appended later is not its
		before[n.kind] = append(all, n.wish)
	}
	return out
}

// kindWanted is the kind of load balancer that a scope is about.
func kindWanted(scope providers.Scope) string {
	for _, name := range lookupValues(scope, model.KindBalancer, model.ByWanted) {
		return model.KindOf(name)
	}
	return ""
}

// placedOn are the base names of the Services that have rules in load balancers.
func placedOn(balancers []model.Object) map[string]bool {
	out := map[string]bool{}
	for _, lb := range balancers {
		for _, r := range lb.Props().List(model.ListRules) {
			out[strings.ToLower(model.BaseOf(r.Text("name")))] = true
		}
	}
	return out
}
