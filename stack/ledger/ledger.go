package ledger

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/stack"
)

// Ledger tells who else wants what is shared.
type Ledger interface {
	// Ready tells whether every LoadBalancer Service of the cluster is entered.
	// Until then nobody knows that an entry is unwanted, so none is removed.
	Ready() bool
	// Others lists the other owners that want the shared entry, in order.
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

// Book is the ledger of one process. The zero value is not usable; see New.
type Book struct {
	mu      sync.RWMutex
	ready   bool
	owners  map[stack.Owner][]stack.Resource
	wanting map[entryID]map[stack.Owner]bool
	// slots are who wants a place in something shared, that only one can have.
	slots map[slotID]map[stack.Owner]bool
	since map[stack.Owner]time.Time // when owners were made, as far as it was said
	// unknown are owners whose entries cannot be computed: for each, a test
	// that errs on yes decides whether it might want an entry.
	unknown map[stack.Owner]func(stack.Resource) bool
	// removals are the entries that calls remove or have removed.
	removals map[entryID]*removal
}

// New returns an empty book that is not ready.
func New() *Book {
	return &Book{
		owners:  map[stack.Owner][]stack.Resource{},
		wanting: map[entryID]map[stack.Owner]bool{}, slots: map[slotID]map[stack.Owner]bool{}, since: map[stack.Owner]time.Time{},
		unknown: map[stack.Owner]func(stack.Resource) bool{}, removals: map[entryID]*removal{},
	}
}

// SetReady declares that every Service of the cluster is entered.
func (b *Book) SetReady() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = true
}

// Ready implements Ledger.
func (b *Book) Ready() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.ready
}

// EnterSince is Enter of an owner that was made at a time.
func (b *Book) EnterSince(owner stack.Owner, since time.Time, resources []stack.Resource) {
	b.Enter(owner, resources)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since[owner] = since
}

// Enter replaces what the owner wants: the shared entries among the resources.
// The owner is unknown no longer.
func (b *Book) Enter(owner stack.Owner, resources []stack.Resource) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(owner)
	var entries []stack.Resource
	shared := map[stack.Key]bool{}
	for _, r := range resources {
		shared[r.Key] = r.Ownership != stack.Owned
	}
	for _, r := range resources {
		if r.Slot != "" && shared[r.In] {
			at := slotID{r.In, r.Slot}
			if b.slots[at] == nil {
				b.slots[at] = map[stack.Owner]bool{}
			}
			b.slots[at][owner] = true
		}
		if r.Ownership != stack.Shared {
			continue
		}
		entries = append(entries, r)
		id := entryID{r.In, r.Key}
		if b.wanting[id] == nil {
			b.wanting[id] = map[stack.Owner]bool{}
		}
		b.wanting[id][owner] = true
	}
	b.owners[owner] = entries
}

// EnterUnknown enters an owner whose wishes cannot be computed; might must err on yes.
// What the owner wanted before stays entered as well.
func (b *Book) EnterUnknown(owner stack.Owner, might func(stack.Resource) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unknown[owner] = might
}

// Knows tells whether the wishes of the owner are entered. Those of one that is
// unknown are not.
func (b *Book) Knows(owner stack.Owner) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	_, ok := b.owners[owner]
	return ok
}

// Leave removes the owner: it wants nothing any more.
func (b *Book) Leave(owner stack.Owner) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(owner)
}

func (b *Book) drop(owner stack.Owner) {
	for _, r := range b.owners[owner] {
		id := entryID{r.In, r.Key}
		delete(b.wanting[id], owner)
		if len(b.wanting[id]) == 0 {
			delete(b.wanting, id)
		}
	}
	for at, owners := range b.slots {
		if delete(owners, owner); len(owners) == 0 {
			delete(b.slots, at)
		}
	}
	delete(b.owners, owner)
	delete(b.unknown, owner)
	delete(b.since, owner)
}

// Older implements Ledger.
func (b *Book) Older(me stack.Owner, entry stack.Resource) (oldest stack.Owner, found bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	wanting := b.wanting[entryID{entry.In, entry.Key}]
	if entry.Slot != "" {
		wanting = b.slots[slotID{entry.In, entry.Slot}]
	}
	before := func(a, o stack.Owner) bool { return cmp.Or(b.since[a].Compare(b.since[o]), a.Compare(o)) < 0 }
	for o := range wanting {
		if o != me && before(o, me) && (!found || before(o, oldest)) {
			oldest, found = o, true
		}
	}
	return oldest, found
}

// Others implements Ledger.
func (b *Book) Others(me stack.Owner, entry stack.Resource) []stack.Owner {
	b.mu.RLock()
	defer b.mu.RUnlock()
	found := map[stack.Owner]bool{}
	for o := range b.wanting[entryID{entry.In, entry.Key}] {
		found[o] = true
	}
	for o, might := range b.unknown {
		if might(entry) {
			found[o] = true
		}
	}
	delete(found, me)
	return slices.SortedFunc(maps.Keys(found), stack.Owner.Compare)
}

// Entries implements Ledger.
func (b *Book) Entries(object stack.Key) []stack.Resource {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var out []stack.Resource
	for _, o := range slices.SortedFunc(maps.Keys(b.owners), stack.Owner.Compare) {
		for _, r := range b.owners[o] {
			if r.In == object {
				out = append(out, r)
			}
		}
	}
	return out
}
