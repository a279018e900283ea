package elbv2

type operation struct {
	write bool
	run   func(*call) (any, error)
}

func operations() map[string]operation {
	return map[string]operation{
		"AddListenerCertificates":        {true, addCertificates},
		"AddTags":                        {true, addTags},
		"AddTrustStoreRevocations":       {true, addRevocations},
		"CreateListener":                 {true, createListener},
		"CreateLoadBalancer":             {true, createLoadBalancer},
		"CreateRule":                     {true, createRule},
		"CreateTargetGroup":              {true, createTargetGroup},
		"CreateTrustStore":               {true, createTrustStore},
		"DeleteListener":                 {true, deleteListener},
		"DeleteLoadBalancer":             {true, deleteLoadBalancer},
		"DeleteRule":                     {true, deleteRule},
		"DeleteTargetGroup":              {true, deleteTargetGroup},
		"DeleteTrustStore":               {true, deleteTrustStore},
		"DeregisterTargets":              {true, deregisterTargets},
		"DescribeAccountLimits":          {false, describeAccountLimits},
		"DescribeCapacityReservation":    {false, describeCapacity},
		"DescribeListenerAttributes":     {false, describeListenerAttributes},
		"DescribeListenerCertificates":   {false, describeCertificates},
		"DescribeListeners":              {false, describeListeners},
		"DescribeLoadBalancerAttributes": {false, describeLoadBalancerAttributes},
		"DescribeLoadBalancers":          {false, describeLoadBalancers},
		"DescribeRules":                  {false, describeRules},
		"DescribeSSLPolicies":            {false, describeSSLPolicies},
		"DescribeTags":                   {false, describeTags},
		"DescribeTargetGroupAttributes":  {false, describeTargetGroupAttributes},
		"DescribeTargetGroups":           {false, describeTargetGroups},
		"DescribeTargetHealth":           {false, describeTargetHealth},
		"DescribeTrustStoreAssociations": {false, describeAssociations},
		"DescribeTrustStoreRevocations":  {false, describeRevocations},
		"DescribeTrustStores":            {false, describeTrustStores},
		"ModifyCapacityReservation":      {true, modifyCapacity},
		"ModifyIpPools":                  {true, modifyIPPools},
		"ModifyListener":                 {true, modifyListener},
		"ModifyListenerAttributes":       {true, modifyListenerAttributes},
		"ModifyLoadBalancerAttributes":   {true, modifyLoadBalancerAttributes},
		"ModifyRule":                     {true, modifyRule},
		"ModifyTargetGroup":              {true, modifyTargetGroup},
		"ModifyTargetGroupAttributes":    {true, modifyTargetGroupAttributes},
		"ModifyTrustStore":               {true, modifyTrustStore},
		"RegisterTargets":                {true, registerTargets},
		"RemoveListenerCertificates":     {true, removeCertificates},
		"RemoveTags":                     {true, removeTags},
		"RemoveTrustStoreRevocations":    {true, removeRevocations},
		"SetIpAddressType":               {true, setIPAddressType},
		"SetRulePriorities":              {true, setRulePriorities},
		"SetSecurityGroups":              {true, setSecurityGroups},
		"SetSubnets":                     {true, setSubnets},
	}
}
