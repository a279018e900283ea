package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestSwitched: a load balancer that cannot be made takes no other one away, also where
// nothing waits for the status, as in a plugin.
func TestSwitched(t *testing.T) {
	setCredentials(t)
	clb, nlb := serviceCase("clb", nil, nil), serviceCase("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil)
	lbc, group := controllerService("lbc", nil, nil), inGroup(controllerService("group", nil, nil), "front")
	props.Switched(t, newSubject(""), clb, nlb)
	props.Switched(t, newSubject(""), nlb, clb)
	props.Switched(t, newSubject(""), clb, serviceCase("clb-internal", map[string]string{"aws-load-balancer-internal": "true"}, nil))
	props.Switched(t, freshController, lbc, controllerService("public", map[string]string{"aws-load-balancer-scheme": "internet-facing"}, nil))
	props.Switched(t, freshController, lbc, group)
	props.Switched(t, freshController, group, inGroup(controllerService("back", nil, nil), "back"))
}
