package stack

import "slices"

const (
	// scanned is how many resources are rather looked through than indexed.
	scanned = 8
	// maxGaps is how many resources may be taken out before the index is made anew.
	maxGaps = 64
)

// index says where in a stack the resources are, so that thousands of them are
// built, compared and run in time that grows as their number does. Once it is in
// its stack, only the stack's writing methods change it.
type index struct {
	// at is where a resource was when it was indexed. It is there or, since
	// others in front of it were taken out, at most gaps places before.
	at    map[Key]int
	parts map[Key]int // how many resources go with the one of the key
	gaps  int
	// What the index was made of: another slice, another length or another last
	// key means that somebody changed the resources by hand.
	first *Resource
	n     int
}

// find is the place of the resource with the key; -1: there is none.
func (s *Stack) find(k Key) int {
	if s == nil {
		return -1
	}
	if len(s.Resources) <= scanned {
		s.index.Store(nil)
		return slices.IndexFunc(s.Resources, func(r Resource) bool { return r.Key == k })
	}
	known := s.index.Load()
	if !known.covers(s.Resources) {
		known = s.reindex()
	}
	i, there := known.find(s.Resources, k)
	if there && i < 0 { // somebody has sorted them
		i, _ = s.reindex().find(s.Resources, k)
	}
	return i
}

// reindex makes the index anew. Of several who do so at the same time, each
// makes the same one.
func (s *Stack) reindex() *index {
	made := &index{at: make(map[Key]int, len(s.Resources)), parts: map[Key]int{}}
	for i, r := range s.Resources {
		if _, twice := made.at[r.Key]; !twice {
			made.at[r.Key] = i
		}
		made.count(r, 1)
	}
	made.first, made.n = &s.Resources[0], len(s.Resources)
	s.index.Store(made)
	return made
}

// covers tells whether the resources are those that the index was made of, as
// far as can be told without looking at each.
func (x *index) covers(of []Resource) bool {
	if x == nil || x.n != len(of) || x.first != &of[0] {
		return false
	}
	_, last := x.at[of[len(of)-1].Key]
	return last
}

// find finds a resource; -1 with true: it is no more where it was.
func (x *index) find(of []Resource, k Key) (int, bool) {
	at, there := x.at[k]
	for i := min(at, len(of)-1); there && i >= max(0, at-x.gaps); i-- {
		if of[i].Key == k {
			return i, true
		}
	}
	return -1, there
}

// put notes the last resource, which has just been appended.
func (x *index) put(of []Resource) {
	if x == nil {
		return
	}
	x.at[of[len(of)-1].Key] = len(of) - 1 + x.gaps
	x.first, x.n = &of[0], len(of)
}

// drop notes that a resource without parts is taken out.
func (x *index) drop(r Resource) {
	delete(x.at, r.Key)
	x.count(r, -1)
	x.gaps++
	x.n--
	if x.gaps > maxGaps {
		x.n = -1 // to be made anew
	}
}

// count notes that a part of something comes or goes.
func (x *index) count(r Resource, by int) {
	if x != nil && isPart(r) {
		x.parts[r.In] += by
	}
}

// doubled tells whether a key comes more than once.
func (x *index) doubled() bool { return len(x.at) != x.n }

// isPart tells whether a resource goes with the one that it is In.
func isPart(r Resource) bool { return r.In != (Key{}) && r.Ownership != Shared }
