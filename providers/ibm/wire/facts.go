package wire

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/providers/kit"
)

// named is what Services name by its id or name.
type named interface{ IsNamed(text string) bool }

// listWith returns a cached list of the region. If one of the given texts names nothing in it, it is read
// again after a short time: what is named may be new.
func listWith[T named](ctx context.Context, s *Session, cached *kit.Aged[[]T], list func(context.Context) ([]T, error), asked []string) ([]T, error) {
	all, err := cached.Get(ctx, s.now(), factAge, list)
	if err != nil {
		return nil, err
	}
	missing := func(text string) bool {
		return !slices.ContainsFunc(all, func(one T) bool { return one.IsNamed(text) })
	}
	if !slices.ContainsFunc(asked, missing) {
		return all, nil
	}
	return cached.Get(ctx, s.now(), absentAge, list)
}

// subnetsWith returns the subnets of the region, the asked ones among them if they exist.
func (s *Session) subnetsWith(ctx context.Context, asked []string) ([]model.Subnet, error) {
	return listWith(ctx, s, &s.subnets, s.listSubnets, asked)
}

func (s *Session) listSubnets(ctx context.Context) ([]model.Subnet, error) {
	docs, err := listAll[subnetDoc](ctx, s, "subnets")
	if err != nil {
		return nil, err
	}
	var out []model.Subnet
	for _, d := range docs {
		out = append(out, model.Subnet{ID: d.ID, Name: d.Name, CIDR: d.CIDR, Zone: d.Zone.Name, VPC: d.VPC.Name})
	}
	return out, nil
}

// groupsWith returns the security groups of the region, the asked ones among them if they exist.
func (s *Session) groupsWith(ctx context.Context, asked []string) ([]model.SecurityGroup, error) {
	return listWith(ctx, s, &s.groups, s.listGroups, asked)
}

func (s *Session) listGroups(ctx context.Context) ([]model.SecurityGroup, error) {
	docs, err := listAll[groupDoc](ctx, s, "security_groups")
	if err != nil {
		return nil, err
	}
	var out []model.SecurityGroup
	for _, d := range docs {
		out = append(out, model.SecurityGroup{ID: d.ID, Name: d.Name, VPC: d.VPC.Name})
	}
	return out, nil
}

// countNetworks counts the network load balancers of the cluster in each subnet.
func (s *Session) countNetworks(all []balancerDoc) map[string]int {
	out := map[string]int{}
	for _, d := range all {
		if _, ours := model.OwnerOf(d.Name, s.config.ClusterID); ours && balancerSpec(d).Kind == model.NLB && len(d.Subnets) > 0 {
			out[d.Subnets[0].ID]++
		}
	}
	return out
}

// resourceGroup returns the id of the configured resource group.
func (s *Session) resourceGroup(ctx context.Context) (string, error) {
	return s.group.Get(ctx, s.now(), factAge, s.findGroup)
}

// findGroup reads the resource group. An account that may not see a group gets an empty list.
func (s *Session) findGroup(ctx context.Context) (string, error) {
	var found struct {
		Resources []nameDoc `json:"resources"`
	}
	r := request{method: http.MethodGet, url: s.manager + "/v2/resource_groups", query: url.Values{"account_id": {s.config.Account}, "name": {s.config.ResourceGroup}}}
	if _, err := s.read(ctx, r, &found); err != nil {
		return "", err
	}
	if len(found.Resources) != 1 {
		return "", &fault.Fault{
			Meaning: fault.Denied, Text: "provider.g2ResourceGroupName of the cloud configuration: no resource group " + s.config.ResourceGroup + " is visible to the API key",
			Helps: "correct the name, or give the API key the platform role Viewer on the resource group",
		}
	}
	return found.Resources[0].ID, nil
}
