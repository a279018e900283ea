package conform

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/test/conform/kit"
)

// oneZone is the configuration with one zone of nodes, the one with the fewest
// calls for a load balancer, and with network tags that are found at the nodes.
const oneZone = "one-zone"

func TestConform(t *testing.T) {
	results := &kit.Table{}
	defer results.Print(t)
	t.Run("coverage", func(t *testing.T) { kit.Coverage(t, model.Annotations(), isUnread) })
	t.Run("beside/stock", func(t *testing.T) {
		suite.Beside(t, "stock", []string{"tp-plain", "tp-local", "tp-ranges", "ilb-plain", "ilb-local"}, results)
	})
	for _, config := range []string{"stock", oneZone} {
		t.Run("take-over/"+config, func(t *testing.T) { suite.TakeOver(t, config, results) })
	}
	names := []string{"tp-local", "ilb-plain"}
	t.Run("half-built", func(t *testing.T) { suite.HalfBuilt(t, oneZone, names, results) })
	t.Run("half-deleted", func(t *testing.T) { suite.HalfDeleted(t, oneZone, names, results) })
}

// isUnread reports which annotations the official service controller does not read:
// those of kinds that it does not create, the ones that opt in to these kinds, and the
// ones that are only written.
func isUnread(row annotations.Row) bool {
	if slices.Contains([]string{"Written by the controller", "Network endpoint groups of others"}, row.Group) || row.Key == "cloud.google.com/l4-rbs" {
		return true
	}
	return !slices.ContainsFunc(row.Kinds, func(kind string) bool { return kind == "target-pool" || kind == "ilb-ig" })
}
