package ledger

import "github.com/berth-lb/berth/stack"

// Hold replaces the shared entries that the owner was found to have. They count as wanted
// by the owner for all owners without such evidence, until the owner is found without
// them or leaves. So an entry that the owner does not want any more, but has not replaced
// yet, is not removed by another owner's run. Two owners with evidence do not wait for
// each other.
func (l *Ledger) Hold(owner stack.Owner, found []stack.Resource) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(owner)
	var ids []entryID
	for _, r := range found {
		if r.Ownership != stack.Shared {
			continue
		}
		id := entryID{r.In, r.Key}
		ids = append(ids, id)
		if l.holders[id] == nil {
			l.holders[id] = map[stack.Owner]bool{}
		}
		l.holders[id][owner] = true
	}
	if len(ids) > 0 {
		l.held[owner] = ids
	}
}

// release ends what the owner holds.
func (l *Ledger) release(owner stack.Owner) {
	for _, id := range l.held[owner] {
		if delete(l.holders[id], owner); len(l.holders[id]) == 0 {
			delete(l.holders, id)
		}
	}
	delete(l.held, owner)
}
