package alibaba_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestOrphans: the load balancer of a lost Service is listed; its parts are deleted with it.
func TestOrphans(t *testing.T) {
	onAlibaba().Orphans(t, withNodes(3), props.Service("web", nil).Service, "5a0c1f6e000040008000000000000001"[:31], 1)
}
