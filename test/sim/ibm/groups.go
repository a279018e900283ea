package ibm

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

func groupRoutes() []route {
	const target = "/v1/security_groups/{group}/targets/{id}"
	return []route{
		rest.Reads(apiVPC, "list_security_groups", "/v1/security_groups", listAll(groups, withRules)),
		rest.Reads(apiVPC, "get_security_group", "/v1/security_groups/{id}", getOne(groups, withRules)),
		rest.Writes(apiVPC, "create_security_group_rule", http.MethodPost, "/v1/security_groups/{id}/rules", http.StatusCreated, createRule),
		rest.Writes(apiVPC, "delete_security_group_rule", http.MethodDelete, "/v1/security_groups/{id}/rules/{rule}", http.StatusNoContent, deleteRule),
		rest.Writes(apiVPC, "create_security_group_target_binding", http.MethodPut, target, http.StatusOK, joinGroup),
		rest.Writes(apiVPC, "delete_security_group_target_binding", http.MethodDelete, target, http.StatusNoContent, leaveGroup),
	}
}

// groupsOf checks the security groups of a new load balancer, which without any is in the
// default group of its VPC.
func (v *visit) groupsOf(asked []rest.Object, p profile, places []any) ([]any, error) {
	out := []any{}
	if p.path {
		if len(asked) > 0 {
			return nil, refuseInvalid("security_groups", "a private path load balancer has none")
		}
		return out, nil
	}
	if len(asked) == 0 && len(places) > 0 {
		place, _ := places[0].(rest.Object)
		sub, _ := v.State.Get(subnets, place.Text("id"))
		net, _ := v.State.Get(vpcs, sub.Object("vpc").Text("id"))
		asked = []rest.Object{net.Object("default_security_group")}
	}
	for _, o := range asked {
		g, ok := v.State.Get(groups, o.Text("id"))
		if !ok {
			return nil, refuseMissing("security_group", o.Text("id"))
		}
		out = append(out, showGroup(g))
	}
	return out, nil
}

func showGroup(g rest.Object) rest.Object { return g.Only("id", "name", "crn", "href") }

// joinGroup adds a load balancer to a security group, which is a change of the load balancer.
// Source: VPC API reference, "Add a target to a security group".
func joinGroup(v *visit) (any, error) {
	lb, g, err := v.grouped()
	if err != nil {
		return nil, err
	}
	if profileOf(lb).path {
		return nil, refuseInvalid("id", "a private path load balancer has no security groups")
	}
	all := removeGroup(lb, g.Text("id"))
	v.touch(lb.With(rest.Object{"security_groups": append(all, any(showGroup(g)))}))
	return showTarget(lb), nil
}

// leaveGroup removes a load balancer from a security group, which cannot be its last one.
// Source: VPC API reference, "Remove a target from a security group".
func leaveGroup(v *visit) (any, error) {
	lb, g, err := v.grouped()
	if err != nil {
		return nil, err
	}
	remaining := removeGroup(lb, g.Text("id"))
	switch {
	case len(remaining) == len(lb.Objects("security_groups")):
		return nil, refuseMissing("target", lb.Text("id"))
	case len(remaining) == 0:
		return nil, rest.Refuse(http.StatusConflict, "security_group_last_binding", "The load balancer with ID %s has no other security group", lb.Text("id"))
	}
	v.touch(lb.With(rest.Object{"security_groups": remaining}))
	return nil, nil
}

func removeGroup(lb rest.Object, group string) []any {
	out := []any{}
	for _, g := range lb.Objects("security_groups") {
		if g.Text("id") != group {
			out = append(out, g)
		}
	}
	return out
}

// grouped returns the load balancer and the security group of the path.
func (v *visit) grouped() (lb, group rest.Object, err error) {
	if lb, err = v.writable(); err != nil {
		return nil, nil, err
	}
	g, ok := v.State.Get(groups, v.Params["group"])
	if !ok {
		return nil, nil, refuseMissing("security_group", v.Params["group"])
	}
	return lb, g, nil
}
