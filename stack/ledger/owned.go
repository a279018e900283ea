package ledger

import "github.com/berth-lb/berth/stack"

// Identity identifies an owned resource by what the cloud calls it, whichever owner finds it.
type Identity struct {
	Kind stack.Kind
	In   string // identifier or key of the resource that it is a part of; empty: it stands alone
	ID   string
}

// Own replaces the identities of the owned resources that a Service has. Earlier ones of the
// same owner are kept with keep, where the caller has not seen all of its resources.
func (l *Ledger) Own(owner stack.Owner, ids []Identity, keep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !keep {
		l.disown(owner)
	}
	for _, id := range ids {
		if _, known := l.ownerOf[id]; !known {
			l.ownerOf[id] = owner
			l.owned[owner] = append(l.owned[owner], id)
		}
	}
}

// BeginRelease records the identities that a Service has when its release begins. They stay until Forget, also if
// another Service is found to have them. It does nothing if the release has begun before.
func (l *Ledger) BeginRelease(owner stack.Owner, has []Identity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.releasing[owner] != nil {
		return
	}
	l.releasing[owner] = map[Identity]bool{}
	for _, id := range has {
		l.releasing[owner][id] = true
	}
}

// MayRelease reports whether a release may delete a resource: the Service had it when the release began, and no other one
// has it now.
func (l *Ledger) MayRelease(owner stack.Owner, id Identity) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	other, owned := l.ownerOf[id]
	return l.releasing[owner][id] && (!owned || other == owner)
}

// Forget removes the owner, and what it had when its release began.
func (l *Ledger) Forget(owner stack.Owner) {
	l.Leave(owner)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.releasing, owner)
}

// OwnerOf returns the Service that has an owned resource; false: no known one.
func (l *Ledger) OwnerOf(id Identity) (stack.Owner, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	o, known := l.ownerOf[id]
	return o, known
}

// Doubt records that a Service may have more than is recorded, because a creating call was
// not answered. The next Own without keep ends that.
func (l *Ledger) Doubt(owner stack.Owner) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doubted[owner] = true
}

// Namesake reports whether another Service with the namespace and name of the owner is entered,
// with another UID, and whether that one may have more than is recorded.
func (l *Ledger) Namesake(owner stack.Owner) (entered, doubted bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	look := func(o stack.Owner) {
		if o.Namespace == owner.Namespace && o.Name == owner.Name && o.UID != owner.UID {
			entered, doubted = true, doubted || l.doubted[o]
		}
	}
	for o := range l.owners {
		look(o)
	}
	for o := range l.unknown {
		look(o)
	}
	return entered, doubted
}

// disown removes the identities of an owner. The lock is held.
func (l *Ledger) disown(owner stack.Owner) {
	for _, id := range l.owned[owner] {
		delete(l.ownerOf, id)
	}
	delete(l.owned, owner)
	delete(l.doubted, owner)
}
