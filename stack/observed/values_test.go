package observed_test

import (
	"maps"
	"testing"
	"time"

	"github.com/berth-lb/berth/stack/observed"
)

// write is a write to a key, with the values that are known afterwards.
type write struct {
	do   func(v *observed.Values[string, int])
	want map[string]int // after a read of "a" that began before has shown 1
}

// writes are all sorts of writes, after 5 was known of the keys "a" and "b".
var writes = map[string]write{
	"none":             {func(*observed.Values[string, int]) {}, map[string]int{"a": 1, "b": 5}},
	"to another key":   {func(v *observed.Values[string, int]) { v.Set("b", 7) }, map[string]int{"a": 1, "b": 7}},
	"whole":            {func(v *observed.Values[string, int]) { v.Set("a", 7) }, map[string]int{"a": 7, "b": 5}},
	"part":             {func(v *observed.Values[string, int]) { v.Changed("a", func(n int) int { return n + 1 }) }, map[string]int{"a": 6, "b": 5}},
	"part of unknown":  {func(v *observed.Values[string, int]) { v.Forget("a"); v.Changed("a", func(int) int { return 9 }) }, map[string]int{"b": 5}},
	"unknown":          {func(v *observed.Values[string, int]) { v.Forget("a") }, map[string]int{"b": 5}},
	"matching unknown": {func(v *observed.Values[string, int]) { v.ForgetWhere(func(_ string, n int) bool { return n == 5 }) }, map[string]int{}},
}

// TestReadBeforeAWrite: a read that began before a write ended does not change the value of
// the written key, and one that begins afterwards does.
func TestReadBeforeAWrite(t *testing.T) {
	for name, w := range writes {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			v := observed.NewValues[string, int](func() time.Time { return now })
			v.Set("a", 5)
			v.Set("b", 5)
			began := v.Begin("a")
			w.do(v)
			v.Listed("a", began, 1)
			if got := v.All(0); !maps.Equal(got, w.want) {
				t.Errorf("known after the read: %v, want %v", got, w.want)
			}
			v.Listed("a", v.Begin("a"), 2)
			if got, ok := v.Get("a", 0); !ok || got != 2 {
				t.Errorf("after a later read: %d, %v, want 2", got, ok)
			}
		})
	}
}

// TestAgeOfValues: a read is as old as its begin, a whole write as its end, and a part of a value
// does not make the rest younger.
func TestAgeOfValues(t *testing.T) {
	now := time.Unix(1000, 0)
	v := observed.NewValues[string, int](func() time.Time { return now })
	began := v.Begin("read")
	v.Set("part", 1)
	now = now.Add(3 * time.Second)
	v.Listed("read", began, 1)
	v.Changed("part", func(n int) int { return n + 1 })
	v.Set("whole", 1)
	now = now.Add(2 * time.Second)
	if got, want := v.All(5*time.Second), map[string]int{"whole": 1}; !maps.Equal(got, want) {
		t.Errorf("younger than five seconds: %v, want %v", got, want)
	}
	if got, ok := v.Get("part", 6*time.Second); !ok || got != 2 {
		t.Errorf("the changed value: %d, %v, want 2", got, ok)
	}
	if _, ok := v.Get("none", 0); ok {
		t.Error("a key that was never recorded is known")
	}
}
