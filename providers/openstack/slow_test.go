package openstack_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-lb/berth/test/props"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// manyServices returns a hundred Services, each with ports and node ports of its own.
func manyServices() []props.Case {
	var many []props.Case
	for i := range 100 {
		many = append(many, props.Service(fmt.Sprintf("web-%d", i), prefixedKeys("enable-health-monitor", "true")))
	}
	return many
}

// TestHundredWhileBusy: with load balancers that stay busy for half a second after each
// change, a hundred Services at once are served and deleted without a single refusal.
func TestHundredWhileBusy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{Busy: 500 * time.Millisecond}, "")
		props.Together(t, w, manyServices())
		refused, calls := 0, w.Control().Journal.Entries()
		for _, e := range calls {
			if e.Status >= 400 {
				refused++
				t.Errorf("%s %s was refused: %d %s", e.Service, e.Operation, e.Status, e.Code)
			}
		}
		t.Logf("a hundred Services, whose load balancers are busy for 500 ms after each change: %d of %d calls are refused", refused, len(calls))
	})
}

// TestHundredSlowOnes: where each change takes 8 s, a hundred Services are made, changed and
// deleted in the time of the longest chain of changes that one of them needs, not of
// all: a creation and a deletion are one change each.
func TestHundredSlowOnes(t *testing.T) {
	const takes = 8 * time.Second
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{Busy: takes}, "")
		began := time.Now()
		props.Together(t, w, manyServices())
		took, most := time.Since(began), 2*(takes+5*time.Second)
		t.Logf("a hundred Services, whose load balancers are busy for %v after each change, are made and deleted in %v", takes, took)
		if took < 2*takes || took > most {
			t.Errorf("a hundred Services are made and deleted in %v, want at most %v", took, most)
		}
	})
}
