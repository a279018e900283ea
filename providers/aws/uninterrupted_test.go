package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestUninterrupted: clients of a changed Service are served whatever AWS refuses, also where
// nothing waits for the status, as in a plugin.
func TestUninterrupted(t *testing.T) {
	setCredentials(t)
	keys := func(key, value string) map[string]string { return map[string]string{key: value} }
	clb, nlb := serviceCase("clb", nil, nil), serviceCase("nlb", keys("aws-load-balancer-type", "nlb"), nil)
	lbc, group := controllerService("lbc", nil, nil), inGroup(controllerService("group", nil, nil), "front")
	tls := serviceCase("clb-tls", map[string]string{"aws-load-balancer-ssl-cert": certificate, "aws-load-balancer-ssl-ports": "https"}, nil)
	managed := newSubject("\n[Global]\nNLBSecurityGroupMode = Managed\n")
	props.Uninterrupted(t, newSubject(""), clb, nlb)
	props.Uninterrupted(t, newSubject(""), nlb, clb)
	props.Uninterrupted(t, newSubject(""), clb, serviceCase("clb-internal", keys("aws-load-balancer-internal", "true"), nil))
	props.Uninterrupted(t, freshController, lbc, controllerService("public", keys("aws-load-balancer-scheme", "internet-facing"), nil))
	props.Uninterrupted(t, freshController, lbc, group)
	props.Uninterrupted(t, freshController, group, inGroup(controllerService("back", nil, nil), "back"))
	for _, c := range []props.Case{clb, tls, nlb} {
		props.Uninterrupted(t, newSubject(""), c, props.Renumbered(c))
	}
	props.Uninterrupted(t, managed, props.Case{Name: "nlb-managed", Service: nlb.Service}, props.Renumbered(nlb))
	props.Uninterrupted(t, freshController, lbc, props.Renumbered(lbc))
	props.Uninterrupted(t, freshController, group, props.Renumbered(group))
}
