package elbv2

import "github.com/berth-lb/berth/test/sim/aws/elb/lbkit"

func newOperations() lbkit.Operations[*call] {
	return lbkit.Operations[*call]{
		Reads: map[string]func(*call) (any, error){
			"DescribeAccountLimits":          describeLimits,
			"DescribeCapacityReservation":    describeCapacity,
			"DescribeListenerAttributes":     describeListenerAttributes,
			"DescribeListenerCertificates":   describeCertificates,
			"DescribeListeners":              describeListeners,
			"DescribeLoadBalancerAttributes": describeLoadBalancerAttributes,
			"DescribeLoadBalancers":          describeLoadBalancers,
			"DescribeRules":                  describeRules,
			"DescribeTags":                   describeTags,
			"DescribeTargetGroupAttributes":  describeTargetGroupAttributes,
			"DescribeTargetGroups":           describeTargetGroups,
			"DescribeTargetHealth":           describeTargetHealth,
		},
		Writes: map[string]func(*call) (any, error){
			"AddListenerCertificates":      addCertificates,
			"AddTags":                      addTags,
			"CreateListener":               createListener,
			"CreateLoadBalancer":           createLoadBalancer,
			"CreateTargetGroup":            createTargetGroup,
			"DeleteListener":               deleteListener,
			"DeleteLoadBalancer":           deleteLoadBalancer,
			"DeleteTargetGroup":            deleteTargetGroup,
			"DeregisterTargets":            deregisterTargets,
			"ModifyCapacityReservation":    modifyCapacity,
			"ModifyListener":               modifyListener,
			"ModifyListenerAttributes":     modifyListenerAttributes,
			"ModifyLoadBalancerAttributes": modifyLoadBalancerAttributes,
			"ModifyTargetGroup":            modifyTargetGroup,
			"ModifyTargetGroupAttributes":  modifyTargetGroupAttributes,
			"RegisterTargets":              registerTargets,
			"RemoveListenerCertificates":   removeCertificates,
			"RemoveTags":                   removeTags,
			"SetIpAddressType":             setIPAddressType,
			"SetSecurityGroups":            setSecurityGroups,
			"SetSubnets":                   setSubnets,
		},
	}
}
