package ec2

// newOperations is every call that this simulator knows, by the name on the wire:
// what the journals of Berth and of the official controllers have, and what
// their tests do to machines.
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
