package wire

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// groupDoc is a network security group.
// Source: Core Services API reference, NetworkSecurityGroup.
type groupDoc struct {
	ID          string            `json:"id"`
	Name        string            `json:"displayName"`
	Compartment string            `json:"compartmentId"`
	VCN         string            `json:"vcnId"`
	State       string            `json:"lifecycleState"`
	Created     string            `json:"timeCreated"`
	Tags        map[string]string `json:"freeformTags"`
}

// gone reports whether the group is being deleted, or is deleted.
func (g groupDoc) gone() bool { return g.State == "TERMINATING" || g.State == "TERMINATED" }

// peerGroup is the type of a peer that is a group.
const peerGroup = "NETWORK_SECURITY_GROUP"

// ruleDoc is a rule of a group. Source: Core Services API reference, SecurityRule.
type ruleDoc struct {
	entryDoc
	ID        string `json:"id,omitempty"`
	Direction string `json:"direction"`
}

// Peer is the range or group at the other end.
func (r ruleDoc) Peer() string { return cmp.Or(r.Source, r.Destination) }

// PeerType says which of the two it is.
func (r ruleDoc) PeerType() string { return cmp.Or(r.SourceType, r.DestinationType) }

// TCPPort is the only port of TCP that the rule is about; false: it is about more.
func (r ruleDoc) TCPPort() (int32, bool) {
	port, ok := r.TCP.onePort()
	return port, ok && r.Protocol == tcp && !r.Stateless
}

func (s *Session) groupRules(ctx context.Context, id string) ([]ruleDoc, error) {
	return listAll[ruleDoc](ctx, s, s.core, "/networkSecurityGroups/"+id+"/securityRules", url.Values{}, false)
}

func createGroup(c *change, spec model.Group) plan.Outcome {
	var made groupDoc
	_, err := c.Session.post(c, c.Session.core, request{method: http.MethodPost, path: "/networkSecurityGroups", body: model.GroupCodec().Create(spec, nil)}, &made)
	if err != nil {
		return kit.Failed(invalidIfMissing(err))
	}
	return c.Created(made.ID, stack.Tag, spec)
}

func deleteGroup(c *change) plan.Outcome {
	_, err := c.Session.write(c.Ctx, c.Session.core, request{method: http.MethodDelete, path: "/networkSecurityGroups/" + c.Step.Target.ID}, nil)
	return kit.Deleted(err)
}

// createRules adds all rules of a Service to a group, so many in one call as it takes.
func createRules(c *change, spec model.GroupRules) plan.Outcome {
	id := c.Batch.ID(c.Step, spec.Group)
	for part := range slices.Chunk(spec.Rules, rulesAtOnce) {
		if err := (ruling{c}).addRules(id, part); err != nil {
			return kit.Failed(invalidIfMissing(err))
		}
	}
	return c.Created(id, stack.Description, spec)
}

// rulesAtOnce is how many rules one call adds or removes.
// Source: Core Services API reference, AddNetworkSecurityGroupSecurityRules.
const rulesAtOnce = 25

// updateRules adds and removes what a step says.
func updateRules(c *change, spec model.GroupRules) plan.Outcome {
	add, remove := plan.Members[model.GroupRule](c.Step)
	id := c.Step.Target.ID
	if len(add) > 0 {
		if err := (ruling{c}).addRules(id, add); err != nil {
			return kit.Failed(invalidIfMissing(err))
		}
	}
	if len(remove) > 0 {
		if err := (ruling{c}).removeRules(id, remove); err != nil {
			return kit.Failed(err)
		}
	}
	return c.Updated(spec, nil)
}

// deleteRules removes all rules of a Service from a group.
func deleteRules(c *change) plan.Outcome {
	spec, _ := c.Step.Target.Spec.(model.GroupRules)
	return kit.Deleted((ruling{c}).removeRules(c.Step.Target.ID, spec.Rules))
}

// ruling is a change of rules in groups.
type ruling struct{ *change }

func (c ruling) addRules(group string, rules []model.GroupRule) error {
	var body []ruleDoc
	for _, r := range rules {
		body = append(body, c.rule(r))
	}
	_, err := c.Session.write(c.Ctx, c.Session.core, request{
		method: http.MethodPost, path: "/networkSecurityGroups/" + group + "/actions/addSecurityRules", body: map[string]any{"securityRules": body},
	}, nil)
	return err
}

// rule is a rule as the API takes it.
func (c ruling) rule(r model.GroupRule) ruleDoc {
	peer, kind := r.Peer, peerRange
	if !r.Of.IsZero() {
		peer, kind = c.Batch.ID(c.Step, r.Of), peerGroup
	} else if len(nodeports.Prefixes(peer)) == 0 {
		kind = peerGroup
	}
	out := ruleDoc{Direction: r.Direction, entryDoc: entryDoc{Protocol: tcp, Description: model.RuleMark(c.Step.ID.Owner), TCP: &tcpDoc{Destination: &rangeDoc{r.Port, r.Port}}}}
	if r.Direction == model.Ingress {
		out.Source, out.SourceType = peer, kind
	} else {
		out.Destination, out.DestinationType = peer, kind
	}
	return out
}

// removeRules deletes the Service's rules that equal the given ones; only the cloud has
// their identifiers. A deleted group has none.
func (c ruling) removeRules(group string, rules []model.GroupRule) error {
	found, err := c.Session.groupRules(c.Ctx, group)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var ids []string
	for _, d := range found {
		if slices.ContainsFunc(rules, func(r model.GroupRule) bool { return sameRule(d, c.rule(r)) }) {
			ids = append(ids, d.ID)
		}
	}
	for part := range slices.Chunk(ids, rulesAtOnce) {
		_, err := c.Session.write(c.Ctx, c.Session.core, request{
			method: http.MethodPost, path: "/networkSecurityGroups/" + group + "/actions/removeSecurityRules", body: map[string]any{"securityRuleIds": part},
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

func sameRule(a, b ruleDoc) bool {
	port, one := a.TCPPort()
	other, _ := b.TCPPort()
	return one && port == other && a.Direction == b.Direction && a.Peer() == b.Peer() && a.Description == b.Description
}
