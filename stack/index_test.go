package stack_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cputime"
)

// plainStack does what a stack does by looking at each resource every time.
type plainStack []stack.Resource

func (p plainStack) get(k stack.Key) (stack.Resource, bool) {
	for _, r := range p {
		if r.Key == k {
			return r, true
		}
	}
	return stack.Resource{}, false
}

func (p plainStack) put(r stack.Resource) plainStack {
	for i := range p {
		if p[i].Key == r.Key {
			p[i] = r
			return p
		}
	}
	return append(p, r)
}

func (p plainStack) drop(k stack.Key) plainStack {
	gone := map[stack.Key]bool{k: true}
	for range p {
		for _, r := range p {
			if r.In != (stack.Key{}) && gone[r.In] && r.Ownership != stack.Shared {
				gone[r.Key] = true
			}
		}
	}
	return slices.DeleteFunc(p, func(r stack.Resource) bool { return gone[r.Key] })
}

// TestLookups does many random things to a stack, also by hand, and looks every
// key up after each.
func TestLookups(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		name := func() stack.Key { return newKey("k", strconv.Itoa(random.IntN(40))) }
		s, plain := &stack.Stack{}, plainStack{}
		for step := range 300 {
			k := name()
			r := stack.Resource{Key: k, ID: strconv.Itoa(step), Ownership: stack.Ownership(random.IntN(2))}
			if random.IntN(4) == 0 {
				r.In = name()
			}
			switch random.IntN(12) {
			case 0, 1, 2:
				s.Drop(k)
				plain = plain.drop(k)
			case 3:
				s.Sort()
				slices.SortStableFunc(plain, func(a, b stack.Resource) int { return a.Key.Compare(b.Key) })
			case 4:
				if _, there := plain.get(k); !there {
					s.Resources, plain = append(s.Resources, r), append(plain, r)
				}
			case 5:
				slices.Reverse(s.Resources)
				slices.Reverse(plain)
			case 6:
				s, plain = &stack.Stack{Resources: s.Resources}, slices.Clone(plain)
			case 7:
				s, plain = s.Clone(), slices.Clone(plain)
			default:
				s.Put(r)
				plain = plain.put(r)
			}
			for i := range 40 {
				k := newKey("k", strconv.Itoa(i))
				want, there := plain.get(k)
				if got, ok := s.Get(k); ok != there || got != want {
					t.Fatalf("seed %d, step %d: %s: got %v %v, want %v %v", seed, step, k, got, ok, want, there)
				}
			}
			if !slices.Equal(plain, s.Resources) {
				t.Fatalf("seed %d, step %d: got %v, want %v", seed, step, s.Resources, plain)
			}
		}
	}
}

func TestLookupsAtTheSameTime(t *testing.T) {
	s := &stack.Stack{Resources: manyResources(100)}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 100 {
				if r, ok := s.Get(numberedKey(i)); !ok || r.Key != numberedKey(i) {
					t.Errorf("%s: got %v %v", numberedKey(i), r, ok)
				}
			}
		})
	}
	all.Wait()
}

func numberedKey(i int) stack.Key { return newKey("rule", strconv.Itoa(i)) }

func manyResources(n int) []stack.Resource {
	out := make([]stack.Resource, n)
	for i := range out {
		out[i] = stack.Resource{Key: numberedKey(i), In: newKey("group", "")}
	}
	return out
}

// TestGrowth: what is done to 64 times as many resources takes about as long as doing it
// 64 times, and not 64 times as long as that. The bound between is far from both: the caches
// of a processor that others use make the larger work several times slower.
func TestGrowth(t *testing.T) {
	const small, factor, bound = 500, 64, 24
	for name, work := range map[string]func(n int){
		"a stack that is put together": func(n int) {
			s := &stack.Stack{}
			for _, r := range manyResources(n) {
				s.Put(r)
			}
		},
		"look-ups in a literal": func(n int) {
			s := &stack.Stack{Resources: manyResources(n)}
			for i := range n {
				s.Get(numberedKey(i))
				s.Get(newKey("none", strconv.Itoa(i)))
			}
		},
		"made by a run": func(n int) {
			s := &stack.Stack{}
			for _, r := range manyResources(n) {
				s.Drop(r.Key)
				s.Put(r)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			few := cputime.Least(t, func() {
				for range factor {
					work(small)
				}
			})
			if lots := cputime.Least(t, func() { work(small * factor) }); lots > bound*few {
				t.Errorf("%d times %d resources: %s, at once: %s", factor, small, few, lots)
			}
		})
	}
}
