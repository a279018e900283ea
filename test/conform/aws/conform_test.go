package conform

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/test/conform/kit"
)

// isUnread reports which annotations the official controller does not read: the ones
// that only work on load balancers of the other controller of AWS.
func isUnread(row annotations.Row) bool {
	forms := row.Variants
	if len(forms) == 0 {
		forms = []annotations.Facts{row.Facts}
	}
	read := slices.ContainsFunc(forms, func(f annotations.Facts) bool {
		return f.Support == annotations.Works && slices.ContainsFunc(f.Kinds, func(kind string) bool { return kind != model.LBC })
	})
	return !read || row.Key == "service.beta.kubernetes.io/aws-load-balancer-scheme"
}

func TestConform(t *testing.T) {
	results := &kit.Table{}
	defer results.Print(t)
	t.Run("coverage", func(t *testing.T) {
		kit.Coverage(t, model.Annotations(), isUnread)
	})
	t.Run("beside/stock", func(t *testing.T) {
		suite.Beside(t, "stock", []string{"clb-plain", "clb-local", "clb-ranges", "nlb-plain", "nlb-ranges", "nlb-udp"}, results)
	})
	for _, config := range []string{"stock", "managed-groups", "shared-probe", "given-group", "no-node-rules"} {
		t.Run("take-over/"+config, func(t *testing.T) { suite.TakeOver(t, config, results) })
	}
	t.Run("drift", func(t *testing.T) { compareDrift(t, results) })
	t.Run("orphans", func(t *testing.T) { findOrphans(t, results) })
	for config, names := range map[string][]string{"stock": {"clb-tls", "nlb-ranges"}, "managed-groups": {"nlb-ranges"}} {
		t.Run("half-built/"+config, func(t *testing.T) { suite.HalfBuilt(t, config, names, results) })
		t.Run("half-deleted/"+config, func(t *testing.T) { suite.HalfDeleted(t, config, names, results) })
	}
}
