package ec2

// operations is every call that this simulator knows, by the name on the wire.
func operations() map[string]operation {
	all := securityOperations()
	for _, more := range []map[string]operation{networkOperations(), machineOperations()} {
		for name, op := range more {
			all[name] = op
		}
	}
	return all
}

func securityOperations() map[string]operation {
	return map[string]operation{
		"AuthorizeSecurityGroupEgress":               write(authorize(egress)),
		"AuthorizeSecurityGroupIngress":              write(authorize(ingress)),
		"CreateManagedPrefixList":                    write(createManagedPrefixList),
		"CreateSecurityGroup":                        write(createSecurityGroup),
		"CreateTags":                                 write(createTags),
		"DeleteManagedPrefixList":                    write(deleteManagedPrefixList),
		"DeleteSecurityGroup":                        release(deleteSecurityGroup, groupUsers),
		"DeleteTags":                                 write(deleteTags),
		"DescribeManagedPrefixLists":                 read(describeManagedPrefixLists),
		"DescribePrefixLists":                        read(describePrefixLists),
		"DescribeSecurityGroupRules":                 read(describeSecurityGroupRules),
		"DescribeSecurityGroups":                     read(describeSecurityGroups),
		"DescribeTags":                               read(describeTags),
		"GetManagedPrefixListEntries":                read(getManagedPrefixListEntries),
		"ModifySecurityGroupRules":                   write(modifySecurityGroupRules),
		"RevokeSecurityGroupEgress":                  write(revoke(egress)),
		"RevokeSecurityGroupIngress":                 write(revoke(ingress)),
		"UpdateSecurityGroupRuleDescriptionsEgress":  write(updateDescriptions(egress)),
		"UpdateSecurityGroupRuleDescriptionsIngress": write(updateDescriptions(ingress)),
	}
}

func networkOperations() map[string]operation {
	return map[string]operation{
		"AssociateRouteTable":       write(associateRouteTable),
		"AssociateVpcCidrBlock":     write(associateVpcCidrBlock),
		"AttachInternetGateway":     write(attachInternetGateway),
		"CreateDefaultVpc":          write(createDefaultVpc),
		"CreateInternetGateway":     write(createInternetGateway),
		"CreateRoute":               write(createRoute),
		"CreateRouteTable":          write(createRouteTable),
		"CreateSubnet":              write(createSubnet),
		"CreateVpc":                 write(createVpc),
		"DeleteInternetGateway":     write(deleteInternetGateway),
		"DeleteRoute":               write(deleteRoute),
		"DeleteRouteTable":          write(deleteRouteTable),
		"DeleteSubnet":              release(deleteSubnet, subnetUsers),
		"DeleteVpc":                 write(deleteVpc),
		"DescribeAccountAttributes": read(describeAccountAttributes),
		"DescribeAvailabilityZones": read(describeAvailabilityZones),
		"DescribeInternetGateways":  read(describeInternetGateways),
		"DescribeRegions":           read(describeRegions),
		"DescribeRouteTables":       read(describeRouteTables),
		"DescribeSubnets":           read(describeSubnets),
		"DescribeVpcAttribute":      read(describeVpcAttribute),
		"DescribeVpcs":              read(describeVpcs),
		"DetachInternetGateway":     write(detachInternetGateway),
		"DisassociateRouteTable":    write(disassociateRouteTable),
		"ModifySubnetAttribute":     write(modifySubnetAttribute),
		"ModifyVpcAttribute":        write(modifyVpcAttribute),
	}
}

func machineOperations() map[string]operation {
	return map[string]operation{
		"AllocateAddress":                 write(allocateAddress),
		"AssignPrivateIpAddresses":        write(assignPrivateIPAddresses),
		"AssociateAddress":                release(associateAddress, addressUsers),
		"CreateNetworkInterface":          write(createNetworkInterface),
		"DeleteNetworkInterface":          write(deleteNetworkInterface),
		"DescribeAddresses":               {run: describeAddresses, users: everyAddressUser},
		"DescribeInstances":               read(describeInstances),
		"DescribeNetworkInterfaces":       read(describeNetworkInterfaces),
		"DisassociateAddress":             write(disassociateAddress),
		"ModifyInstanceAttribute":         write(modifyInstanceAttribute),
		"ModifyNetworkInterfaceAttribute": write(modifyNetworkInterfaceAttribute),
		"ReleaseAddress":                  release(releaseAddress, addressUsers),
		"RunInstances":                    write(runInstances),
		"StartInstances":                  write(transition("pending", "running", []string{"stopped"})),
		"StopInstances":                   write(transition("stopping", "stopped", []string{"running", "pending"})),
		"TerminateInstances":              write(transition("shutting-down", "terminated", []string{"running", "stopped", "pending"})),
		"UnassignPrivateIpAddresses":      write(unassignPrivateIPAddresses),
	}
}
