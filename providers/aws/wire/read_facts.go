package wire

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
)

const (
	// filterValues is how many values all filters of a call take together. Source:
	// Amazon EC2 API reference, "Filter" and the error FilterLimitExceeded.
	filterValues = 200
	// ec2Page is the largest page that EC2 gives.
	ec2Page = 1000
)

func ec2Filter(name string, values ...string) ec2types.Filter {
	return ec2types.Filter{Name: awssdk.String(name), Values: values}
}

// subnets are all subnets of our VPC, with what their route tables and zones say.
func (s *Session) subnets(ctx context.Context) ([]model.Subnet, error) {
	var (
		subnets    []ec2types.Subnet
		tables     []ec2types.RouteTable
		zones      map[string]string
		e1, e2, e3 error
		inVPC      = []ec2types.Filter{ec2Filter("vpc-id", s.config.VPC)}
	)
	kit.Together(
		func() {
			e1 = readPages(ctx, s.ec2.DescribeSubnets, &ec2.DescribeSubnetsInput{Filters: inVPC, MaxResults: awssdk.Int32(ec2Page)}, func(o *ec2.DescribeSubnetsOutput) {
				subnets = append(subnets, o.Subnets...)
			})
		},
		func() {
			e2 = readPages(ctx, s.ec2.DescribeRouteTables, &ec2.DescribeRouteTablesInput{Filters: inVPC, MaxResults: awssdk.Int32(100)}, func(o *ec2.DescribeRouteTablesOutput) {
				tables = append(tables, o.RouteTables...)
			})
		},
		func() { zones, e3 = s.zones(ctx) },
	)
	if err := cmp.Or(e1, e2, e3); err != nil {
		return nil, err
	}
	public := publicSubnets(tables)
	out := make([]model.Subnet, 0, len(subnets))
	for _, n := range subnets {
		out = append(out, subnetOf(n, public, zones))
	}
	slices.SortFunc(out, func(a, b model.Subnet) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

func subnetOf(n ec2types.Subnet, public func(string) bool, zones map[string]string) model.Subnet {
	tags := tagsOfEC2(n.Tags)
	return model.Subnet{
		ID:       awssdk.ToString(n.SubnetId),
		VPC:      awssdk.ToString(n.VpcId),
		Zone:     awssdk.ToString(n.AvailabilityZone),
		CIDR:     awssdk.ToString(n.CidrBlock),
		Name:     tags["Name"],
		Tags:     tags,
		Public:   public(awssdk.ToString(n.SubnetId)),
		ZoneType: zones[awssdk.ToString(n.AvailabilityZone)],
		CIDR6:    ipv6RangeOf(n),
		Full:     n.AvailableIpAddressCount != nil && *n.AvailableIpAddressCount < balancerAddresses,
	}
}

// balancerAddresses is how many free addresses a load balancer needs in a subnet.
// Source: Elastic Load Balancing user guide, Network Load Balancers, Availability Zones.
const balancerAddresses = 8

// ipv6RangeOf is the IPv6 range of a subnet; empty without one.
func ipv6RangeOf(n ec2types.Subnet) string {
	for _, a := range n.Ipv6CidrBlockAssociationSet {
		if a.Ipv6CidrBlockState == nil || a.Ipv6CidrBlockState.State == ec2types.SubnetCidrBlockStateCodeAssociated {
			return awssdk.ToString(a.Ipv6CidrBlock)
		}
	}
	return ""
}

// zones are the types of the region's zones by name.
func (s *Session) zones(ctx context.Context) (map[string]string, error) {
	out, err := readCall(ctx, s.ec2.DescribeAvailabilityZones, &ec2.DescribeAvailabilityZonesInput{})
	if err != nil {
		return nil, err
	}
	types := map[string]string{}
	for _, z := range out.AvailabilityZones {
		types[awssdk.ToString(z.ZoneName)] = awssdk.ToString(z.ZoneType)
	}
	return types, nil
}

// publicSubnets tells which subnets have a route to an internet gateway, through
// their own route table or, without one, the main one.
func publicSubnets(tables []ec2types.RouteTable) func(string) bool {
	bySubnet := map[string]bool{}
	main := false
	for _, t := range tables {
		public := slices.ContainsFunc(t.Routes, func(r ec2types.Route) bool {
			return strings.HasPrefix(awssdk.ToString(r.GatewayId), "igw")
		})
		for _, a := range t.Associations {
			if id := awssdk.ToString(a.SubnetId); id != "" {
				bySubnet[id] = public
			}
			if awssdk.ToBool(a.Main) {
				main = public
			}
		}
	}
	return func(subnet string) bool {
		if public, ok := bySubnet[subnet]; ok {
			return public
		}
		return main
	}
}

// instancesByID fetches instances by filter and not by id, because one unknown
// id would make the whole call fail.
func (s *Session) instancesByID(ctx context.Context, ids []string) (map[string]model.Instance, error) {
	var (
		mu    sync.Mutex
		out   = map[string]model.Instance{}
		first error
	)
	kit.ForEach(slices.Collect(slices.Chunk(ids, filterValues)), func(chunk []string) {
		in := &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{ec2Filter("instance-id", chunk...)}, MaxResults: awssdk.Int32(ec2Page)}
		err := readPages(ctx, s.ec2.DescribeInstances, in, func(o *ec2.DescribeInstancesOutput) {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range o.Reservations {
				for _, i := range instancesOf(r.Instances) {
					out[i.ID] = i
				}
			}
		})
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			first = cmp.Or(first, err)
		}
	})
	return out, first
}

// instancesOf leaves out what has ended: it can not be registered any more.
func instancesOf(list []ec2types.Instance) []model.Instance {
	var out []model.Instance
	for _, i := range list {
		if i.State != nil && (i.State.Name == ec2types.InstanceStateNameTerminated || i.State.Name == ec2types.InstanceStateNameShuttingDown) {
			continue
		}
		found := model.Instance{ID: awssdk.ToString(i.InstanceId), Subnet: awssdk.ToString(i.SubnetId)}
		// One that is about to run does by the time that it is registered.
		found.Stopped = i.State != nil && i.State.Name != ec2types.InstanceStateNameRunning && i.State.Name != ec2types.InstanceStateNamePending
		found.Trunk = slices.ContainsFunc(i.NetworkInterfaces, func(n ec2types.InstanceNetworkInterface) bool { return awssdk.ToString(n.InterfaceType) == trunkType })
		if i.Placement != nil {
			found.Zone = awssdk.ToString(i.Placement.AvailabilityZone)
		}
		for _, g := range i.SecurityGroups {
			found.Groups = append(found.Groups, awssdk.ToString(g.GroupId))
		}
		slices.Sort(found.Groups)
		out = append(out, found)
	}
	return out
}

// readPages calls until there is no further page.
func readPages[I, O, P any](ctx context.Context, op operation[I, O, P], in *I, each func(*O), options ...func(*P)) error {
	for more := true; more; {
		out, err := readCall(ctx, op, in, options...)
		if err != nil {
			return err
		}
		each(out)
		more = turnPage(in, out)
	}
	return nil
}

// turnPage requests the page after an answer, if there is one. Load balancing and EC2 have names
// of their own for the token.
func turnPage(in, out any) bool {
	to, from := reflect.ValueOf(in).Elem(), reflect.ValueOf(out).Elem()
	token, next := to.FieldByName("NextToken"), from.FieldByName("NextToken")
	if !token.IsValid() {
		token, next = to.FieldByName("Marker"), from.FieldByName("NextMarker")
	}
	token.Set(next)
	return !next.IsNil() && next.Elem().String() != ""
}

// groupsBy fetches security groups of our VPC by a filter.
func (s *Session) groupsBy(ctx context.Context, name string, values []string) ([]ec2types.SecurityGroup, error) {
	return s.groupsWhere(ctx, name, values, ec2Filter("vpc-id", s.config.VPC))
}

// groupsWhere fetches security groups by a filter, in as many calls as its values need,
// beside others of one value each: those are values of a call too.
func (s *Session) groupsWhere(ctx context.Context, name string, values []string, besides ...ec2types.Filter) ([]ec2types.SecurityGroup, error) {
	var out []ec2types.SecurityGroup
	for chunk := range slices.Chunk(values, filterValues-len(besides)) {
		in := &ec2.DescribeSecurityGroupsInput{Filters: append(slices.Clone(besides), ec2Filter(name, chunk...)), MaxResults: awssdk.Int32(ec2Page)}
		err := readPages(ctx, s.ec2.DescribeSecurityGroups, in, func(o *ec2.DescribeSecurityGroupsOutput) {
			out = append(out, o.SecurityGroups...)
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// groupsOfNodes are the ids of the groups of instances, and of pods by themselves, sorted.
func groupsOfNodes(instances map[string]model.Instance, pods map[string][]string) []string {
	found := map[string]bool{}
	for _, i := range instances {
		for _, g := range i.Groups {
			found[g] = true
		}
	}
	for _, groups := range pods {
		for _, g := range groups {
			found[g] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// nodeGroups are the groups that carry the cluster's tag and the needed ones, which are
// sorted, with their rules, sorted by id. Groups that load balancers have for themselves
// carry the tag as well but are no groups of nodes: of them only the names are returned,
// by id.
func (s *Session) nodeGroups(ctx context.Context, needed []string) ([]model.NodeGroup, map[string]string, error) {
	tagged, err := s.taggedGroups(ctx)
	if err != nil {
		return nil, nil, err
	}
	var out []model.NodeGroup
	names := map[string]string{}
	kept := map[string]bool{}
	for _, g := range tagged {
		if name := awssdk.ToString(g.GroupName); strings.HasPrefix(name, model.OwnGroupName("")) {
			names[awssdk.ToString(g.GroupId)] = name
		}
		if containsSorted(needed, awssdk.ToString(g.GroupId)) || !ofLoadBalancer(g) {
			out = append(out, nodeGroupOf(g))
			kept[awssdk.ToString(g.GroupId)] = true
		}
	}
	rest, err := s.groupsBy(ctx, "group-id", slices.DeleteFunc(slices.Clone(needed), func(id string) bool { return kept[id] }))
	if err != nil {
		return nil, nil, err
	}
	for _, g := range rest {
		out = append(out, nodeGroupOf(g))
	}
	slices.SortFunc(out, func(a, b model.NodeGroup) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b model.NodeGroup) bool { return a.ID == b.ID }), names, nil
}

// taggedGroups are the groups with the cluster's tag; without a tag, the groups that
// have the name of a load balancer's own one.
func (s *Session) taggedGroups(ctx context.Context) ([]ec2types.SecurityGroup, error) {
	if s.config.Cluster.ID == "" {
		return s.groupsBy(ctx, "group-name", []string{model.OwnGroupName("*")})
	}
	tagged, err := s.groupsBy(ctx, "tag-key", []string{s.config.Cluster.Key()})
	if err != nil || !s.config.Cluster.Legacy {
		return tagged, err
	}
	legacy, err := s.groupsBy(ctx, "tag:"+model.TagClusterLegacy, []string{s.config.Cluster.ID})
	return append(tagged, legacy...), err
}

// ofLoadBalancer tells groups that the controller made for a load balancer.
func ofLoadBalancer(g ec2types.SecurityGroup) bool {
	return strings.HasPrefix(awssdk.ToString(g.GroupName), model.OwnGroupName("")) || awssdk.ToString(g.Description) == model.ManagedGroupDescription
}

func nodeGroupOf(g ec2types.SecurityGroup) model.NodeGroup {
	return model.NodeGroup{
		ID:    awssdk.ToString(g.GroupId),
		Name:  awssdk.ToString(g.GroupName),
		Tags:  tagsOfEC2(g.Tags),
		Rules: rulesOf(g.IpPermissions),
	}
}
