package wire

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Values of rules of security groups. Source: VPC API reference, SecurityGroupRule.
const (
	outbound   = "outbound"
	protoTCP   = "tcp"
	versionIP4 = "ipv4"
)

// nodeRules reads the security group of the cluster's nodes with its rules. Clusters that IBM does
// not manage have no such group, and then nothing is read.
func (s *Session) nodeRules(ctx context.Context) (groupDoc, error) {
	known := s.nodeGroup.Load()
	if known == nil {
		all, err := s.groupsWith(ctx, nil)
		at := slices.IndexFunc(all, func(g model.SecurityGroup) bool {
			return g.Name == model.WorkerGroup(s.config.ClusterID) && g.VPC == s.config.VPC
		})
		if err != nil || at < 0 {
			return groupDoc{}, err
		}
		known = &all[at].ID
	}
	var found groupDoc
	_, err := s.read(ctx, s.vpc(http.MethodGet, nil, "security_groups", *known), &found)
	if fault.Is(err, fault.NotFound) {
		known, err = nil, nil // deleted with all of its rules
	}
	s.nodeGroup.Store(known)
	return found, err
}

// listUnmarked returns what the rules of a group open that have no name of a Service.
func listUnmarked(g groupDoc) []model.Rule {
	var out []model.Rule
	for _, d := range g.Rules {
		if _, marked := model.RuleOwner(d.Name); !marked && d.Direction == outbound && d.Protocol == protoTCP && d.First == d.Last && d.Remote.Address != "" {
			out = append(out, ruleSpec(g, d))
		}
	}
	return out
}

func ruleSpec(g groupDoc, d ruleDoc) model.Rule {
	return model.Rule{Group: g.ID, Address: d.Remote.Address, Port: d.First}
}

// rules adds the rules with a name of the Service to the observed state.
func (f *finder) rules(g groupDoc) {
	for _, l := range f.scope.Own {
		if l.Kind != model.KindRule {
			continue
		}
		for _, d := range g.Rules {
			if name, ok := strings.CutPrefix(d.Name, l.Value); ok {
				f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindRule, Name: name}, ID: d.ID, Proof: stack.Name, Spec: ruleSpec(g, d)})
			}
		}
	}
}

func createRule(c *change, spec model.Rule) plan.Outcome {
	body := ruleDoc{
		Name: model.RuleName(c.Step.ID.Owner, c.Step.Target.Key), Direction: outbound, Version: versionIP4, Protocol: protoTCP,
		First: spec.Port, Last: spec.Port, Remote: targetDoc{Address: spec.Address},
	}
	var made ruleDoc
	if err := c.Session.write(c.Ctx, c.Session.vpc(http.MethodPost, body, "security_groups", spec.Group, "rules"), &made); err != nil {
		return kit.Failed(err)
	}
	return c.Created(made.ID, stack.Name, spec)
}

func deleteRule(c *change, spec model.Rule) plan.Outcome {
	return kit.Deleted(c.Session.write(c.Ctx, c.Session.vpc(http.MethodDelete, nil, "security_groups", spec.Group, "rules", c.ID()), nil))
}
