package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestMistaken: what annotations name and AWS does not have takes nothing away.
func TestMistaken(t *testing.T) {
	credentials(t)
	const subnet, address = "subnet-0123456789abcdef0", "eipalloc-0123456789abcdef0"
	const subnets, addresses = prefix + "aws-load-balancer-subnets", prefix + "aws-load-balancer-eip-allocations"
	nlb, lbc := service("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil), controllerService("lbc", nil, nil)
	props.Mistaken(t, fresh(""), service("clb", nil, nil), subnets, subnet)
	props.Mistaken(t, fresh(""), nlb, subnets, subnet)
	props.Unheeded(t, fresh(""), nlb, addresses, address)
	for _, value := range []string{subnet, "nowhere"} {
		props.Mistaken(t, freshController, lbc, subnets, value)
	}
	for _, value := range []string{address, "nowhere"} {
		props.Mistaken(t, freshController, lbc, addresses, value)
	}
	for _, key := range []string{"security-groups", "ssl-cert"} {
		props.Mistaken(t, freshController, lbc, prefix+"aws-load-balancer-"+key, "nowhere")
	}
}
