package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRenumbered: old ports are deleted only once the new ones exist.
func TestRenumbered(t *testing.T) {
	credentials(t)
	nlb := map[string]string{"aws-load-balancer-type": "nlb"}
	tls := map[string]string{"aws-load-balancer-ssl-cert": certificate, "aws-load-balancer-ssl-ports": "https"}
	managed := fresh("\n[Global]\nNLBSecurityGroupMode = Managed\n")
	props.Renumbered(t, fresh(""), service("clb", nil, nil))
	props.Renumbered(t, fresh(""), service("clb-tls", tls, nil))
	props.Renumbered(t, fresh(""), service("nlb", nlb, nil))
	props.Renumbered(t, managed, service("nlb-managed", nlb, nil))
	props.Renumbered(t, freshController, controllerService("lbc", nil, nil))
	props.Renumbered(t, freshController, inGroup(controllerService("group", nil, nil), "front"))
}
