package nodeports

import (
	"slices"
	"sync"
)

// Interner computes one NodeSet per distinct filter and node change, for any
// number of Services, and sets with the same members share them: thousands
// of Services on thousands of nodes cost one list. It is safe for concurrent
// use. Create it with NewInterner.
type Interner struct {
	mu    sync.Mutex
	nodes []Node
	sets  map[string]*interned // by Filter.Key
	byDig map[string]*members
}

type interned struct {
	set   NodeSet
	fresh bool // computed from the present nodes
	asked bool // used since the last change of nodes
}

// NewInterner returns an Interner of a cluster without nodes.
func NewInterner() *Interner {
	return &Interner{sets: map[string]*interned{}, byDig: map[string]*members{}}
}

// Update replaces the nodes. Sets are computed again on demand; a filter without use
// between two updates is forgotten.
func (in *Interner) Update(nodes []Node) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.nodes = slices.Clone(nodes)
	for key, s := range in.sets {
		if !s.asked {
			delete(in.sets, key)
			continue
		}
		s.fresh, s.asked = false, false
	}
	in.forget()
}

// Select is Select over the present nodes.
func (in *Interner) Select(f Filter) NodeSet {
	in.mu.Lock()
	defer in.mu.Unlock()
	key := f.Key()
	s := in.sets[key]
	if s == nil {
		s = &interned{}
		in.sets[key] = s
	}
	s.asked = true
	if s.fresh {
		return s.set
	}
	s.fresh = true
	s.set = Select(in.nodes, f)
	if known := in.byDig[s.set.members.digest]; known != nil {
		s.set.members = known
	} else {
		in.byDig[s.set.members.digest] = s.set.members
	}
	return s.set
}

// forget drops members that no cached set uses any more.
func (in *Interner) forget() {
	used := map[string]bool{}
	for _, s := range in.sets {
		used[s.set.members.digest] = true
	}
	for d := range in.byDig {
		if !used[d] {
			delete(in.byDig, d)
		}
	}
}
