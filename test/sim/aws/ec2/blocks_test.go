package ec2_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/aws/ec2"
)

func TestBlocksOfVPCs(t *testing.T) {
	b := start(t, ec2.Options{})
	var last *string
	for _, cidr := range []string{"10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16", "10.4.0.0/16"} {
		out, err := b.AssociateVpcCidrBlock(t.Context(), &sdk.AssociateVpcCidrBlockInput{VpcId: b.vpc, CidrBlock: aws.String(cidr)})
		b.ok(err)
		last = out.CidrBlockAssociation.AssociationId
	}
	_, err := b.AssociateVpcCidrBlock(t.Context(), &sdk.AssociateVpcCidrBlockInput{VpcId: b.vpc, CidrBlock: aws.String("10.5.0.0/16")})
	b.code("sixth block", "CidrLimitExceeded", err)

	subnet, err := b.CreateSubnet(t.Context(), &sdk.CreateSubnetInput{VpcId: b.vpc, CidrBlock: aws.String("10.4.0.0/24")})
	b.ok(err)
	_, err = b.DisassociateVpcCidrBlock(t.Context(), &sdk.DisassociateVpcCidrBlockInput{AssociationId: last})
	b.code("block with a subnet", "OperationNotPermitted", err)
	_, err = b.DeleteSubnet(t.Context(), &sdk.DeleteSubnetInput{SubnetId: subnet.Subnet.SubnetId})
	b.ok(err)
	_, err = b.DisassociateVpcCidrBlock(t.Context(), &sdk.DisassociateVpcCidrBlockInput{AssociationId: last})
	b.code("empty block", "", err)
	_, err = b.DisassociateVpcCidrBlock(t.Context(), &sdk.DisassociateVpcCidrBlockInput{AssociationId: last})
	b.code("gone block", "InvalidVpcCidrBlockAssociationID.NotFound", err)

	vpcs, err := b.DescribeVpcs(t.Context(), &sdk.DescribeVpcsInput{})
	b.ok(err)
	first := vpcs.Vpcs[0].CidrBlockAssociationSet[0].AssociationId
	_, err = b.DisassociateVpcCidrBlock(t.Context(), &sdk.DisassociateVpcCidrBlockInput{AssociationId: first})
	b.code("primary block", "OperationNotPermitted", err)
}

func TestIPv6BlocksOfSubnets(t *testing.T) {
	b := start(t, ec2.Options{})
	six, err := b.AssociateVpcCidrBlock(t.Context(), &sdk.AssociateVpcCidrBlockInput{VpcId: b.vpc, AmazonProvidedIpv6CidrBlock: aws.Bool(true)})
	b.ok(err)
	_, err = b.AssociateVpcCidrBlock(t.Context(), &sdk.AssociateVpcCidrBlockInput{VpcId: b.vpc, AmazonProvidedIpv6CidrBlock: aws.Bool(true)})
	b.code("second IPv6 block", "CidrLimitExceeded", err)
	block := aws.String((*six.Ipv6CidrBlockAssociation.Ipv6CidrBlock)[:len(*six.Ipv6CidrBlockAssociation.Ipv6CidrBlock)-2] + "64")
	s := b.subnet("10.0.1.0/24")
	out, err := b.AssociateSubnetCidrBlock(t.Context(), &sdk.AssociateSubnetCidrBlockInput{SubnetId: s, Ipv6CidrBlock: block})
	b.ok(err)
	_, err = b.AssociateSubnetCidrBlock(t.Context(), &sdk.AssociateSubnetCidrBlockInput{SubnetId: b.subnet("10.0.2.0/24"), Ipv6CidrBlock: block})
	b.code("taken block", "InvalidSubnet.Conflict", err)

	eni, err := b.CreateNetworkInterface(t.Context(), &sdk.CreateNetworkInterfaceInput{SubnetId: s, Ipv6AddressCount: aws.Int32(1), SecondaryPrivateIpAddressCount: aws.Int32(2)})
	b.ok(err)
	id := eni.NetworkInterface.NetworkInterfaceId
	if got := len(eni.NetworkInterface.PrivateIpAddresses); got != 3 {
		t.Errorf("%d private addresses, want 3", got)
	}
	more, err := b.AssignIpv6Addresses(t.Context(), &sdk.AssignIpv6AddressesInput{NetworkInterfaceId: id, Ipv6AddressCount: aws.Int32(1)})
	b.ok(err)
	gone := &sdk.DisassociateSubnetCidrBlockInput{AssociationId: out.Ipv6CidrBlockAssociation.AssociationId}
	_, err = b.DisassociateSubnetCidrBlock(t.Context(), gone)
	b.code("block in use", "InvalidCidr.InUse", err)
	all := append(more.AssignedIpv6Addresses, *eni.NetworkInterface.Ipv6Addresses[0].Ipv6Address)
	_, err = b.UnassignIpv6Addresses(t.Context(), &sdk.UnassignIpv6AddressesInput{NetworkInterfaceId: id, Ipv6Addresses: all})
	b.ok(err)
	_, err = b.DisassociateSubnetCidrBlock(t.Context(), gone)
	b.code("free block", "", err)
}

func TestSettingsOfNetworks(t *testing.T) {
	b := start(t, ec2.Options{})
	s := b.subnet("10.0.1.0/24")
	_, err := b.ModifySubnetAttribute(t.Context(), &sdk.ModifySubnetAttributeInput{SubnetId: s, EnableResourceNameDnsARecordOnLaunch: &types.AttributeBooleanValue{Value: aws.Bool(true)}})
	b.ok(err)
	_, err = b.ModifySubnetAttribute(t.Context(), &sdk.ModifySubnetAttributeInput{SubnetId: s, PrivateDnsHostnameTypeOnLaunch: types.HostnameTypeResourceName})
	b.ok(err)
	_, err = b.ModifySubnetAttribute(t.Context(), &sdk.ModifySubnetAttributeInput{SubnetId: s, PrivateDnsHostnameTypeOnLaunch: "bogus"})
	b.code("unknown names", "InvalidParameterValue", err)
	out, err := b.DescribeSubnets(t.Context(), &sdk.DescribeSubnetsInput{SubnetIds: []string{*s}})
	b.ok(err)
	if n := out.Subnets[0].PrivateDnsNameOptionsOnLaunch; !*n.EnableResourceNameDnsARecord || n.HostnameType != types.HostnameTypeResourceName {
		t.Errorf("names %v %v, want records of resource names", *n.EnableResourceNameDnsARecord, n.HostnameType)
	}
	_, err = b.ModifyVpcAttribute(t.Context(), &sdk.ModifyVpcAttributeInput{VpcId: b.vpc, EnableNetworkAddressUsageMetrics: &types.AttributeBooleanValue{Value: aws.Bool(true)}})
	b.ok(err)
	metrics, err := b.DescribeVpcAttribute(t.Context(), &sdk.DescribeVpcAttributeInput{VpcId: b.vpc, Attribute: types.VpcAttributeNameEnableNetworkAddressUsageMetrics})
	b.ok(err)
	if !*metrics.EnableNetworkAddressUsageMetrics.Value {
		t.Error("metrics are off after they were switched on")
	}
	_, err = b.CreateVpc(t.Context(), &sdk.CreateVpcInput{CidrBlock: aws.String("10.9.0.0/16"), InstanceTenancy: "bogus"})
	b.code("unknown tenancy", "InvalidParameterValue", err)
}

func TestDefaultSubnets(t *testing.T) {
	b := start(t, ec2.Options{})
	zone := aws.String("us-east-1b")
	_, err := b.CreateDefaultSubnet(t.Context(), &sdk.CreateDefaultSubnetInput{AvailabilityZone: zone})
	b.code("without default VPC", "DefaultVpcDoesNotExist", err)
	_, err = b.CreateDefaultVpc(t.Context(), &sdk.CreateDefaultVpcInput{})
	b.ok(err)
	_, err = b.CreateDefaultSubnet(t.Context(), &sdk.CreateDefaultSubnetInput{AvailabilityZone: zone})
	b.code("second in its zone", "DefaultSubnetAlreadyExistsInAvailabilityZone", err)
	have, err := b.DescribeSubnets(t.Context(), &sdk.DescribeSubnetsInput{Filters: []types.Filter{filter("availability-zone", *zone)}})
	b.ok(err)
	_, err = b.DeleteSubnet(t.Context(), &sdk.DeleteSubnetInput{SubnetId: have.Subnets[0].SubnetId})
	b.ok(err)
	made, err := b.CreateDefaultSubnet(t.Context(), &sdk.CreateDefaultSubnetInput{AvailabilityZone: zone})
	b.ok(err)
	if diff := cmp.Diff(*have.Subnets[0].CidrBlock, *made.Subnet.CidrBlock); diff != "" || !*made.Subnet.DefaultForAz {
		t.Errorf("made again as default %v (-want +got)\n%s", *made.Subnet.DefaultForAz, diff)
	}
}

func TestEntriesOfPrefixLists(t *testing.T) {
	b := start(t, ec2.Options{})
	list, err := b.CreateManagedPrefixList(t.Context(), &sdk.CreateManagedPrefixListInput{PrefixListName: aws.String("l"), AddressFamily: aws.String("IPv4"), MaxEntries: aws.Int32(2),
		Entries: []types.AddPrefixListEntry{{Cidr: aws.String("10.0.0.0/8")}}})
	b.ok(err)
	id := list.PrefixList.PrefixListId
	change := func(version int64, add ...string) error {
		in := &sdk.ModifyManagedPrefixListInput{PrefixListId: id, CurrentVersion: aws.Int64(version)}
		for _, cidr := range add {
			in.AddEntries = append(in.AddEntries, types.AddPrefixListEntry{Cidr: aws.String(cidr)})
		}
		_, err := b.ModifyManagedPrefixList(t.Context(), in)
		return err
	}
	b.code("added", "", change(1, "10.1.0.0/16"))
	b.code("old version", "PrefixListVersionMismatch", change(1, "10.2.0.0/16"))
	b.code("too many", "PrefixListMaxEntriesExceeded", change(2, "10.2.0.0/16"))
	_, err = b.ModifyManagedPrefixList(t.Context(), &sdk.ModifyManagedPrefixListInput{PrefixListId: id, CurrentVersion: aws.Int64(2),
		RemoveEntries: []types.RemovePrefixListEntry{{Cidr: aws.String("10.0.0.0/8")}}})
	b.ok(err)
	out, err := b.GetManagedPrefixListEntries(t.Context(), &sdk.GetManagedPrefixListEntriesInput{PrefixListId: id})
	b.ok(err)
	var got []string
	for _, e := range out.Entries {
		got = append(got, *e.Cidr)
	}
	if diff := cmp.Diff([]string{"10.1.0.0/16"}, got); diff != "" {
		t.Errorf("entries (-want +got)\n%s", diff)
	}
}

// subnet makes a subnet in the first zone.
func (b *bench) subnet(cidr string) *string {
	b.Helper()
	out, err := b.CreateSubnet(b.Context(), &sdk.CreateSubnetInput{VpcId: b.vpc, CidrBlock: aws.String(cidr), AvailabilityZone: aws.String("us-east-1a")})
	b.ok(err)
	return out.Subnet.SubnetId
}

// The refusals are those of the real service. Source: getmoto/moto:tests/test_ec2/test_subnets.py, verified there against AWS.
func TestSubnetsWithoutIPv4(t *testing.T) {
	b := start(t, ec2.Options{})
	create := func(cidr, six *string) (*sdk.CreateSubnetOutput, error) {
		return b.CreateSubnet(t.Context(), &sdk.CreateSubnetInput{VpcId: b.vpc, Ipv6Native: aws.Bool(true), CidrBlock: cidr, Ipv6CidrBlock: six})
	}
	four := aws.String("10.0.0.0/24")
	_, err := create(nil, nil)
	b.code("no block", "MissingParameter", err)
	_, err = create(four, nil)
	b.code("IPv4 block", "MissingParameter", err)
	_, err = create(four, aws.String("1080::1:200C:417A/112"))
	b.code("both blocks", "InvalidParameterCombination", err)
	six, err := b.AssociateVpcCidrBlock(t.Context(), &sdk.AssociateVpcCidrBlockInput{VpcId: b.vpc, AmazonProvidedIpv6CidrBlock: aws.Bool(true)})
	b.ok(err)
	made, err := create(nil, six.Ipv6CidrBlockAssociation.Ipv6CidrBlock)
	b.ok(err)
	if s := made.Subnet; !*s.Ipv6Native || !*s.AssignIpv6AddressOnCreation || s.CidrBlock != nil {
		t.Errorf("native %v, assigning %v, IPv4 block %v; want true, true and none", *s.Ipv6Native, *s.AssignIpv6AddressOnCreation, s.CidrBlock)
	}
	_, err = create(nil, six.Ipv6CidrBlockAssociation.Ipv6CidrBlock)
	b.code("taken block", "InvalidSubnet.Conflict", err)
	_, err = b.DeleteSubnet(t.Context(), &sdk.DeleteSubnetInput{SubnetId: made.Subnet.SubnetId})
	b.code("deleted", "", err)
}

func TestTagsOfNewNetworks(t *testing.T) {
	b := start(t, ec2.Options{})
	create := func(kind types.ResourceType, tags ...types.Tag) error {
		_, err := b.CreateSubnet(t.Context(), &sdk.CreateSubnetInput{VpcId: b.vpc, CidrBlock: aws.String("10.0.7.0/24"),
			TagSpecifications: []types.TagSpecification{{ResourceType: kind, Tags: tags}}})
		return err
	}
	tag := types.Tag{Key: aws.String("k"), Value: aws.String("v")}
	b.code("no type", "InvalidParameter", create("", tag))
	b.code("no tag", "InvalidParameter", create(types.ResourceTypeSubnet))
	b.code("other type", "InvalidParameter", create(types.ResourceTypeSnapshot, tag))
	b.code("right", "", create(types.ResourceTypeSubnet, tag))
	_, err := b.RunInstances(t.Context(), &sdk.RunInstancesInput{ImageId: aws.String("ami-12345678"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		SubnetId: b.subnet("10.0.8.0/24"), TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeSubnet, Tags: []types.Tag{tag}}}})
	b.code("machine with a subnet's tags", "InvalidParameterValue", err)
}

// The answers are those that were recorded from AWS.
// Source: localstack/localstack:tests/aws/services/ec2/test_ec2.snapshot.json.
func TestAnswersAsRecorded(t *testing.T) {
	b := start(t, ec2.Options{})
	made, err := b.CreateVpc(t.Context(), &sdk.CreateVpcInput{CidrBlock: aws.String("10.9.0.0/16")})
	b.ok(err)
	if v := made.Vpc; v.State != types.VpcStatePending || v.Ipv6CidrBlockAssociationSet == nil {
		t.Errorf("new VPC is %s with IPv6 blocks %v, want pending with an empty list", v.State, v.Ipv6CidrBlockAssociationSet)
	}
	groups, err := b.GetSecurityGroupsForVpc(t.Context(), &sdk.GetSecurityGroupsForVpcInput{VpcId: made.Vpc.VpcId})
	b.ok(err)
	if len(groups.SecurityGroupForVpcs) != 1 || groups.SecurityGroupForVpcs[0].Tags == nil {
		t.Errorf("groups %v, want the default one with an empty list of tags", groups.SecurityGroupForVpcs)
	}
	zones, err := b.DescribeAvailabilityZones(t.Context(), &sdk.DescribeAvailabilityZonesInput{Filters: []types.Filter{filter("group-name", "us-east-1-zg-1")}})
	b.ok(err)
	if len(zones.AvailabilityZones) != 3 || *zones.AvailabilityZones[0].GroupName != "us-east-1-zg-1" {
		t.Errorf("%d zones in the group us-east-1-zg-1, want 3", len(zones.AvailabilityZones))
	}
}
