package observed

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
)

type machines struct {
	Port int32
	IDs  []string
}

func makeIDs(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("i-%d", i))
	}
	return out
}

func stackOf(port int32, ids []string) *stack.Stack {
	s := &stack.Stack{}
	s.Put(stack.Resource{Key: stack.Key{Kind: "machines"}, Spec: machines{port, ids}})
	return s
}

func listOf(t *testing.T, s *stack.Stack) []string {
	t.Helper()
	spec, ok := s.Resources[0].Spec.(machines)
	if !ok {
		t.Fatalf("spec: got %T", s.Resources[0].Spec)
	}
	return spec.IDs
}

// TestLongListsAreShared: equal lists of many Services are one list, and nothing
// else about them changes.
func TestLongListsAreShared(t *testing.T) {
	var l lists
	first, second, short, other := stackOf(1, makeIDs(100)), stackOf(2, makeIDs(100)), stackOf(3, makeIDs(3)), stackOf(4, append(makeIDs(99), "i-x"))
	for _, s := range []*stack.Stack{first, second, short, other} {
		l.share(s)
	}
	if &listOf(t, first)[0] != &listOf(t, second)[0] {
		t.Error("equal lists are not shared")
	}
	for port, s := range map[int32]*stack.Stack{1: first, 2: second, 3: short, 4: other} {
		want := map[int32][]string{1: makeIDs(100), 2: makeIDs(100), 3: makeIDs(3), 4: append(makeIDs(99), "i-x")}[port]
		if diff := cmp.Diff(machines{port, want}, s.Resources[0].Spec); diff != "" {
			t.Errorf("%d (-want +got):\n%s", port, diff)
		}
	}
}

// TestListsAreForgotten: a list without use for long is dropped.
func TestListsAreForgotten(t *testing.T) {
	var l lists
	for n := range 3 * rememberedLists {
		l.share(stackOf(1, makeIDs(longList+n)))
	}
	if got := len(l.recent); got != rememberedLists {
		t.Errorf("remembered: got %d, want %d", got, rememberedLists)
	}
}
