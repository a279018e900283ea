package wire

import (
	"cmp"
	"fmt"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// listGroups finds the Services' own security groups by name, in our VPC.
func (r *vpcRead) listGroups() error {
	found, err := r.groupsBy(r.ctx, "group-name", slices.Concat(r.values(model.KindGroup, model.ByName), r.values(model.KindSharedGroup, model.ByName)))
	err = cmp.Or(err, r.listNamedGroups())
	for _, g := range found {
		r.own[awssdk.ToString(g.GroupName)] = g
	}
	return err
}

// groupStack is the Service's own groups with their rules. It also fills in
// which groups the view may call its own.
func (r *read) groupStack(v *view) []stack.Resource {
	var out []stack.Resource
	var groups []ec2types.SecurityGroup
	for _, name := range lookupValues(v.scope.Own, model.KindGroup, model.ByName) {
		g, ok := r.vpc.own[name]
		if !ok {
			continue
		}
		key := stack.Key{Kind: model.KindGroup}
		if name != model.OwnGroupName(v.classic) {
			key.Name = model.ManagedNLBName
		}
		res := r.groupOf(key, g)
		if tags := res.Spec.(model.Group).Tags; !model.OfOtherController(tags) {
			v.own[res.ID] = key
		} else if (v.controllerServes() || r.networks.hasMoved(v, res.ID) || r.movedIn(tags) != "") && model.LBCMarks(r.cluster, v.scope.Owner, tags) {
			v.own[res.ID], res.Proof = key, stack.Tag
		}
		out, groups = append(out, res), append(groups, g)
	}
	if !v.deep {
		return out
	}
	// Rules may name any of the groups, so they come when all are known.
	for i, g := range groups {
		out = append(out, v.ingressOf(out[i], g))
	}
	return out
}

func (s *Session) groupOf(key stack.Key, g ec2types.SecurityGroup) stack.Resource {
	tags := tagsOfEC2(g.Tags)
	res := stack.Resource{
		Key: key, ID: awssdk.ToString(g.GroupId), Proof: stack.Name,
		Spec: model.Group{
			Name: awssdk.ToString(g.GroupName), Description: awssdk.ToString(g.Description),
			VPC: awssdk.ToString(g.VpcId), Tags: tags,
		},
	}
	switch {
	case model.OfOtherController(tags):
		res.Proof = stack.None
	case s.config.Cluster.Owns(tags):
		res.Proof = stack.Tag
	case s.config.Cluster.ID != "" && s.config.Cluster.Marks(tags), s.config.Cluster.Other(tags) != "":
		// It belongs to another cluster, or is shared with one: that is not ours to delete.
		res.Proof = stack.None
	}
	return res
}

func (v *view) ingressOf(group stack.Resource, g ec2types.SecurityGroup) stack.Resource {
	var rules []model.Permission
	for _, found := range rulesOf(g.IpPermissions) {
		p := found.Permission
		if !p.Source.IsZero() {
			p.Source = v.ref(p.Source.ID)
		}
		rules = append(rules, p)
	}
	slices.SortFunc(rules, model.Permission.Compare)
	return stack.Resource{
		Key: stack.Key{Kind: model.KindIngress, Name: group.Key.Name}, ID: group.ID, In: group.Key,
		Proof: group.Proof, Spec: model.Ingress{Rules: rules},
	}
}

// listSubnets reads the VPC's subnets if any scope has them as a fact.
func (r *vpcRead) listSubnets() error {
	if len(r.factValues(model.KindSubnets, model.ByVPC)) == 0 {
		return nil
	}
	var err error
	r.shared.Subnets, err = r.facts.network.Get(r.ctx, r.now(), networkAge, r.subnets)
	return err
}

// listNodes reads the groups of the nodes, with their rules. For builds they are facts,
// and the cache will do; for full reads they are where a Service's rules are. A presence
// check is built too, to know which shared rules it wants, and needs the same facts.
func (r *vpcRead) listNodes() error {
	ids, wanted, again := r.nodesOfScopes()
	named := r.factValues(model.KindGroup, model.ByWanted)
	if !wanted {
		return nil
	}
	var err error
	r.shared.Instances, r.from.machines, err = r.facts.machines.Get(r.ctx, r.now(), ids, r.instancesByID)
	if err != nil {
		return fmt.Errorf("instances: %w", err)
	}
	if r.config.DisableNodeRules {
		return nil
	}
	pods, err := r.listPods()
	if err != nil {
		return fmt.Errorf("network interfaces of pods: %w", err)
	}
	needed := groupsOfNodes(r.shared.Instances, pods)
	if known, ok := r.facts.nodeGroups(r.now(), needed, named); ok && !again {
		r.shared.NodeGroups, r.shared.GroupNames = known, r.facts.groupNames()
		return nil
	}
	groups, names, err := r.nodeGroups(r.ctx, needed)
	if err != nil {
		return err
	}
	r.facts.learnGroups(r.now(), groups, names, named)
	r.shared.NodeGroups, r.shared.GroupNames = groups, r.facts.groupNames()
	return nil
}

// nodesOfScopes are the instances whose groups matter. A released Service has no nodes;
// its rules can be in the group of any.
func (r *vpcRead) nodesOfScopes() (ids []string, needed, again bool) {
	listed := map[string]bool{} // digests of node sets
	for _, s := range r.scopes {
		owns := len(s.Own) > 0 && s.Depth == providers.Deep
		if !owns && len(lookupValues(s.Facts, model.KindNodeGroup, model.ByNodes)) == 0 {
			continue
		}
		needed, again = true, again || owns
		if digest := s.Nodes.Digest(); !listed[digest] {
			listed[digest] = true
			ids = append(ids, instanceIDs(s.Nodes)...)
		}
		if owns && s.Nodes.Len() == 0 {
			ids = append(ids, r.facts.remembered()...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), needed, again
}

// referringJobs find groups that let a released Service's own group in. They are groups
// of nodes without our tag, which no other look-up finds; as long as their rules exist,
// the Service's group cannot be deleted.
func (r *vpcRead) referringJobs() []kit.Detail {
	if r.config.DisableNodeRules {
		return nil
	}
	var own []string
	for _, s := range r.deep {
		if s.Nodes.Len() > 0 {
			continue
		}
		for _, name := range lookupValues(s.Own, model.KindGroup, model.ByName) {
			if g, ok := r.own[name]; ok {
				own = append(own, awssdk.ToString(g.GroupId))
			}
		}
	}
	if len(own) == 0 {
		return nil
	}
	return []kit.Detail{{Of: own, Run: func() error { return r.readReferring(own) }}}
}

func (r *vpcRead) readReferring(own []string) error {
	found, err := r.groupsBy(r.ctx, "ip-permission.group-id", own)
	if err != nil {
		return err
	}
	r.Keep(func() {
		all := slices.Clone(r.shared.NodeGroups)
		for _, g := range found {
			i, known := groupAt(all, awssdk.ToString(g.GroupId))
			if !known && !slices.Contains(own, awssdk.ToString(g.GroupId)) {
				all = slices.Insert(all, i, nodeGroupOf(g))
			}
		}
		r.shared.NodeGroups = all
	})
	return nil
}

// instanceIDs are the instances of a set of nodes; nodes that run elsewhere have none.
func instanceIDs(nodes nodeports.NodeSet) []string {
	var out []string
	for n := range nodes.All() {
		if id, ok := model.InstanceID(n.ProviderID); ok {
			out = append(out, id)
		}
	}
	return out
}
