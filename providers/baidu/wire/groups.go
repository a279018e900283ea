package wire

import (
	"net/http"
	"slices"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createGroup creates a server group with its members.
func createGroup(c *change, spec model.Group) plan.Outcome {
	return newGroup(c, spec, "appservergroup", map[string]any{"name": spec.Name, "desc": spec.Mark, "backendServerList": serverDocs(spec.Members)})
}

// createPool creates a group of IP addresses with its members.
func createPool(c *change, spec model.Group) plan.Outcome {
	return newGroup(c, spec, "ipgroup", map[string]any{"name": spec.Name, "desc": spec.Mark, "memberList": memberDocs(spec.Members)})
}

func newGroup(c *change, spec model.Group, path string, body any) plan.Outcome {
	var made groupDoc
	if err := createPart(c, path, body, &made); err != nil {
		return kit.Failed(err)
	}
	if made.ID == "" {
		return kit.Failed(fault.New(fault.Ambiguous, "the answer names no new group"))
	}
	return c.Created(made.ID, stack.Description, spec)
}

func deleteGroup(c *change) plan.Outcome {
	return kit.Deleted(writePart(c, http.MethodPut, "appservergroup", map[string]string{"sgId": c.ID()}, "delete", ""))
}

func deletePool(c *change) plan.Outcome {
	return kit.Deleted(writePart(c, http.MethodPut, "ipgroup", map[string]string{"ipGroupId": c.ID()}, "delete", ""))
}

// updateServers changes the members of a server group: new ones are added before others are removed.
func updateServers(c *change, spec model.Group) plan.Outcome {
	found, _ := c.Step.Found.(model.Group)
	group := c.ID()
	return changeMembers(c, spec.Members, found.Members,
		func(some []model.Member) error {
			return writePart(c, http.MethodPost, "blbrs", map[string]any{"sgId": group, "backendServerList": serverDocs(some)})
		},
		func(some []model.Member) error {
			return writePart(c, http.MethodPut, "blbrs", map[string]any{"sgId": group, "backendServerIdList": instancesOf(some)}, "batchdelete", "")
		})
}

// updateAddresses changes the members of a group of IP addresses, which are removed by ids of their own.
func updateAddresses(c *change, spec model.Group) plan.Outcome {
	found, _ := c.Step.Found.(model.Group)
	group := c.ID()
	return changeMembers(c, spec.Members, found.Members,
		func(some []model.Member) error {
			return writePart(c, http.MethodPost, "ipgroup/member", map[string]any{"ipGroupId": group, "memberList": memberDocs(some)})
		},
		func(some []model.Member) error {
			lb := c.Parent()
			docs, err := listAll[memberDoc](c.Ctx, c.Session, "memberList", newRequest(apiBLB, http.MethodGet, rootApp+"/"+lb+"/ipgroup/member", nil, "ipGroupId", group))
			if err != nil {
				return err
			}
			var ids []string
			for _, d := range docs {
				if slices.ContainsFunc(some, func(m model.Member) bool { return m.Address == d.Address && m.Port == d.Port }) {
					ids = append(ids, d.ID)
				}
			}
			if len(ids) == 0 {
				return nil
			}
			return writePart(c, http.MethodPut, "ipgroup/member", map[string]any{"ipGroupId": group, "memberIdList": ids}, "delete", "")
		})
}

// updateBackends changes the backends of a normal load balancer.
func updateBackends(c *change, spec model.Backends) plan.Outcome {
	found, _ := c.Step.Found.(model.Backends)
	return changeMembers(c, spec.Members, found.Members,
		func(some []model.Member) error {
			return writePart(c, http.MethodPost, "backendserver", map[string]any{"backendServerList": serverDocs(some)})
		},
		func(some []model.Member) error {
			return writePart(c, http.MethodPut, "backendserver", map[string]any{"backendServerList": instancesOf(some)})
		})
}

// changeMembers adds and removes members of a set. Members that the cloud refuses are found by smaller calls; one
// that is bound already is as wanted.
func changeMembers(c *change, want, found []model.Member, add, remove func([]model.Member) error) plan.Outcome {
	added, removed := model.SplitMembers(want, found)
	var refused []plan.Refusal
	if len(added) > 0 {
		all, err := kit.Split(added, nil, func(some []model.Member) error {
			err := add(some)
			if len(some) == 1 && fault.Is(err, fault.Exists) {
				return nil
			}
			return err
		})
		if refused = all; err != nil {
			return kit.Failed(err)
		}
	}
	if len(removed) > 0 {
		if err := remove(removed); err != nil && !fault.Is(err, fault.NotFound) {
			return plan.Outcome{Err: err, Sent: plan.MaybeSent}
		}
	}
	return c.Members(refused, nil)
}

func instancesOf(members []model.Member) []string {
	var out []string
	for _, m := range members {
		out = append(out, m.Instance)
	}
	return out
}

// targetCall returns the path of ports or protocols of a group, and a body for a target with a health check.
func targetCall(c *change, spec model.Target) (path string, body targetDoc) {
	body = targetBody(spec)
	if c.Step.Target.In.Kind == model.KindPool {
		body.Pool = c.Parent()
		return "ipgroup/backendpolicy", body
	}
	body.Group = c.Parent()
	return "appservergroupport", body
}

func createTarget(c *change, spec model.Target) plan.Outcome {
	path, body := targetCall(c, spec)
	var made targetDoc
	if err := createPart(c, path, body, &made); err != nil {
		return kit.Failed(err)
	}
	if made.ID == "" {
		made.ID = newPolicy // the answer about a protocol does not name it
	}
	return c.Created(made.ID, stack.Derived, spec)
}

// updateTarget writes the health check of a port, with the observed values where none is desired.
func updateTarget(c *change, spec model.Target) plan.Outcome {
	found, _ := c.Step.Found.(model.Target)
	spec.Health = spec.Health.Over(found.Health)
	id, err := targetID(c, spec)
	if err != nil {
		return kit.Failed(err)
	}
	path, body := targetCall(c, spec)
	if body.Group != "" {
		body.PortID = id
	} else {
		body.ID = id
	}
	body.Port, body.Type = 0, ""
	return c.Updated(spec, writePart(c, http.MethodPut, path, body))
}

func deleteTarget(c *change) plan.Outcome {
	spec, _ := specOf(c).(model.Target)
	id, err := targetID(c, spec)
	if err != nil {
		return kit.Deleted(err)
	}
	if c.Step.Target.In.Kind == model.KindPool {
		return kit.Deleted(writePart(c, http.MethodPut, "ipgroup/backendpolicy", map[string]any{"ipGroupId": c.Parent(), "backendPolicyIdList": []string{id}}, "delete", ""))
	}
	return kit.Deleted(writePart(c, http.MethodPut, "appservergroupport", map[string]any{"sgId": c.Parent(), "portIdList": []string{id}}, "batchdelete", ""))
}

// targetID returns the id of the target of a step, which is looked up if its creation did not name it.
func targetID(c *change, spec model.Target) (string, error) {
	if c.ID() != newPolicy {
		return c.ID(), nil
	}
	all, err := listAll[groupDoc](c.Ctx, c.Session, "appIpGroupList", newRequest(apiBLB, http.MethodGet, rootApp+"/"+balancerOf(c)+"/ipgroup", nil))
	if err != nil {
		return "", err
	}
	for _, d := range all {
		for _, t := range d.Protocols {
			if d.ID == c.Parent() && t.Type == spec.Protocol {
				return t.ID, nil
			}
		}
	}
	return "", fault.New(fault.NotFound, "the group %s has no protocol %s", c.Parent(), spec.Protocol)
}
