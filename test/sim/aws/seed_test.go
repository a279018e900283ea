package aws_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/golden"
	simaws "github.com/berth-lb/berth/test/sim/aws"
)

func TestSeedFiles(t *testing.T) {
	cloud, err := simaws.New(simaws.Options{Seed: simaws.SeedOptions{Nodes: 2}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := cloud.Seed.WriteFiles(dir, "http://127.0.0.1:4566"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seed.json", "nodes.yaml", "cloud.conf"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", name+".golden"), string(got))
	}
}

func TestSeedIsStable(t *testing.T) {
	build := func(nodes int) simaws.Seed {
		cloud, err := simaws.New(simaws.Options{Seed: simaws.SeedOptions{Nodes: nodes}})
		if err != nil {
			t.Fatal(err)
		}
		return cloud.Seed
	}
	small, large := build(3), build(1000)
	large.Nodes = large.Nodes[:3]
	if diff := cmp.Diff(small, large); diff != "" {
		t.Errorf("more nodes change other ids (-3 nodes +1000 nodes)\n%s", diff)
	}
	ids := map[string]bool{}
	for _, n := range build(12000).Nodes {
		ids[n.InstanceID], ids[n.PrivateIP], ids[n.Name] = true, true, true
	}
	if len(ids) != 3*12000 {
		t.Errorf("%d different ids, addresses and names, want %d", len(ids), 3*12000)
	}
	if _, err := simaws.New(simaws.Options{Seed: simaws.SeedOptions{Nodes: 12001}}); err == nil {
		t.Error("12001 nodes were accepted")
	}
}

// TestSeedOverTheWire reads the seed as a controller does.
// TestSeedOfPods: the addresses of pods are those of the interface of their machine, each
// once, and there are not more of them than a subnet has.
func TestSeedOfPods(t *testing.T) {
	c := startClients(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 7, Pods: 3}})
	seen := map[string]bool{}
	for _, n := range c.Cloud.Seed.Nodes {
		out, err := c.ec2.DescribeNetworkInterfaces(t.Context(), &ec2.DescribeNetworkInterfacesInput{Filters: []ec2types.Filter{
			{Name: aws.String("addresses.private-ip-address"), Values: n.Pods},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.NetworkInterfaces) != 1 || *out.NetworkInterfaces[0].Attachment.InstanceId != n.InstanceID || *out.NetworkInterfaces[0].PrivateIpAddress != n.PrivateIP {
			t.Errorf("%s: interfaces of %v: %+v", n.Name, n.Pods, out.NetworkInterfaces)
		}
		for _, ip := range append(n.Pods, n.PrivateIP) {
			seen[ip] = true
		}
	}
	if len(seen) != 7*4 {
		t.Errorf("%d addresses, want %d", len(seen), 7*4)
	}
	if _, err := simaws.New(simaws.Options{Seed: simaws.SeedOptions{Nodes: 1000, Pods: 12}}); err == nil {
		t.Error("more addresses than the subnets have")
	}
}

func TestSeedOverTheWire(t *testing.T) {
	c := startClients(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 4, ClusterID: "kube"}})
	seed := c.Cloud.Seed
	subnets, err := c.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{
		{Name: aws.String("vpc-id"), Values: []string{seed.VPC}},
		{Name: aws.String("tag:kubernetes.io/role/elb"), Values: []string{"", "1"}},
		{Name: aws.String("tag-key"), Values: []string{"kubernetes.io/cluster/kube"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range subnets.Subnets {
		got = append(got, *s.SubnetId)
	}
	want := slices.Sorted(slices.Values(seed.PublicSubnets()))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("public subnets (-want +got)\n%s", diff)
	}
	tables, err := c.ec2.DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{Filters: []ec2types.Filter{
		{Name: aws.String("association.subnet-id"), Values: seed.PublicSubnets()},
	}})
	if err != nil || len(tables.RouteTables) != 1 || *tables.RouteTables[0].RouteTableId != seed.PublicRouteTable ||
		!slices.ContainsFunc(tables.RouteTables[0].Routes, func(r ec2types.Route) bool { return aws.ToString(r.GatewayId) == seed.InternetGateway }) {
		t.Errorf("public route table: %v, %v", tables, err)
	}
	instances, err := c.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
		{Name: aws.String("vpc-id"), Values: []string{seed.VPC}}, {Name: aws.String("instance-state-name"), Values: []string{"running"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]simaws.Node{}
	for _, r := range instances.Reservations {
		for _, i := range r.Instances {
			byID[*i.InstanceId] = simaws.Node{
				Name: *i.PrivateDnsName, InstanceID: *i.InstanceId, ProviderID: "aws:///" + *i.Placement.AvailabilityZone + "/" + *i.InstanceId,
				Zone: *i.Placement.AvailabilityZone, Subnet: *i.SubnetId, PrivateIP: *i.PrivateIpAddress,
			}
		}
	}
	wantByID := map[string]simaws.Node{}
	for _, n := range seed.Nodes {
		wantByID[n.InstanceID] = n
	}
	if diff := cmp.Diff(wantByID, byID); diff != "" {
		t.Errorf("nodes (-want +got)\n%s", diff)
	}
	if _, err := json.Marshal(c.Cloud.State()); err != nil {
		t.Errorf("state: %v", err)
	}
}
