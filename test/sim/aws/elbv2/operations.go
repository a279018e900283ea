package elbv2

import "github.com/berth-lb/berth/test/sim/aws/elb/lbkit"

func newOperations() map[string]lbkit.Op[*call] {
	return map[string]lbkit.Op[*call]{
		"AddListenerCertificates":        lbkit.On(addCertificates),
		"AddTags":                        lbkit.On(addTags),
		"CreateListener":                 lbkit.On(createListener),
		"CreateLoadBalancer":             lbkit.Plain(createLoadBalancer),
		"CreateTargetGroup":              lbkit.Plain(createTargetGroup),
		"DeleteListener":                 lbkit.On(deleteListener),
		"DeleteLoadBalancer":             lbkit.Plain(deleteLoadBalancer),
		"DeleteTargetGroup":              lbkit.Plain(deleteTargetGroup),
		"DeregisterTargets":              lbkit.On(deregisterTargets),
		"DescribeAccountLimits":          lbkit.Plain(describeLimits),
		"DescribeCapacityReservation":    lbkit.On(func(_ *call, lb *loadBalancer, _ ofBalancer) (any, error) { return lb.capacity(), nil }),
		"DescribeListenerAttributes":     lbkit.On(func(_ *call, l *listener, _ ofListener) (any, error) { return listAttributes(l) }),
		"DescribeListenerCertificates":   lbkit.On(describeCertificates),
		"DescribeListeners":              lbkit.Plain(describeListeners),
		"DescribeLoadBalancerAttributes": lbkit.On(func(_ *call, lb *loadBalancer, _ ofBalancer) (any, error) { return listAttributes(lb) }),
		"DescribeLoadBalancers":          lbkit.Plain(describeLoadBalancers),
		"DescribeRules":                  lbkit.On(describeRules),
		"DescribeTags":                   lbkit.On(describeTags),
		"DescribeTargetGroupAttributes":  lbkit.On(func(_ *call, tg *targetGroup, _ ofGroup) (any, error) { return listAttributes(tg) }),
		"DescribeTargetGroups":           lbkit.Plain(describeTargetGroups),
		"DescribeTargetHealth":           lbkit.On(describeTargetHealth),
		"ModifyCapacityReservation":      lbkit.On(modifyCapacity),
		"ModifyListener":                 lbkit.On(modifyListener),
		"ModifyListenerAttributes": lbkit.On(func(_ *call, l *listener, in changeOfListener) (any, error) {
			return changeAttributes(l, in.Attributes)
		}),
		"ModifyLoadBalancerAttributes": lbkit.On(modifyLoadBalancerAttributes),
		"ModifyTargetGroup":            lbkit.On(modifyTargetGroup),
		"ModifyTargetGroupAttributes":  lbkit.On(modifyTargetGroupAttributes),
		"RegisterTargets":              lbkit.On(registerTargets),
		"RemoveListenerCertificates":   lbkit.On(removeCertificates),
		"RemoveTags":                   lbkit.On(removeTags),
		"SetIpAddressType":             lbkit.On(setIPAddressType),
		"SetSecurityGroups":            lbkit.On(setSecurityGroups),
		"SetSubnets":                   lbkit.On(setSubnets),
	}
}
