package explore

import (
	"maps"
	"slices"
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestStarts: on every cloud each kind of start brings something into the cloud, and the
// usual life of a Service continues from there as from an empty cloud.
func TestStarts(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(listClouds())) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := listClouds()[name]
			empty := c.fresh(t)
			before, err := props.StateOf(empty.Control)
			if err != nil {
				t.Fatal(err)
			}
			want := []state{halfBuilt, outdated, halfOutdated, doubled}
			if empty.Other != nil {
				want = append(want, foreign)
			}
			found := map[state]bool{}
			for pick := 1; pick <= 60 && len(found) < len(want); pick++ {
				plan := Schedule{{Step: atStart, Pick: pick}}
				kind := startOf(plan, empty).state
				if found[kind] {
					continue
				}
				report := newExplorer(c.fresh).Perform(t, Tales(c.shape, c.other)[0], plan)
				if len(report.Faults) > 0 {
					t.Errorf("%s, start %d:\n%s", kind, pick, report.Tell())
				}
				if report.Began != before {
					found[kind] = true
				}
			}
			for _, kind := range want {
				if !found[kind] {
					t.Errorf("%s: the cloud is as if it were empty", kind)
				}
			}
		})
	}
}
