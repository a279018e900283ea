package ec2_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/aws/ec2"
)

// TestAssignedAddresses gives interfaces the addresses that pods have.
func TestAssignedAddresses(t *testing.T) {
	b := start(t, ec2.Options{})
	subnet, err := b.CreateSubnet(t.Context(), &sdk.CreateSubnetInput{VpcId: b.vpc, CidrBlock: aws.String("10.0.0.0/24"), AvailabilityZone: aws.String("us-east-1a")})
	b.ok(err)
	create := func() *string {
		t.Helper()
		made, err := b.CreateNetworkInterface(t.Context(), &sdk.CreateNetworkInterfaceInput{SubnetId: subnet.Subnet.SubnetId})
		b.ok(err)
		return made.NetworkInterface.NetworkInterfaceId
	}
	one, two := create(), create()
	assign := func(eni *string, reassign bool, ips ...string) error {
		_, err := b.AssignPrivateIpAddresses(t.Context(), &sdk.AssignPrivateIpAddressesInput{NetworkInterfaceId: eni, PrivateIpAddresses: ips, AllowReassignment: &reassign})
		return err
	}
	count := func(eni *string, n int32) ([]string, error) {
		got, err := b.AssignPrivateIpAddresses(t.Context(), &sdk.AssignPrivateIpAddressesInput{NetworkInterfaceId: eni, SecondaryPrivateIpAddressCount: &n})
		if err != nil {
			return nil, err
		}
		var out []string
		for _, ip := range got.AssignedPrivateIpAddresses {
			out = append(out, *ip.PrivateIpAddress)
		}
		return out, nil
	}
	unassign := func(eni *string, ips ...string) error {
		_, err := b.UnassignPrivateIpAddresses(t.Context(), &sdk.UnassignPrivateIpAddressesInput{NetworkInterfaceId: eni, PrivateIpAddresses: ips})
		return err
	}

	got, err := count(one, 2)
	b.ok(err)
	if diff := cmp.Diff([]string{"10.0.0.6", "10.0.0.7"}, got); diff != "" {
		t.Errorf("assigned (-want +got):\n%s", diff)
	}
	b.ok(assign(two, false, "10.0.0.20"))
	b.ok(assign(two, false, "10.0.0.20"))
	b.code("assign", "InvalidIPAddress.InUse", assign(two, false, "10.0.0.6"))
	b.code("assign", "InvalidIPAddress.InUse", assign(two, true, "10.0.0.4"))
	b.code("assign", "InvalidParameterValue", assign(two, false, "10.1.0.6"))
	b.code("assign", "MissingParameter", assign(two, false))
	_, err = count(two, 60)
	b.code("assign", "PrivateIpAddressLimitExceeded", err)
	b.ok(assign(two, true, "10.0.0.6"))
	if diff := cmp.Diff([]string{"10.0.0.4", "10.0.0.7"}, b.privateIPs(one)); diff != "" {
		t.Errorf("after the other took one (-want +got):\n%s", diff)
	}
	b.ok(unassign(two, "10.0.0.20"))
	b.code("unassign", "InvalidParameterValue", unassign(two, "10.0.0.20"))
	b.code("unassign", "InvalidParameterValue", unassign(two, "10.0.0.5"))
	if diff := cmp.Diff([]string{"10.0.0.5", "10.0.0.6"}, b.privateIPs(two)); diff != "" {
		t.Errorf("at the end (-want +got):\n%s", diff)
	}
}

func (b *bench) privateIPs(eni *string) []string {
	b.Helper()
	found, err := b.DescribeNetworkInterfaces(b.Context(), &sdk.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{*eni}})
	b.ok(err)
	var out []string
	for _, ip := range found.NetworkInterfaces[0].PrivateIpAddresses {
		out = append(out, *ip.PrivateIpAddress)
	}
	return out
}
