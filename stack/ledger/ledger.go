package ledger

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/stack"
)

// View reports which other Services want a shared resource.
type View interface {
	// Ready reports whether every LoadBalancer Service of the cluster is entered.
	// Until then no entry is known to be unused, so none is deleted.
	Ready() bool
	// Others lists the other owners that want the shared entry, or hold it while the owner
	// does not, in order.
	Others(me stack.Owner, entry stack.Resource) []stack.Owner
	// Older is the oldest of the other owners that want the same shared entry, or the same
	// slot in the same shared or external resource, and that are older than the owner; of
	// equally old ones the first by name. False: there is none.
	Older(me stack.Owner, entry stack.Resource) (stack.Owner, bool)
	// Entries lists what all owners want in an object, in the order of owners.
	Entries(object stack.Key) []stack.Resource
}

// entryID identifies a shared entry across owners: its object and its key,
// both made from content, never from an owner.
type entryID struct{ object, entry stack.Key }

// slotID identifies a place in something shared.
type slotID struct {
	object stack.Key
	slot   string
}

// Ledger is the ledger of one process, a [View] that is written as well. The zero value is not usable; see New.
type Ledger struct {
	mu      sync.RWMutex
	ready   bool
	owners  map[stack.Owner][]stack.Resource
	wanting map[entryID]map[stack.Owner]bool
	// slots holds the owners that want a place in a shared resource which only one can have.
	slots map[slotID]map[stack.Owner]bool
	since map[stack.Owner]time.Time // when owners were made, as far as it was said
	// unknown are owners whose entries cannot be computed: for each, a test
	// that errs on yes decides whether it might want an entry.
	unknown map[stack.Owner]func(stack.Resource) bool
	// held are the entries that owners were found to have, and holders their owners; see Hold.
	held    map[stack.Owner][]entryID
	holders map[entryID]map[stack.Owner]bool
	// owned are the identities of what owners have for themselves; see Own.
	owned   map[stack.Owner][]Identity
	ownerOf map[Identity]stack.Owner
	doubted map[stack.Owner]bool // see Doubt
	// releasing are the identities of what owners had when their release began; see BeginRelease.
	releasing map[stack.Owner]map[Identity]bool
}

// New returns an empty ledger that is not ready.
func New() *Ledger {
	return &Ledger{
		owners:  map[stack.Owner][]stack.Resource{},
		wanting: map[entryID]map[stack.Owner]bool{}, slots: map[slotID]map[stack.Owner]bool{}, since: map[stack.Owner]time.Time{},
		unknown: map[stack.Owner]func(stack.Resource) bool{},
		held:    map[stack.Owner][]entryID{}, holders: map[entryID]map[stack.Owner]bool{},
		owned: map[stack.Owner][]Identity{}, ownerOf: map[Identity]stack.Owner{}, doubted: map[stack.Owner]bool{}, releasing: map[stack.Owner]map[Identity]bool{},
	}
}

// SetReady declares that every Service of the cluster is entered.
func (l *Ledger) SetReady() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ready = true
}

// Ready implements View.
func (l *Ledger) Ready() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.ready
}

// EnterSince is Enter of an owner that was made at a time.
func (l *Ledger) EnterSince(owner stack.Owner, since time.Time, resources []stack.Resource) {
	l.Enter(owner, resources)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since[owner] = since
}

// Enter replaces what the owner wants: the shared entries among the resources.
// The owner is unknown no longer.
func (l *Ledger) Enter(owner stack.Owner, resources []stack.Resource) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(owner)
	var entries []stack.Resource
	shared := map[stack.Key]bool{}
	for _, r := range resources {
		if r.Ownership != stack.Owned {
			shared[r.Key] = true
		}
	}
	for _, r := range resources {
		if r.Slot != "" && shared[r.In] {
			at := slotID{r.In, r.Slot}
			if l.slots[at] == nil {
				l.slots[at] = map[stack.Owner]bool{}
			}
			l.slots[at][owner] = true
		}
		if r.Ownership != stack.Shared {
			continue
		}
		entries = append(entries, r)
		id := entryID{r.In, r.Key}
		if l.wanting[id] == nil {
			l.wanting[id] = map[stack.Owner]bool{}
		}
		l.wanting[id][owner] = true
	}
	l.owners[owner] = entries
}

// EnterUnknown enters an owner whose wishes cannot be computed; might must err on yes.
// What the owner wanted before stays entered as well.
func (l *Ledger) EnterUnknown(owner stack.Owner, might func(stack.Resource) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unknown[owner] = might
}

// Knows reports whether the desired resources of the owner are entered. Those of
// an owner that is marked as unknown are not.
func (l *Ledger) Knows(owner stack.Owner) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, ok := l.owners[owner]
	return ok
}

// Leave removes the owner: it wants nothing any more. What it had when its release began is kept; see Forget.
func (l *Ledger) Leave(owner stack.Owner) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(owner)
	l.release(owner)
	l.disown(owner)
}

func (l *Ledger) drop(owner stack.Owner) {
	for _, r := range l.owners[owner] {
		id := entryID{r.In, r.Key}
		delete(l.wanting[id], owner)
		if len(l.wanting[id]) == 0 {
			delete(l.wanting, id)
		}
	}
	for at, owners := range l.slots {
		if delete(owners, owner); len(owners) == 0 {
			delete(l.slots, at)
		}
	}
	delete(l.owners, owner)
	delete(l.unknown, owner)
	delete(l.since, owner)
}

// Older implements View.
func (l *Ledger) Older(me stack.Owner, entry stack.Resource) (oldest stack.Owner, found bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	wanting := l.wanting[entryID{entry.In, entry.Key}]
	if entry.Slot != "" {
		wanting = l.slots[slotID{entry.In, entry.Slot}]
	}
	before := func(a, o stack.Owner) bool { return cmp.Or(l.since[a].Compare(l.since[o]), a.Compare(o)) < 0 }
	for o := range wanting {
		if o != me && before(o, me) && (!found || before(o, oldest)) {
			oldest, found = o, true
		}
	}
	return oldest, found
}

// Others implements View.
func (l *Ledger) Others(me stack.Owner, entry stack.Resource) []stack.Owner {
	l.mu.RLock()
	defer l.mu.RUnlock()
	found := map[stack.Owner]bool{}
	for o := range l.wanting[entryID{entry.In, entry.Key}] {
		found[o] = true
	}
	for o, might := range l.unknown {
		if might(entry) {
			found[o] = true
		}
	}
	if holders := l.holders[entryID{entry.In, entry.Key}]; !holders[me] {
		maps.Copy(found, holders)
	}
	delete(found, me)
	return slices.SortedFunc(maps.Keys(found), stack.Owner.Compare)
}

// Find returns the first owner, in order, of whose wishes or resources anything is entered and
// that matches; false: there is none.
func (l *Ledger) Find(match func(stack.Owner) bool) (first stack.Owner, found bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	note := func(o stack.Owner) {
		if match(o) && (!found || o.Compare(first) < 0) {
			first, found = o, true
		}
	}
	for o := range l.owners {
		note(o)
	}
	for o := range l.unknown {
		note(o)
	}
	for o := range l.held {
		note(o)
	}
	return first, found
}

// Entries implements View.
func (l *Ledger) Entries(object stack.Key) []stack.Resource {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var out []stack.Resource
	for _, o := range slices.SortedFunc(maps.Keys(l.owners), stack.Owner.Compare) {
		for _, r := range l.owners[o] {
			if r.In == object {
				out = append(out, r)
			}
		}
	}
	return out
}
