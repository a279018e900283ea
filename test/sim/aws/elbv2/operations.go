package elbv2

type operation struct {
	write bool
	run   func(*call) (any, error)
}

func operations() map[string]operation {
	return map[string]operation{
		"AddListenerCertificates":        {true, addCertificates},
		"AddTags":                        {true, addTags},
		"CreateListener":                 {true, createListener},
		"CreateLoadBalancer":             {true, createLoadBalancer},
		"CreateTargetGroup":              {true, createTargetGroup},
		"DeleteListener":                 {true, deleteListener},
		"DeleteLoadBalancer":             {true, deleteLoadBalancer},
		"DeleteTargetGroup":              {true, deleteTargetGroup},
		"DeregisterTargets":              {true, deregisterTargets},
		"DescribeAccountLimits":          {false, describeLimits},
		"DescribeCapacityReservation":    {false, describeCapacity},
		"DescribeListenerAttributes":     {false, describeListenerAttributes},
		"DescribeListenerCertificates":   {false, describeCertificates},
		"DescribeListeners":              {false, describeListeners},
		"DescribeLoadBalancerAttributes": {false, describeLoadBalancerAttributes},
		"DescribeLoadBalancers":          {false, describeLoadBalancers},
		"DescribeRules":                  {false, describeRules},
		"DescribeTags":                   {false, describeTags},
		"DescribeTargetGroupAttributes":  {false, describeTargetGroupAttributes},
		"DescribeTargetGroups":           {false, describeTargetGroups},
		"DescribeTargetHealth":           {false, describeTargetHealth},
		"ModifyCapacityReservation":      {true, modifyCapacity},
		"ModifyListener":                 {true, modifyListener},
		"ModifyListenerAttributes":       {true, modifyListenerAttributes},
		"ModifyLoadBalancerAttributes":   {true, modifyLoadBalancerAttributes},
		"ModifyTargetGroup":              {true, modifyTargetGroup},
		"ModifyTargetGroupAttributes":    {true, modifyTargetGroupAttributes},
		"RegisterTargets":                {true, registerTargets},
		"RemoveListenerCertificates":     {true, removeCertificates},
		"RemoveTags":                     {true, removeTags},
		"SetIpAddressType":               {true, setIPAddressType},
		"SetSecurityGroups":              {true, setSecurityGroups},
		"SetSubnets":                     {true, setSubnets},
	}
}
