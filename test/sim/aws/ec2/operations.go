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
		"DescribeSecurityGroupReferences":            read(describeGroupReferences),
		"DescribeStaleSecurityGroups":                read(describeStaleGroups),
		"DescribeSecurityGroupRules":                 read(describeSecurityGroupRules),
		"DescribeSecurityGroups":                     read(describeSecurityGroups),
		"DescribeTags":                               read(describeTags),
		"GetManagedPrefixListEntries":                read(getManagedPrefixListEntries),
		"GetSecurityGroupsForVpc":                    read(getSecurityGroupsForVpc),
		"ModifyManagedPrefixList":                    write(modifyManagedPrefixList),
		"ModifySecurityGroupRules":                   write(modifySecurityGroupRules),
		"RevokeSecurityGroupEgress":                  write(revoke(egress)),
		"RevokeSecurityGroupIngress":                 write(revoke(ingress)),
		"UpdateSecurityGroupRuleDescriptionsEgress":  write(updateDescriptions(egress)),
		"UpdateSecurityGroupRuleDescriptionsIngress": write(updateDescriptions(ingress)),
	}
}

func networkOperations() map[string]operation {
	return map[string]operation{
		"AssociateRouteTable":           write(associateRouteTable),
		"AssociateSubnetCidrBlock":      write(associateSubnetCidrBlock),
		"AssociateVpcCidrBlock":         write(associateVpcCidrBlock),
		"AttachInternetGateway":         write(attachInternetGateway),
		"CreateDefaultSubnet":           write(createDefaultSubnet),
		"CreateDefaultVpc":              write(createDefaultVpc),
		"CreateInternetGateway":         write(createInternetGateway),
		"CreateNatGateway":              release(createNatGateway, addressUsers),
		"CreateRoute":                   write(createRoute),
		"CreateRouteTable":              write(createRouteTable),
		"CreateSubnet":                  write(createSubnet),
		"CreateVpc":                     write(createVpc),
		"DeleteInternetGateway":         write(deleteInternetGateway),
		"DeleteNatGateway":              write(deleteNatGateway),
		"DeleteRoute":                   write(deleteRoute),
		"DeleteRouteTable":              write(deleteRouteTable),
		"DeleteSubnet":                  release(deleteSubnet, subnetUsers),
		"DeleteVpc":                     write(deleteVpc),
		"DescribeAccountAttributes":     read(describeAccountAttributes),
		"DescribeAvailabilityZones":     read(describeAvailabilityZones),
		"DescribeInternetGateways":      read(describeInternetGateways),
		"DescribeNatGateways":           read(describeNatGateways),
		"DescribeRegions":               read(describeRegions),
		"DescribeRouteTables":           read(describeRouteTables),
		"DescribeSubnets":               read(describeSubnets),
		"DescribeVpcAttribute":          read(describeVpcAttribute),
		"DescribeVpcPeeringConnections": read(describeVpcPeeringConnections),
		"DescribeVpcs":                  read(describeVpcs),
		"DetachInternetGateway":         write(detachInternetGateway),
		"DisassociateRouteTable":        write(disassociateRouteTable),
		"DisassociateSubnetCidrBlock":   write(disassociateSubnetCidrBlock),
		"DisassociateVpcCidrBlock":      write(disassociateVpcCidrBlock),
		"ModifySubnetAttribute":         write(modifySubnetAttribute),
		"ModifyVpcAttribute":            write(modifyVpcAttribute),
		"ModifyVpcTenancy":              write(modifyVpcTenancy),
		"ReplaceRoute":                  write(replaceRoute),
		"ReplaceRouteTableAssociation":  write(replaceRouteTableAssociation),
	}
}

func machineOperations() map[string]operation {
	return map[string]operation{
		"AllocateAddress":                   write(allocateAddress),
		"AssignPrivateIpAddresses":          write(assignPrivateIPAddresses),
		"AssignIpv6Addresses":               write(assignIPv6Addresses),
		"AttachNetworkInterface":            write(attachNetworkInterface),
		"DescribeNetworkInterfaceAttribute": read(describeNetworkInterfaceAttribute),
		"DetachNetworkInterface":            write(detachNetworkInterface),
		"UnassignIpv6Addresses":             write(unassignIPv6Addresses),
		"AssociateAddress":                  release(associateAddress, addressUsers),
		"CreateNetworkInterface":            write(createNetworkInterface),
		"DeleteNetworkInterface":            write(deleteNetworkInterface),
		"DescribeAddresses":                 {run: describeAddresses, users: everyAddressUser},
		"DescribeInstanceAttribute":         read(describeInstanceAttribute),
		"DescribeInstanceStatus":            read(describeInstanceStatus),
		"DescribeInstances":                 read(describeInstances),
		"DescribeNetworkInterfaces":         read(describeNetworkInterfaces),
		"DisassociateAddress":               write(disassociateAddress),
		"ModifyInstanceAttribute":           write(modifyInstanceAttribute),
		"ModifyNetworkInterfaceAttribute":   write(modifyNetworkInterfaceAttribute),
		"RebootInstances":                   write(rebootInstances),
		"ReleaseAddress":                    release(releaseAddress, addressUsers),
		"RunInstances":                      write(runInstances),
		"StartInstances":                    write(transition("pending", "running", []string{"stopped"})),
		"StopInstances":                     write(transition("stopping", "stopped", []string{"running", "pending"})),
		"TerminateInstances":                write(transition("shutting-down", "terminated", []string{"running", "stopped", "pending"})),
		"UnassignPrivateIpAddresses":        write(unassignPrivateIPAddresses),
	}
}
