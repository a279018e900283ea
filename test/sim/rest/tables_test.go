package rest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-lb/berth/test/sim/rest"
)

// TestTables: after any mix of changes what has a text is what one finds by looking at
// all, in the order of making; and a copy keeps what it had.
func TestTables(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tables := rest.Tables{}
	var copied rest.Tables
	var before string
	for round := range 3000 {
		id, owner := fmt.Sprint(random.IntN(60)), fmt.Sprint(random.IntN(5))
		switch random.IntN(4) {
		case 0, 1:
			tables.Put("parts", rest.Object{"id": id, "owner": owner})
		case 2:
			tables.Change("parts", id, rest.Object{"owner": owner})
		case 3:
			tables.Drop("parts", id)
		}
		if round%100 == 0 {
			if copied != nil && fmt.Sprint(copied.Dump()) != before {
				t.Fatalf("round %d: the copy has changed", round)
			}
			copied, before = tables.Clone(), fmt.Sprint(tables.Dump())
		}
		want := fmt.Sprint(tables.All("parts", rest.Where("owner", owner)))
		if got := fmt.Sprint(tables.Having("parts", "owner", owner)); got != want {
			t.Fatalf("round %d: owner %s: %s, want %s", round, owner, got, want)
		}
		if got := tables.Clone().Having("parts", "owner", owner); fmt.Sprint(got) != want {
			t.Fatalf("round %d: owner %s in a copy: %s, want %s", round, owner, got, want)
		}
	}
	if all := tables.All("parts", nil); len(all) == 0 || !slices.ContainsFunc(all, rest.Where("owner", "1")) {
		t.Errorf("%d parts are left", len(all))
	}
}
