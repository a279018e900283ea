package reconcile

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// ErrNoHealth means that the health of members cannot be read in this cloud.
var ErrNoHealth = errors.New("the health of members is not read")

// Health returns the health of the members of the resources that a draft has found, or
// ErrNoHealth. It costs calls, and is for commands of a user.
func (r *Reconciler) Health(ctx context.Context, d *Draft) ([]providers.MemberHealth, error) {
	if r.cloud.Health == nil {
		return nil, ErrNoHealth
	}
	return r.cloud.Health(ctx, d.Have)
}

// Serves reports whether clients connect to resources of a kind.
func (r *Reconciler) Serves(k stack.Kind) bool {
	return r.cloud.Rules.Kinds[k].Role.Is(diff.EntryPoint)
}

// NameOf returns the name of a resource in the cloud, or else the one in its key, or else its
// identifier.
func NameOf(res stack.Resource) string {
	for _, f := range stack.Fields(res.Spec) {
		if name, ok := f.Value.(string); ok && f.Name == "Name" && name != "" {
			return name
		}
	}
	return cmp.Or(res.Key.Name, res.ID)
}

// lastHealth caches the health of members as it was last read, for callers that may not read the cloud. It is safe for
// concurrent use.
type lastHealth struct {
	lock  sync.Mutex
	known map[stack.Owner]map[stack.Key]groupHealth
}

// groupHealth is the health of the members of one resource at the time of a read.
type groupHealth struct {
	at      time.Time
	members []providers.MemberHealth
}

// record replaces the members of some resources.
func (l *lastHealth) record(o stack.Owner, of []stack.Key, found []providers.MemberHealth, at time.Time) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.known == nil {
		l.known = map[stack.Owner]map[stack.Key]groupHealth{}
	}
	if l.known[o] == nil {
		l.known[o] = map[stack.Key]groupHealth{}
	}
	for _, key := range of {
		group := groupHealth{at: at}
		for _, m := range found {
			if m.Of == key {
				group.members = append(group.members, m)
			}
		}
		l.known[o][key] = group
	}
}

func (l *lastHealth) drop(o stack.Owner) {
	l.lock.Lock()
	defer l.lock.Unlock()
	delete(l.known, o)
}

// LastHealth returns the health of members as it was last read for the readiness gates of pods, and the time of the oldest of
// these reads; the zero time: it was not read. It reads nothing.
func (r *Reconciler) LastHealth(o stack.Owner) (members []providers.MemberHealth, at time.Time) {
	r.health.lock.Lock()
	defer r.health.lock.Unlock()
	groups := r.health.known[o]
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b stack.Key) int { return strings.Compare(a.String(), b.String()) }) {
		group := groups[key]
		members = append(members, group.members...)
		if at.IsZero() || group.at.Before(at) {
			at = group.at
		}
	}
	return members, at
}
