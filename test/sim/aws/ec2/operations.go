package ec2

// newOperations returns every call of this simulator, by the name on the wire: the
// calls in the journals of Berth and of the official controllers, and the calls of
// their tests on machines.
func newOperations() map[string]operation {
	return map[string]operation{
		"AuthorizeSecurityGroupIngress": {run: authorizeIngress},
		"CreateSecurityGroup":           {run: createSecurityGroup},
		"CreateTags":                    {run: createTags},
		"DeleteSecurityGroup":           {run: deleteSecurityGroup, users: groupUsers},
		"DeleteTags":                    {run: deleteTags},
		"DescribeAddresses":             {run: describeAddresses, users: everyAddressUser},
		"DescribeAvailabilityZones":     {run: describeAvailabilityZones},
		"DescribeInstances":             {run: describeInstances},
		"DescribeNetworkInterfaces":     {run: describeNetworkInterfaces},
		"DescribeRouteTables":           {run: describeRouteTables},
		"DescribeSecurityGroupRules":    {run: describeSecurityGroupRules},
		"DescribeSecurityGroups":        {run: describeSecurityGroups},
		"DescribeSubnets":               {run: describeSubnets},
		"DescribeVpcs":                  {run: describeVpcs},
		"RevokeSecurityGroupIngress":    {run: revokeIngress},
		"StopInstances":                 {run: changeState("stopping", "stopped", []string{"running", "pending"})},
		"TerminateInstances":            {run: changeState("shutting-down", "terminated", []string{"running", "stopped", "pending"})},
	}
}
