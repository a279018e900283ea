package ec2_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/aws/ec2"
)

func (b *bench) run(in sdk.RunInstancesInput) types.Instance {
	b.Helper()
	in.ImageId, in.MinCount, in.MaxCount = aws.String("ami-12345678"), aws.Int32(1), aws.Int32(1)
	out, err := b.RunInstances(b.Context(), &in)
	b.ok(err)
	return out.Instances[0]
}

func (b *bench) instance(id *string) types.Instance {
	b.Helper()
	out, err := b.DescribeInstances(b.Context(), &sdk.DescribeInstancesInput{InstanceIds: []string{*id}})
	b.ok(err)
	return out.Reservations[0].Instances[0]
}

func TestLentPublicAddresses(t *testing.T) {
	b := start(t, ec2.Options{})
	s := b.subnet("10.0.1.0/24")
	if i := b.run(sdk.RunInstancesInput{SubnetId: s}); i.PublicIpAddress != nil || *i.StateReason.Code != "pending" {
		t.Errorf("public address %v in a private subnet, because %s; want none, and pending", i.PublicIpAddress, *i.StateReason.Code)
	}
	_, err := b.ModifySubnetAttribute(t.Context(), &sdk.ModifySubnetAttributeInput{SubnetId: s, MapPublicIpOnLaunch: &types.AttributeBooleanValue{Value: aws.Bool(true)}})
	b.ok(err)
	i := b.run(sdk.RunInstancesInput{SubnetId: s})
	if i.PublicIpAddress == nil || *i.NetworkInterfaces[0].Association.IpOwnerId != "amazon" {
		t.Fatalf("no public address that Amazon lent in a public subnet: %v", i.NetworkInterfaces[0].Association)
	}
	found, err := b.DescribeInstances(t.Context(), &sdk.DescribeInstancesInput{Filters: []types.Filter{filter("ip-address", *i.PublicIpAddress), filter("dns-name", *i.PublicDnsName)}})
	b.ok(err)
	if len(found.Reservations) != 1 {
		t.Errorf("%d reservations with the address, want 1", len(found.Reservations))
	}
	ids := []string{*i.InstanceId}
	_, err = b.StopInstances(t.Context(), &sdk.StopInstancesInput{InstanceIds: ids})
	b.ok(err)
	if got := b.instance(i.InstanceId).PublicIpAddress; got != nil {
		t.Errorf("stopped with public address %s", *got)
	}
	_, err = b.StartInstances(t.Context(), &sdk.StartInstancesInput{InstanceIds: ids})
	b.ok(err)
	if b.instance(i.InstanceId).PublicIpAddress == nil {
		t.Error("started again without public address")
	}
	eip, err := b.AllocateAddress(t.Context(), &sdk.AllocateAddressInput{})
	b.ok(err)
	_, err = b.AssociateAddress(t.Context(), &sdk.AssociateAddressInput{AllocationId: eip.AllocationId, InstanceId: i.InstanceId})
	b.ok(err)
	if diff := cmp.Diff(*eip.PublicIp, aws.ToString(b.instance(i.InstanceId).PublicIpAddress)); diff != "" {
		t.Errorf("elastic address (-want +got)\n%s", diff)
	}
}

func TestInterfacesOfMachines(t *testing.T) {
	b := start(t, ec2.Options{})
	s := b.subnet("10.0.1.0/24")
	nic := types.InstanceNetworkInterfaceSpecification{DeviceIndex: aws.Int32(0), SubnetId: s, AssociatePublicIpAddress: aws.Bool(true), DeleteOnTermination: aws.Bool(false)}
	_, err := b.RunInstances(t.Context(), &sdk.RunInstancesInput{ImageId: aws.String("ami-12345678"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: s,
		NetworkInterfaces: []types.InstanceNetworkInterfaceSpecification{nic}})
	b.code("both forms", "InvalidParameterCombination", err)
	i := b.run(sdk.RunInstancesInput{NetworkInterfaces: []types.InstanceNetworkInterfaceSpecification{nic}})
	if i.PublicIpAddress == nil {
		t.Error("no public address, though one was asked for")
	}
	eni, err := b.CreateNetworkInterface(t.Context(), &sdk.CreateNetworkInterfaceInput{SubnetId: s})
	b.ok(err)
	id := eni.NetworkInterface.NetworkInterfaceId
	attach := func(index int32) (*sdk.AttachNetworkInterfaceOutput, error) {
		return b.AttachNetworkInterface(t.Context(), &sdk.AttachNetworkInterfaceInput{InstanceId: i.InstanceId, NetworkInterfaceId: id, DeviceIndex: aws.Int32(index)})
	}
	_, err = attach(0)
	b.code("taken index", "InvalidParameterValue", err)
	got, err := attach(1)
	b.ok(err)
	_, err = attach(2)
	b.code("attached twice", "InvalidNetworkInterface.InUse", err)
	if n := len(b.instance(i.InstanceId).NetworkInterfaces); n != 2 {
		t.Errorf("%d interfaces, want 2", n)
	}
	_, err = b.DetachNetworkInterface(t.Context(), &sdk.DetachNetworkInterfaceInput{AttachmentId: i.NetworkInterfaces[0].Attachment.AttachmentId})
	b.code("first interface detached", "OperationNotPermitted", err)
	_, err = b.DetachNetworkInterface(t.Context(), &sdk.DetachNetworkInterfaceInput{AttachmentId: got.AttachmentId})
	b.code("detached", "", err)
	_, err = b.DetachNetworkInterface(t.Context(), &sdk.DetachNetworkInterfaceInput{AttachmentId: got.AttachmentId})
	b.code("detached twice", "InvalidAttachmentID.NotFound", err)

	_, err = b.TerminateInstances(t.Context(), &sdk.TerminateInstancesInput{InstanceIds: []string{*i.InstanceId}})
	b.ok(err)
	left, err := b.DescribeNetworkInterfaces(t.Context(), &sdk.DescribeNetworkInterfacesInput{Filters: []types.Filter{filter("status", "available")}})
	b.ok(err)
	if len(left.NetworkInterfaces) != 2 {
		t.Errorf("%d interfaces left, want the detached one and the one that was to stay", len(left.NetworkInterfaces))
	}
}

func TestFailedLaunchMakesNothing(t *testing.T) {
	b := start(t, ec2.Options{})
	s := b.subnet("10.0.1.0/28")
	_, err := b.RunInstances(t.Context(), &sdk.RunInstancesInput{ImageId: aws.String("ami-12345678"), MinCount: aws.Int32(1), MaxCount: aws.Int32(12), SubnetId: s})
	b.code("more than the subnet has", "InsufficientFreeAddressesInSubnet", err)
	out, err := b.DescribeInstances(t.Context(), &sdk.DescribeInstancesInput{})
	b.ok(err)
	if len(out.Reservations) != 0 {
		t.Errorf("%d reservations after a launch that failed", len(out.Reservations))
	}
}

func TestProtectionAndStatus(t *testing.T) {
	b := start(t, ec2.Options{})
	s := b.subnet("10.0.1.0/24")
	i, other := b.run(sdk.RunInstancesInput{SubnetId: s}), b.run(sdk.RunInstancesInput{SubnetId: s, Monitoring: &types.RunInstancesMonitoringEnabled{Enabled: aws.Bool(true)}})
	ids := []string{*i.InstanceId}
	_, err := b.ModifyInstanceAttribute(t.Context(), &sdk.ModifyInstanceAttributeInput{InstanceId: i.InstanceId, DisableApiTermination: &types.AttributeBooleanValue{Value: aws.Bool(true)}})
	b.ok(err)
	_, err = b.TerminateInstances(t.Context(), &sdk.TerminateInstancesInput{InstanceIds: ids})
	b.code("protected", "OperationNotPermitted", err)
	_, err = b.ModifyInstanceAttribute(t.Context(), &sdk.ModifyInstanceAttributeInput{InstanceId: i.InstanceId, Attribute: types.InstanceAttributeNameDisableApiTermination, Value: aws.String("false")})
	b.ok(err)
	got, err := b.DescribeInstanceAttribute(t.Context(), &sdk.DescribeInstanceAttributeInput{InstanceId: i.InstanceId, Attribute: types.InstanceAttributeNameDisableApiTermination})
	b.ok(err)
	if *got.DisableApiTermination.Value {
		t.Error("still protected")
	}
	_, err = b.StopInstances(t.Context(), &sdk.StopInstancesInput{InstanceIds: ids})
	b.ok(err)
	statuses := func(all bool) map[string]string {
		out, err := b.DescribeInstanceStatus(t.Context(), &sdk.DescribeInstanceStatusInput{IncludeAllInstances: aws.Bool(all)})
		b.ok(err)
		got := map[string]string{}
		for _, x := range out.InstanceStatuses {
			got[*x.InstanceId] = string(x.InstanceStatus.Status)
		}
		return got
	}
	if diff := cmp.Diff(map[string]string{*other.InstanceId: "ok"}, statuses(false)); diff != "" {
		t.Errorf("running (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{*other.InstanceId: "ok", *i.InstanceId: "not-applicable"}, statuses(true)); diff != "" {
		t.Errorf("all (-want +got)\n%s", diff)
	}
	stopped, err := b.DescribeInstances(t.Context(), &sdk.DescribeInstancesInput{Filters: []types.Filter{
		filter("state-reason-code", "Client.UserInitiatedShutdown"), filter("monitoring-state", "disabled")}})
	b.ok(err)
	if len(stopped.Reservations) != 1 {
		t.Errorf("%d reservations stopped by the user, want 1", len(stopped.Reservations))
	}
}

func TestWaysOut(t *testing.T) {
	b := start(t, ec2.Options{})
	s := b.subnet("10.0.1.0/24")
	eip, err := b.AllocateAddress(t.Context(), &sdk.AllocateAddressInput{})
	b.ok(err)
	nat, err := b.CreateNatGateway(t.Context(), &sdk.CreateNatGatewayInput{SubnetId: s, AllocationId: eip.AllocationId})
	b.ok(err)
	id := nat.NatGateway.NatGatewayId
	_, err = b.ReleaseAddress(t.Context(), &sdk.ReleaseAddressInput{AllocationId: eip.AllocationId})
	b.code("address of a gateway", "InvalidIPAddress.InUse", err)
	table, err := b.CreateRouteTable(t.Context(), &sdk.CreateRouteTableInput{VpcId: b.vpc})
	b.ok(err)
	to := table.RouteTable.RouteTableId
	everywhere := aws.String("0.0.0.0/0")
	_, err = b.ReplaceRoute(t.Context(), &sdk.ReplaceRouteInput{RouteTableId: to, DestinationCidrBlock: everywhere, NatGatewayId: id})
	b.code("no such route", "InvalidParameterValue", err)
	_, err = b.CreateRoute(t.Context(), &sdk.CreateRouteInput{RouteTableId: to, DestinationCidrBlock: everywhere, NatGatewayId: aws.String("nat-0123456789abcdef0")})
	b.code("no such gateway", "NatGatewayNotFound", err)
	_, err = b.CreateRoute(t.Context(), &sdk.CreateRouteInput{RouteTableId: to, DestinationCidrBlock: everywhere, NatGatewayId: id})
	b.ok(err)
	state := func() string {
		out, err := b.DescribeRouteTables(t.Context(), &sdk.DescribeRouteTablesInput{RouteTableIds: []string{*to}})
		b.ok(err)
		return string(out.RouteTables[0].Routes[1].State)
	}
	if got := state(); got != "active" {
		t.Errorf("route is %s, want active", got)
	}
	_, err = b.DeleteNatGateway(t.Context(), &sdk.DeleteNatGatewayInput{NatGatewayId: id})
	b.ok(err)
	if got := state(); got != "blackhole" {
		t.Errorf("route to a deleted gateway is %s, want blackhole", got)
	}

	main, err := b.DescribeRouteTables(t.Context(), &sdk.DescribeRouteTablesInput{Filters: []types.Filter{filter("association.main", "true")}})
	b.ok(err)
	_, err = b.ReplaceRouteTableAssociation(t.Context(), &sdk.ReplaceRouteTableAssociationInput{
		AssociationId: main.RouteTables[0].Associations[0].RouteTableAssociationId, RouteTableId: to})
	b.ok(err)
	main, err = b.DescribeRouteTables(t.Context(), &sdk.DescribeRouteTablesInput{Filters: []types.Filter{filter("association.main", "true")}})
	b.ok(err)
	if got := *main.RouteTables[0].RouteTableId; got != *to {
		t.Errorf("main table %s, want %s", got, *to)
	}
}

func TestGroupsForVPC(t *testing.T) {
	b := start(t, ec2.Options{})
	b.group("web")
	out, err := b.GetSecurityGroupsForVpc(t.Context(), &sdk.GetSecurityGroupsForVpcInput{VpcId: b.vpc, Filters: []types.Filter{filter("group-name", "web")}})
	b.ok(err)
	if len(out.SecurityGroupForVpcs) != 1 || *out.SecurityGroupForVpcs[0].PrimaryVpcId != *b.vpc {
		t.Errorf("groups %v, want web alone", out.SecurityGroupForVpcs)
	}
	_, err = b.GetSecurityGroupsForVpc(t.Context(), &sdk.GetSecurityGroupsForVpcInput{VpcId: aws.String("vpc-0123456789abcdef0")})
	b.code("unknown VPC", "InvalidVpcID.NotFound", err)
	references, err := b.DescribeSecurityGroupReferences(t.Context(), &sdk.DescribeSecurityGroupReferencesInput{GroupId: []string{*out.SecurityGroupForVpcs[0].GroupId}})
	b.ok(err)
	stale, err := b.DescribeStaleSecurityGroups(t.Context(), &sdk.DescribeStaleSecurityGroupsInput{VpcId: b.vpc})
	b.ok(err)
	if len(references.SecurityGroupReferenceSet)+len(stale.StaleSecurityGroupSet) > 0 {
		t.Error("references from peered VPCs, though there are none")
	}
}

func TestRefusedCallsOnMachines(t *testing.T) {
	b := start(t, ec2.Options{})
	_, err := b.TerminateInstances(t.Context(), &sdk.TerminateInstancesInput{InstanceIds: []string{}})
	b.code("none named", "InvalidParameterCombination", err)
	_, err = b.RebootInstances(t.Context(), &sdk.RebootInstancesInput{InstanceIds: []string{"i-0123456789abcdef0"}})
	b.code("unknown", "InvalidInstanceID.NotFound", err)
	_, err = b.RunInstances(t.Context(), &sdk.RunInstancesInput{ImageId: aws.String("ami-12345678"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		Placement: &types.Placement{AvailabilityZone: aws.String("eu-west-1a")}})
	b.code("zone of another region", "InvalidParameterValue", err)
	_, err = b.RunInstances(t.Context(), &sdk.RunInstancesInput{ImageId: aws.String("image"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1)})
	b.code("no image", "InvalidAMIID.Malformed", err)
}
