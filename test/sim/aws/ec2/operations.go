package ec2

// operations is every call that this simulator knows, by the name on the wire:
// what the journals of Berth and of the official controllers have, and what
// their tests do to machines.
func operations() map[string]operation {
	return map[string]operation{
		"AuthorizeSecurityGroupIngress": write(authorizeIngress),
		"CreateSecurityGroup":           write(createSecurityGroup),
		"CreateTags":                    write(createTags),
		"DeleteSecurityGroup":           release(deleteSecurityGroup, groupUsers),
		"DeleteTags":                    write(deleteTags),
		"DescribeAddresses":             {run: describeAddresses, users: everyAddressUser},
		"DescribeAvailabilityZones":     read(describeAvailabilityZones),
		"DescribeInstances":             read(describeInstances),
		"DescribeNetworkInterfaces":     read(describeNetworkInterfaces),
		"DescribeRouteTables":           read(describeRouteTables),
		"DescribeSecurityGroupRules":    read(describeSecurityGroupRules),
		"DescribeSecurityGroups":        read(describeSecurityGroups),
		"DescribeSubnets":               read(describeSubnets),
		"DescribeVpcs":                  read(describeVpcs),
		"RevokeSecurityGroupIngress":    write(revokeIngress),
		"StopInstances":                 write(transition("stopping", "stopped", []string{"running", "pending"})),
		"TerminateInstances":            write(transition("shutting-down", "terminated", []string{"running", "stopped", "pending"})),
	}
}
