package wire

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createListener creates a listener. One of a normal load balancer is noted before, because it cannot
// carry a mark.
func createListener(c *change, spec model.Listener) plan.Outcome {
	if spec.BackendPort != 0 {
		if err := noteListener(c); err != nil {
			return kit.Failed(err)
		}
	}
	if err := createPart(c, spec.Protocol+"listener", listenerBody(spec), nil); err != nil {
		return kit.Failed(err)
	}
	return c.Created(c.Step.Target.Key.Name, stack.Derived, spec)
}

// noteListener adds the listener of a step to the note of its Service.
func noteListener(c *change) error {
	lb, name := c.Parent(), c.Step.Target.Key.Name
	return c.Session.note(c.Ctx, c.Step.ID.Owner, func(note map[string]string) map[string]string {
		var names []string
		if note[model.NoteBalancer] == lb {
			names = splitNames(note[model.NoteListeners])
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		slices.Sort(names)
		return map[string]string{model.NoteBalancer: lb, model.NoteListeners: joinNames(names)}
	})
}

// updateListener writes what a listener is asked for; the rest stays.
func updateListener(c *change, spec model.Listener) plan.Outcome {
	found, _ := c.Step.Found.(model.Listener)
	if spec.Scheduler == "" {
		spec.Scheduler = found.Scheduler
	}
	if spec.BackendPort == 0 {
		spec.BackendPort = found.BackendPort
	}
	spec.Health = spec.Health.Over(found.Health)
	body := listenerBody(spec)
	body.Port = 0
	return c.Updated(spec, writePart(c, http.MethodPut, spec.Protocol+"listener", body, "listenerPort", strconv.Itoa(int(spec.Port))))
}

// deleteListener deletes the listener of one protocol: a list of ports would delete those of the other
// one as well.
func deleteListener(c *change) plan.Outcome {
	spec, ok := specOf(c).(model.Listener)
	if !ok {
		return kit.Deleted(fault.New(fault.Internal, "%s: its port is not known", c.Step.ID))
	}
	body := map[string][]portDoc{"portTypeList": {{spec.Port, spec.Protocol}}}
	return kit.Deleted(writePart(c, http.MethodPut, "listener", body, "batchdelete", ""))
}

// specOf returns the found content of the resource that a step deletes, or else the one of its target.
func specOf(c *change) stack.Spec {
	if c.Step.Found != nil {
		return c.Step.Found
	}
	return c.Step.Target.Spec
}

// createPolicy sends the traffic of a listener to a group. The answer does not name the policy, so that it
// is looked up before it is deleted.
func createPolicy(c *change, spec model.Policy) plan.Outcome {
	policy := policyDoc{Description: spec.Mark, BackendPort: spec.Backend, Priority: 1, Rules: []ruleDoc{{"*", "*"}}}
	if id := c.Resolve(spec.Group); spec.Group.To.Kind == model.KindPool {
		policy.Pool = id
	} else {
		policy.Group = id
	}
	if policy.Pool == "" && policy.Group == "" {
		return kit.Failed(fault.New(fault.Internal, "%s: its group is not known", c.Step.ID))
	}
	body := map[string]any{"listenerPort": spec.Port, "type": spec.Protocol, "appPolicyVos": []policyDoc{policy}}
	if err := createPart(c, "policys", body, nil); err != nil {
		return kit.Failed(err)
	}
	return c.Created(newPolicy, stack.Derived, spec)
}

// newPolicy is the id of a policy that was not read since its creation.
const newPolicy = "new"

func deletePolicy(c *change) plan.Outcome {
	spec, ok := specOf(c).(model.Policy)
	if !ok {
		return kit.Deleted(fault.New(fault.Internal, "%s: its listener is not known", c.Step.ID))
	}
	ids := []string{c.ID()}
	if c.ID() == newPolicy {
		lb := balancerOf(c)
		r := newRequest(apiBLB, http.MethodGet, rootApp+"/"+lb+"/policys", nil, "port", strconv.Itoa(int(spec.Port)), "type", spec.Protocol)
		all, err := listAll[policyDoc](c.Ctx, c.Session, "policyList", r)
		if err != nil {
			return kit.Deleted(err)
		}
		ids = nil
		for _, d := range all {
			if d.Description == spec.Mark {
				ids = append(ids, d.ID)
			}
		}
		if len(ids) == 0 {
			return kit.Deleted(nil)
		}
	}
	body := map[string]any{"port": spec.Port, "type": spec.Protocol, "policyIdList": ids}
	return kit.Deleted(writePart(c, http.MethodPut, "policys", body, "batchdelete", ""))
}
