package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestUninterrupted: clients of a changed Service are served whatever AWS refuses, also where
// nothing waits for the status, as in a plugin. TestLaws has the other kinds of load balancers.
func TestUninterrupted(t *testing.T) {
	setCredentials(t)
	clb, nlb := serviceCase("clb", nil, nil), serviceCase("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil)
	lbc, group := controllerService("lbc", nil, nil), inGroup(controllerService("group", nil, nil), "front")
	managed := newSubject("\n[Global]\nNLBSecurityGroupMode = Managed\n")
	props.Uninterrupted(t, newSubject(""), clb, serviceCase("clb-internal", map[string]string{"aws-load-balancer-internal": "true"}, nil))
	props.Uninterrupted(t, freshController, lbc, controllerService("public", map[string]string{"aws-load-balancer-scheme": "internet-facing"}, nil))
	props.Uninterrupted(t, freshController, lbc, group)
	props.Uninterrupted(t, freshController, group, inGroup(controllerService("back", nil, nil), "back"))
	props.Uninterrupted(t, managed, props.Case{Name: "nlb-managed", Service: nlb.Service}, props.Renumbered(nlb))
	props.Uninterrupted(t, freshController, group, props.Renumbered(group))
}
