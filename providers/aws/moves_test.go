package aws_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// arn is the identifier of a load balancer or of a target group.
var arn = regexp.MustCompile(`arn:aws:elasticloadbalancing:[^"]+:(?:loadbalancer|targetgroup)/[^"]+`)

// identified are the load balancers and target groups that are there.
func identified(s props.Subject) []string {
	text, err := json.Marshal(s.Control().State())
	if err != nil {
		panic(err) // the state is served as JSON
	}
	found := arn.FindAllString(string(text), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// TestKindsOfNetworkLoadBalancers: a Service that goes from one kind of Network Load Balancer
// to the other one keeps its load balancer, on whose ARN private links hang, and its target
// groups.
func TestKindsOfNetworkLoadBalancers(t *testing.T) {
	credentials(t)
	for name, config := range map[string]string{"without groups": "", "with groups": "\n[Global]\nNLBSecurityGroupMode = Managed\n"} {
		t.Run(name, func(t *testing.T) {
			own := service("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil)
			controllers := service("nlb-lbc", map[string]string{
				"aws-load-balancer-type": "external", "aws-load-balancer-nlb-target-type": "instance", "aws-load-balancer-scheme": "internet-facing",
			}, nil)
			if config == "" {
				controllers.Service.Annotations[prefix+"aws-load-balancer-disable-nlb-sg"] = "true"
			}
			props.Stays(t, controllerWith(config), own, controllers, identified)
			props.Stays(t, controllerWith(config), controllers, own, identified)
		})
	}
}
