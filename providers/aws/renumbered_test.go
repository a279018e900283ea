package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRenumbered: old ports are deleted only once the new ones exist.
func TestRenumbered(t *testing.T) {
	setCredentials(t)
	nlb := map[string]string{"aws-load-balancer-type": "nlb"}
	tls := map[string]string{"aws-load-balancer-ssl-cert": certificate, "aws-load-balancer-ssl-ports": "https"}
	managed := newSubject("\n[Global]\nNLBSecurityGroupMode = Managed\n")
	props.Renumbered(t, newSubject(""), serviceCase("clb", nil, nil))
	props.Renumbered(t, newSubject(""), serviceCase("clb-tls", tls, nil))
	props.Renumbered(t, newSubject(""), serviceCase("nlb", nlb, nil))
	props.Renumbered(t, managed, serviceCase("nlb-managed", nlb, nil))
	props.Renumbered(t, freshController, controllerService("lbc", nil, nil))
	props.Renumbered(t, freshController, inGroup(controllerService("group", nil, nil), "front"))
}
