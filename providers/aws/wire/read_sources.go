package wire

import (
	"context"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
)

// namedGroup is what is cached of a security group.
type namedGroup struct {
	name     string
	balancer bool // it is a load balancer's or that of all load balancers of the cluster
}

func (s *Session) namedGroupOf(g ec2types.SecurityGroup) namedGroup {
	name := awssdk.ToString(g.GroupName)
	return namedGroup{name, strings.HasPrefix(name, model.OwnGroupName("")) || tagsOfEC2(g.Tags)[model.TagLBCCluster] == s.cluster}
}

// isNamedBySource reports whether the key of a rule in a group of the nodes contains the name of
// its source: the group of a load balancer, or of all of them. Without the name the rule has
// another key than the one that its Service enters into the ledger, and would be deleted as a
// leftover.
func (s *Session) isNamedBySource(rule model.FoundRule) bool {
	if rule.Source.IsZero() || rule.Source.ID == s.config.Controller.BackendGroup {
		return false
	}
	return rule.Description == model.ClassicDescription(s.cluster) || rule.Description == model.OwnRuleDescription && rule.FromPort != rule.ToPort
}

// sourceJobs find the names of groups that rules name as their source and that no list has
// shown: one was created since, or is another Service's of kind LBC.
func (r *vpcRead) sourceJobs() []kit.Detail {
	for name, g := range r.own {
		if r.namedGroupOf(g).balancer {
			r.sources[awssdk.ToString(g.GroupId)] = name
		}
	}
	var ids []string
	for _, g := range r.shared.NodeGroups {
		for _, rule := range g.Rules {
			if _, listed := r.sources[rule.Source.ID]; r.isNamedBySource(rule) && !listed && r.shared.GroupNames[rule.Source.ID] == "" {
				ids = append(ids, rule.Source.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	ids = eachOnce(ids)
	return []kit.Detail{{Of: ids, Run: func() error { return r.readSources(ids) }}}
}

func (r *vpcRead) readSources(ids []string) error {
	found, _, err := r.facts.named.Get(r.ctx, r.now(), ids, r.groupsByID)
	if err != nil {
		return err
	}
	r.Keep(func() {
		for _, id := range ids {
			g, exists := found[id]
			switch {
			case !exists:
				r.unnamed = append(r.unnamed, id)
			case g.balancer:
				r.sources[id] = g.name
			}
		}
	})
	return nil
}

// isUnnamed reports whether the key of a rule is unknown, because its source is not visible yet.
func (r *vpcRead) isUnnamed(rule model.FoundRule) bool {
	return r.isNamedBySource(rule) && slices.Contains(r.unnamed, rule.Source.ID)
}

// groupsByID asks for groups by filter and not by id, because one unknown id would make
// the whole call fail.
func (s *Session) groupsByID(ctx context.Context, ids []string) (map[string]namedGroup, error) {
	found, err := s.groupsWhere(ctx, "group-id", ids)
	out := map[string]namedGroup{}
	for _, g := range found {
		out[awssdk.ToString(g.GroupId)] = s.namedGroupOf(g)
	}
	return out, err
}
