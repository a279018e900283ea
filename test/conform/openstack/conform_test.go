package conform

import (
	"flag"
	"strconv"
	"strings"
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/test/conform/kit"
)

func TestConform(t *testing.T) {
	results := &kit.Table{}
	defer results.Print(t)
	t.Run("coverage", func(t *testing.T) { kit.Coverage(t, model.Annotations(), isUnread) })
	t.Run("beside/stock", func(t *testing.T) {
		suite.Beside(t, "stock", []string{"ext-plain", "ext-ports", "ext-local", "ext-ranges"}, results)
	})
	for _, config := range []string{"stock", "classes", "other-keys", "internal", "ovn", "old-api", "dual", serial} {
		t.Run("take-over/"+config, func(t *testing.T) { suite.TakeOver(t, config, results) })
	}
	for config, names := range map[string][]string{"stock": {"ext-ports", "hm-local"}, serial: {"one-ports", "one-shared"}} {
		t.Run("half-built/"+config, func(t *testing.T) { suite.HalfBuilt(t, config, names, results) })
		t.Run("half-deleted/"+config, func(t *testing.T) { suite.HalfDeleted(t, config, names, results) })
	}
}

var numbers = flag.String("calls", "10", "numbers of Services that TestCalls counts calls for, separated by commas")

// TestCalls counts the calls of both controllers to a cloud whose load balancers are busy
// for a while after every change. The number of polls depends on the machine, so calls
// are printed and compared with the official controller's number; writes are the same
// everywhere.
func TestCalls(t *testing.T) {
	results := &kit.Table{}
	defer results.Print(t)
	for text := range strings.SplitSeq(*numbers, ",") {
		number, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("-calls: %v", err)
		}
		got := suite.Calls(t, "calls", number, results)
		for phase, most := range map[string]float64{"create": 2, "touch": 0, "port": 3, "delnode": 3, "addnode": 3, "delete": 2} {
			if writes := got[phase].Writes; writes > most {
				t.Errorf("%s of %d: %v writes per Service, want at most %v", phase, number, writes, most)
			}
		}
	}
}

// serial is the configuration in which the official controller makes one part after
// the other: the one with the most calls for a load balancer.
const serial = "serial"

// isUnread reports which annotations the official controller only writes.
func isUnread(row annotations.Row) bool {
	return row.Key == "loadbalancer.openstack.org/load-balancer-address"
}
