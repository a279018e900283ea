package conform

import (
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/test/conform/kit"
)

func TestConform(t *testing.T) {
	results := &kit.Table{}
	defer results.Print(t)
	t.Run("coverage", func(t *testing.T) { kit.Coverage(t, model.Annotations(), isUnread) })
	for _, config := range []string{"stock", "aks-scale-set", machines, "other-keys", "several"} {
		t.Run("take-over/"+config, func(t *testing.T) { suite.TakeOver(t, config, results) })
	}
	t.Run("beside/aks-scale-set", func(t *testing.T) {
		suite.Beside(t, "aks-scale-set", []string{"pub-plain", "pub-local", "pub-udp", "pub-ranges", "int-plain"}, results)
	})
	names := []string{"pub-dual", "pub-shared-a", "int-link"}
	t.Run("half-built", func(t *testing.T) { suite.HalfBuilt(t, machines, names, results) })
	t.Run("half-deleted", func(t *testing.T) { suite.HalfDeleted(t, machines, names, results) })
}

// machines is the configuration with pools of interfaces of single machines: the
// one with the most calls for a load balancer.
const machines = "machines"

// isUnread reports which annotations this release of the official controller does not
// read.
func isUnread(row annotations.Row) bool {
	return row.Key == "service.beta.kubernetes.io/azure-disable-load-balancer-nsg-rule"
}
