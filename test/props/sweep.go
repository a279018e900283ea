package props

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
)

// Sweep deletes what belongs to none of the live Services, as berth orphans does, and
// returns whose it was.
func Sweep(t testing.TB, r *reconcile.Reconciler, live providers.Live) []stack.Owner {
	t.Helper()
	drafts, err := r.Orphans(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	var out []stack.Owner
	for _, d := range drafts {
		out = append(out, d.Owner)
		if res := r.Run(t.Context(), d, Pass); res.Err != nil {
			t.Fatalf("%s: %v", d.Owner, res.Err)
		}
	}
	return out
}
