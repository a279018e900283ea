package observed

import (
	"reflect"
	"slices"
	"sync"

	"github.com/berth-lb/berth/stack"
)

const (
	// longList is the number of members from which on a list is shared.
	longList = 64
	// rememberedLists is the number of different lists that are kept: more than a cluster has
	// node sets, and too few to need much memory.
	rememberedLists = 64
)

// lists lets snapshots share long lists with the same members, such as the
// machines behind every load balancer: in a large cluster they would be most of
// the memory of the process. It is safe for concurrent use; specs are values and are not
// written to.
type lists struct {
	mu     sync.Mutex
	recent []any // slices, the last used one first
}

// share replaces long lists in the specs of a stack by equal ones that others have.
func (l *lists) share(s *stack.Stack) {
	for i, res := range s.Resources {
		for _, f := range stack.Fields(res.Spec) {
			v := reflect.ValueOf(f.Value)
			if v.Kind() == reflect.Slice && v.Len() >= longList {
				s.Resources[i].Spec = stack.With(s.Resources[i].Spec, f.Name, l.same(f.Value))
			}
		}
	}
}

// same returns the remembered list that equals the given one, which is remembered
// if there is none.
func (l *lists) same(list any) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.recent, func(known any) bool { return equalLists(known, list) })
	if i >= 0 {
		list = l.recent[i]
		l.recent = slices.Delete(l.recent, i, i+1)
	}
	l.recent = slices.Insert(l.recent, 0, list)
	l.recent = l.recent[:min(len(l.recent), rememberedLists)]
	return list
}

// equalLists is deep equality that is quick to see that two lists differ.
func equalLists(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Type() != y.Type() || x.Len() != y.Len() {
		return false
	}
	last := x.Len() - 1
	return reflect.DeepEqual(x.Index(last).Interface(), y.Index(last).Interface()) && reflect.DeepEqual(a, b)
}
