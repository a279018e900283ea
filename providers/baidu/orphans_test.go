package baidu_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestOrphans: the load balancer of a lost Service is listed with its listeners.
func TestOrphans(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		lost := props.Service("web", nil).Service
		onBaidu().Orphans(t, withNodes(3), lost, string(lost.UID), 9)
	})
}
