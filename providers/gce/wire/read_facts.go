package wire

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// factFamily is the list that supplies a kind of facts.
func factFamily(kind stack.Kind) family {
	switch kind {
	case model.FactSubnets:
		return familySubnets
	case model.FactZones:
		return familyZones
	case model.FactInstances:
		return familyInstances
	case model.FactAddresses:
		return familyReserved
	case model.FactGroups:
		return familyOthers
	case model.FactRules:
		return familyRules
	}
	return ""
}

// fact is a list of facts, as far as a scope needs it.
type fact struct {
	family family
	needed bool
	read   func() error
}

func (r *read) learn(f fact) {
	if !f.needed {
		return
	}
	if err := f.read(); err != nil {
		r.fail(f.family, err)
	}
}

// learnFacts brings the facts that the scopes need: zones first, since they say
// where instances and groups are looked for.
func (r *read) learnFacts() {
	r.learn(fact{familyZones, r.needs(model.FactZones) || r.needs(model.FactInstances), func() (err error) {
		r.zones, err = r.facts.zones.Get(r.ctx, r.now(), placeAge, r.managedZones)
		return err
	}})
	kit.ForEach([]fact{
		{familySubnets, r.needs(model.FactSubnets), func() (err error) {
			r.subnets, err = r.facts.subnets.Get(r.ctx, r.now(), placeAge, r.networkSubnets)
			return err
		}},
		{familyInstances, r.needs(model.FactInstances), func() (err error) {
			r.machines, err = r.learnInstances()
			return err
		}},
		{familyInstances, r.needs(model.FactZones), func() (err error) {
			r.unfit, err = r.learnUnfit()
			return err
		}},
		{familyOthers, r.needs(model.FactGroups), func() (err error) {
			r.others, err = r.facts.groups.Get(r.ctx, r.now(), addressAge, r.groupsOfOthers)
			return err
		}},
	}, r.learn)
}

// groupsOfOthers are the instance groups of the region whose names begin as ours
// would. Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_internal.go.
func (s *Session) groupsOfOthers(ctx context.Context) ([]string, error) {
	var out []string
	lost := ""
	filter := `name eq "` + s.config.GroupName(model.InternalIG) + `.*"`
	it := beginList(ctx, s, s.groupAPI.AggregatedList, &computepb.AggregatedListInstanceGroupsRequest{Filter: &filter})
	err := walkScopes(it.Next, &it.Response, func(where string) {
		if where = model.PathOf(where); s.isRegionZone(where) {
			lost = where
		}
	}, func(p compute.InstanceGroupsScopedListPair) (string, *computepb.Warning) {
		for _, g := range p.Value.GetInstanceGroups() {
			if s.isRegionZone(p.Key) {
				out = append(out, model.PathOf(g.GetSelfLink()))
			}
		}
		return p.Key, p.Value.GetWarning()
	})
	if err == nil && lost != "" {
		err = fault.New(fault.Unavailable, "%s: its instance groups cannot be listed", lost)
	}
	slices.Sort(out)
	return out, err
}

// learnReserved runs after the lists, one of which may have returned the addresses.
func (r *read) learnReserved() {
	r.learn(fact{familyReserved, r.needs(model.FactAddresses), func() (err error) {
		r.reserved, err = r.facts.addresses.Get(r.ctx, r.now(), addressAge, r.allAddresses)
		return err
	}})
}

// needs reports whether a scope asks for facts of the kind. Shallow ones get them as
// well: Build must not see a region without zones.
func (r *read) needs(kind stack.Kind) bool {
	return slices.ContainsFunc(r.scopes, func(s providers.Scope) bool {
		return slices.ContainsFunc(s.Facts, func(l providers.Lookup) bool { return l.Kind == kind })
	})
}

// managedZones are those whose instances may be backends. Source:
// kubernetes/cloud-provider-gcp:providers/gce/gce.go (managedZones).
func (s *Session) managedZones(ctx context.Context) ([]string, error) {
	if !s.config.Multizone {
		return []string{s.config.Zone}, nil
	}
	var out []string
	it := beginList(ctx, s, s.placeAPI.zones.List, &computepb.ListZonesRequest{})
	err := eachComplete(it.Next, func(z *computepb.Zone) {
		if model.LastOf(z.GetRegion()) == s.config.Region {
			out = append(out, z.GetName())
		}
	})
	slices.Sort(out)
	return out, err
}

// networkSubnets returns the subnets of the region in the cluster's network. In a
// shared VPC a cluster may be allowed to use subnets and not to list them: then it is
// the configured one, or none if that may not be read either.
func (s *Session) networkSubnets(ctx context.Context) ([]model.Subnet, error) {
	found, err := s.listSubnets(ctx)
	if providers.HidesOnly(err) {
		found, err = s.configuredSubnet(ctx)
	}
	out := make([]model.Subnet, 0, len(found))
	for _, n := range found {
		out = append(out, model.Subnet{
			Name: n.GetName(), Path: model.ProjectPathOf(n.GetSelfLink()), Network: model.ProjectPathOf(n.GetNetwork()), CIDR: n.GetIpCidrRange(),
			StackType: cmp.Or(n.GetStackType(), computepb.Subnetwork_IPV4_ONLY.String()), IPv6Access: n.GetIpv6AccessType(),
			Ready: n.GetState() == "" || n.GetState() == computepb.Subnetwork_READY.String(),
		})
	}
	slices.SortFunc(out, func(a, b model.Subnet) int { return cmp.Compare(a.Name, b.Name) })
	return out, err
}

func (s *Session) configuredSubnet(ctx context.Context) ([]*computepb.Subnetwork, error) {
	if s.config.Subnet == "" {
		return nil, nil
	}
	found, err := readCall(ctx, s.placeAPI.subnets.Get, &computepb.GetSubnetworkRequest{
		Project: projectOf(s.config.Subnet), Region: s.config.Region, Subnetwork: model.LastOf(s.config.Subnet),
	})
	if providers.HidesOnly(err) || fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return []*computepb.Subnetwork{found}, err
}

// listSubnets are the subnets of the region that are in the cluster's network.
func (s *Session) listSubnets(ctx context.Context) ([]*computepb.Subnetwork, error) {
	var out []*computepb.Subnetwork
	filter := `network eq ".*/` + model.LastOf(s.config.Network) + `"`
	it := beginList(ctx, s, s.placeAPI.subnets.List, &computepb.ListSubnetworksRequest{Project: s.config.HostProject(), Filter: &filter})
	err := eachComplete(it.Next, func(n *computepb.Subnetwork) {
		if model.ProjectPathOf(n.GetNetwork()) == s.config.Network {
			out = append(out, n)
		}
	})
	return out, err
}

// learnInstances returns the instances of the managed zones, from the cache if every
// node of the scopes is found there, or was missing a moment ago.
func (r *read) learnInstances() (map[string]model.Instance, error) {
	list := func() (instanceList, error) {
		return r.facts.instances.Get(r.ctx, r.now(), instanceAge, func(ctx context.Context) (instanceList, error) {
			by, err := r.managedInstances(ctx)
			return instanceList{by, r.now()}, err
		})
	}
	known, err := list()
	if err == nil && r.now().Sub(known.at) >= absentAge && r.hasNewNode(known.by) {
		r.facts.instances.Forget()
		known, err = list()
	}
	return known.by, err
}

// allNodesHave reports whether the names of all nodes of the scopes have a prefix: if
// one has not, the official controller looks for all instances as well.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_instances.go (getFoundInstanceByNames).
func (r *read) allNodesHave(prefix string) bool {
	for _, s := range r.scopes {
		for n := range s.Nodes.All() {
			if !strings.HasPrefix(n.Name, prefix) {
				return false
			}
		}
	}
	return true
}

func (r *read) hasNewNode(known map[string]model.Instance) bool {
	for _, s := range r.scopes {
		for n := range s.Nodes.All() {
			name, _, _ := strings.Cut(n.Name, ".")
			if _, ok := known[name]; !ok {
				return true
			}
		}
	}
	return false
}

// managedInstances are the instances of the managed zones by name. A zone that cannot be
// reached makes the whole result an error: treating its instances as deleted would empty
// load balancers.
func (r *read) managedInstances(ctx context.Context) (map[string]model.Instance, error) {
	out := map[string]model.Instance{}
	var lost string
	var filter *string
	if r.config.NodePrefix != "" && r.allNodesHave(r.config.NodePrefix) {
		filter = new(`name eq "` + r.config.NodePrefix + `.*"`)
	}
	it := beginList(ctx, r.Session, r.placeAPI.instances.AggregatedList, &computepb.AggregatedListInstancesRequest{Filter: filter})
	err := walkScopes(it.Next, &it.Response, func(where string) {
		if _, ours := r.ownZone(model.PathOf(where)); ours {
			lost = model.PathOf(where)
		}
	}, func(p compute.InstancesScopedListPair) (string, *computepb.Warning) {
		zone, ours := r.ownZone(p.Key)
		for _, i := range p.Value.GetInstances() {
			if ours {
				out[i.GetName()] = model.Instance{Zone: zone, Tags: i.GetTags().GetItems(), Stopped: isStopped(i.GetStatus())}
			}
		}
		return p.Key, p.Value.GetWarning()
	})
	if err == nil && lost != "" {
		err = fault.New(fault.Unavailable, "%s: its instances cannot be listed", lost)
	}
	return out, err
}

// isStopped reports whether an instance of the status runs neither now nor soon.
// Source: Compute Engine documentation, instance life cycle.
func isStopped(status string) bool {
	return slices.Contains([]string{"STOPPING", "STOPPED", "TERMINATED", "SUSPENDING", "SUSPENDED"}, status)
}

// reservedOf are the addresses that a scope asks for, sorted by name.
func (r *read) reservedOf(scope providers.Scope) []model.Reserved {
	var out []model.Reserved
	for _, a := range r.reserved {
		found := reservedOf(a)
		if slices.ContainsFunc(scope.Facts, func(l providers.Lookup) bool {
			return l.Kind == model.FactAddresses && (l.By == model.ByName && l.Value == found.Name || l.By == model.ByIP && l.Value == found.IP)
		}) {
			out = append(out, found)
		}
	}
	slices.SortFunc(out, func(a, b model.Reserved) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// learnRules lists all forwarding rules of the region where a scope asks for those on an address. The
// list of what the Services own is such a list already if there was one.
func (r *read) learnRules() {
	if !r.needs(model.FactRules) {
		return
	}
	if r.asked[familyRules] {
		r.neighbours = r.allRules()
		return
	}
	r.learn(fact{familyRules, true, func() (err error) {
		r.neighbours, err = r.facts.rules.Get(r.ctx, r.now(), addressAge, r.regionRules)
		return err
	}})
}

func (s *Session) regionRules(ctx context.Context) ([]*computepb.ForwardingRule, error) {
	return collectAll(beginList(ctx, s, s.ruleAPI.List, &computepb.ListForwardingRulesRequest{}).Next)
}

// rulesOf returns the forwarding rules on the addresses that a scope asks about, sorted by name.
func (r *read) rulesOf(scope providers.Scope, reserved []model.Reserved) []model.OtherRule {
	asked := map[string]bool{}
	for _, l := range scope.Facts {
		switch {
		case l.Kind != model.FactRules:
		case l.By == model.ByIP:
			asked[l.Value] = true
		default:
			for _, a := range reserved {
				asked[a.IP] = asked[a.IP] || a.Name == l.Value
			}
		}
	}
	var out []model.OtherRule
	for _, f := range r.neighbours {
		if rule := (&view{}).ruleOf(f); asked[rule.IP] {
			out = append(out, model.OtherRule{
				Name: rule.Name, Description: rule.Description, Scheme: rule.Scheme, Network: rule.Network,
				IP: rule.IP, Protocol: rule.Protocol, Ports: rule.Ports,
			})
		}
	}
	slices.SortFunc(out, func(a, b model.OtherRule) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// factsOf are shared between all scopes but for the addresses and the rules on them.
func (r *read) factsOf(scope providers.Scope) *model.Facts {
	reserved := r.reservedOf(scope)
	return &model.Facts{
		Zones: r.zones, Network: r.config.Network, Subnet: r.config.Subnet, Legacy: r.legacy,
		Subnets: r.subnets, Instances: r.machines, Groups: r.others, Unfit: r.unfit, Addresses: reserved,
		Rules: r.rulesOf(scope, reserved),
	}
}

// projectID is a project's id, also where the configuration has its number.
func (s *Session) projectID(ctx context.Context, project string) (string, error) {
	if !isProjectNumber(project) {
		return project, nil
	}
	p, err := readCall(ctx, s.placeAPI.projects.Get, &computepb.GetProjectRequest{Project: project})
	return p.GetName(), err
}

// findSubnet finds the cluster's subnet where the configuration has none: in an
// automatic network the one subnet of the region that the network made itself.
// Others remain without, and legacy networks have none.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce.go (determineSubnetURL, findSubnetForRegion).
func (s *Session) findSubnet(ctx context.Context) error {
	_, path, _ := strings.Cut(s.config.Network, "/")
	project, _, _ := strings.Cut(path, "/")
	network, err := readCall(ctx, s.placeAPI.networks.Get, &computepb.GetNetworkRequest{Project: project, Network: model.LastOf(s.config.Network)})
	if err != nil {
		return err
	}
	s.legacy = network.GetIPv4Range() != ""
	if !network.GetAutoCreateSubnetworks() {
		return nil
	}
	subnets, err := s.listSubnets(ctx)
	if err != nil {
		return err
	}
	automatic := netip.MustParsePrefix("10.128.0.0/9")
	for _, n := range subnets {
		if p, err := netip.ParsePrefix(n.GetIpCidrRange()); err == nil && automatic.Contains(p.Addr()) {
			s.config.Subnet = model.ProjectPathOf(n.GetSelfLink())
		}
	}
	return nil
}
