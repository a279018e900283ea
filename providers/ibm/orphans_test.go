package ibm_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestOrphans: the load balancer of a lost Service is listed with its pools and listeners, also
// under the name that Services of a class have.
func TestOrphans(t *testing.T) {
	lost, class := props.Service("web", nil).Service, "berth-lb.io/berth"
	lost.Spec.LoadBalancerClass = &class
	onIBM().Orphans(t, withNodes(3), lost, "5a0c1f6e000040008000000000000001", 5)
}
