package ec2

// newOperations returns every call of this simulator, by the name on the wire: the
// calls in the journals of Berth and of the official controllers, and the calls of
// their tests on machines.
func newOperations() map[string]operation {
	return map[string]operation{
		"AuthorizeSecurityGroupIngress": writeOperation(authorizeIngress),
		"CreateSecurityGroup":           writeOperation(createSecurityGroup),
		"CreateTags":                    writeOperation(createTags),
		"DeleteSecurityGroup":           releaseOperation(deleteSecurityGroup, groupUsers),
		"DeleteTags":                    writeOperation(deleteTags),
		"DescribeAddresses":             {run: describeAddresses, users: everyAddressUser},
		"DescribeAvailabilityZones":     readOperation(describeAvailabilityZones),
		"DescribeInstances":             readOperation(describeInstances),
		"DescribeNetworkInterfaces":     readOperation(describeNetworkInterfaces),
		"DescribeRouteTables":           readOperation(describeRouteTables),
		"DescribeSecurityGroupRules":    readOperation(describeSecurityGroupRules),
		"DescribeSecurityGroups":        readOperation(describeSecurityGroups),
		"DescribeSubnets":               readOperation(describeSubnets),
		"DescribeVpcs":                  readOperation(describeVpcs),
		"RevokeSecurityGroupIngress":    writeOperation(revokeIngress),
		"StopInstances":                 writeOperation(changeState("stopping", "stopped", []string{"running", "pending"})),
		"TerminateInstances":            writeOperation(changeState("shutting-down", "terminated", []string{"running", "stopped", "pending"})),
	}
}
