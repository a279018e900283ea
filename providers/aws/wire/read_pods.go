package wire

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
)

const (
	// trunkType is the type of the interface of an instance that carries those of pods.
	// Source: Amazon EC2 API reference, InstanceNetworkInterface.
	trunkType = "trunk"
	// branchType is that of an interface that is a pod's own.
	branchType = ec2types.NetworkInterfaceTypeBranch
	// podAge is how long the groups of a pod's interface are believed.
	podAge = 10 * time.Minute
	// absentPodAge is how long it is believed that the pod of an address has no interface
	// of its own: the address may soon be that of another pod.
	absentPodAge = 10 * time.Second
)

// listPods reads the groups of the pods that have network interfaces of their own, of the
// nodes on which there may be any.
func (r *vpcRead) listPods() (groups map[string][]string, err error) {
	groups, r.from.pods, err = r.facts.pods.Get(r.ctx, r.now(), r.podAddresses(), r.groupsByAddress)
	if providers.HidesOnly(err) {
		r.shared.PodsUnseen = true // the others are served, and Build says what is missing
		return groups, nil
	}
	return groups, err
}

func (r *vpcRead) podAddresses() []string {
	var out []string
	for _, value := range r.factValues(model.KindNodeGroup, model.ByAddress) {
		machine, addresses, _ := strings.Cut(value, " ")
		if machine == model.NoMachine || r.shared.Instances[machine].Trunk {
			out = append(out, strings.Fields(addresses)...)
		}
	}
	return eachOnce(out)
}

// groupsByAddress are the groups of network interfaces of our VPC, by each of their addresses. An
// interface of an instance is none of a pod's: it may have addresses of pods, with the groups of the node.
func (s *Session) groupsByAddress(ctx context.Context, addresses []string) (map[string][]string, error) {
	families := map[string][]string{}
	for _, a := range addresses {
		by := "addresses.private-ip-address"
		if strings.Contains(a, ":") {
			by = "ipv6-addresses.ipv6-address"
		}
		families[by] = append(families[by], a)
	}
	out := map[string][]string{}
	for _, by := range slices.Sorted(maps.Keys(families)) {
		for chunk := range slices.Chunk(families[by], filterValues-1) {
			in := &ec2.DescribeNetworkInterfacesInput{
				Filters: []ec2types.Filter{ec2Filter("vpc-id", s.config.VPC), ec2Filter(by, chunk...)}, MaxResults: awssdk.Int32(ec2Page),
			}
			err := readPages(ctx, s.ec2.DescribeNetworkInterfaces, in, func(o *ec2.DescribeNetworkInterfacesOutput) {
				for _, i := range o.NetworkInterfaces {
					learnInterface(out, i)
				}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func learnInterface(out map[string][]string, i ec2types.NetworkInterface) {
	if i.InterfaceType != branchType && i.Attachment != nil && awssdk.ToString(i.Attachment.InstanceId) != "" {
		return
	}
	var groups []string
	for _, g := range i.Groups {
		groups = append(groups, awssdk.ToString(g.GroupId))
	}
	slices.Sort(groups)
	for _, a := range i.PrivateIpAddresses {
		out[awssdk.ToString(a.PrivateIpAddress)] = groups
	}
	for _, a := range i.Ipv6Addresses {
		out[awssdk.ToString(a.Ipv6Address)] = groups
	}
}
