package stack

import "slices"

const (
	// scanned is the number of resources up to which a scan is used instead of the index.
	scanned = 8
	// maxGaps is the number of removed resources after which the index is rebuilt.
	maxGaps = 64
)

// index maps keys to positions in a stack, so that building, comparing and running
// thousands of resources takes linear time. Once it is stored in its stack, only the
// stack's write methods change it.
type index struct {
	// at is the position of a resource when it was indexed. Removals of earlier
	// resources move it towards the front, by at most gaps positions.
	at    map[Key]int
	parts map[Key]int // number of parts of the resource with the key
	gaps  int
	// The slice of the index: another slice, another length or another last
	// key means that a caller changed the resources directly.
	first *Resource
	n     int
}

// find returns the position of the resource with the key; -1: there is none.
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
	if there && i < 0 { // a caller has sorted them
		i, _ = s.reindex().find(s.Resources, k)
	}
	return i
}

// reindex rebuilds the index. Concurrent calls build equal ones.
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

// covers reports whether the index was built from the resources, as far as that
// can be determined without a scan.
func (x *index) covers(of []Resource) bool {
	if x == nil || x.n != len(of) || x.first != &of[0] {
		return false
	}
	_, last := x.at[of[len(of)-1].Key]
	return last
}

// find returns the position of a resource; -1 with true: it has moved.
func (x *index) find(of []Resource, k Key) (int, bool) {
	at, there := x.at[k]
	for i := min(at, len(of)-1); there && i >= max(0, at-x.gaps); i-- {
		if of[i].Key == k {
			return i, true
		}
	}
	return -1, there
}

// put adds the last resource, which has just been appended.
func (x *index) put(of []Resource) {
	if x == nil {
		return
	}
	x.at[of[len(of)-1].Key] = len(of) - 1 + x.gaps
	x.first, x.n = &of[0], len(of)
}

// drop removes a resource without parts.
func (x *index) drop(r Resource) {
	delete(x.at, r.Key)
	x.count(r, -1)
	x.gaps++
	x.n--
	if x.gaps > maxGaps {
		x.n = -1 // forces a rebuild
	}
}

// count adds to the number of parts of the resource that contains r.
func (x *index) count(r Resource, by int) {
	if x != nil && isPart(r) {
		x.parts[r.In] += by
	}
}

// doubled reports whether several resources have the same key.
func (x *index) doubled() bool { return len(x.at) != x.n }

// isPart reports whether a resource is deleted with the one that it is In.
func isPart(r Resource) bool { return r.In != (Key{}) && r.Ownership != Shared }
