package openstack

import (
	"fmt"
	"net/http"
	"net/netip"

	"github.com/berth-lb/berth/test/sim/rest"
)

func showMember(_ *state, m Object) Object { return publicFields(m, "pool") }

func listMembers(v *visit) (any, error) {
	if _, ok := v.State.Get(pools, v.Params["pool"]); !ok {
		return nil, noPool(v.Params["pool"])
	}
	var found []Object
	query := v.HTTP.URL.Query()
	for _, m := range v.State.Having(members, "pool", v.Params["pool"]) {
		if shown := showMember(v.State, m); matchesQuery(shown, query) {
			found = append(found, shown)
		}
	}
	return v.page(members, found, query), nil
}

// noPool is the response to a request for the members of a missing pool, which is no JSON.
// Source: a real Octavia.
func noPool(id string) *rest.Error {
	r := notFound("Pool", id)
	r.Page = "404 Bad Request\n\nThe server could not comply with the request since it is either malformed or otherwise incorrect.\n\n " + r.Text + "  "
	return r
}

// memberKey is what a pool has once.
func memberKey(m Object) string { return fmt.Sprint(m["address"], " ", m["protocol_port"]) }

func memberMutable() []string {
	return []string{"name", "weight", "backup", "monitor_port", "monitor_address", "tags", "admin_state_up"}
}

func (v *visit) addMember(p, wish Object) (Object, error) {
	if n := v.cloud.opt.Limits.Members; n > 0 && len(v.State.All(members, nil)) >= n {
		return nil, quotaMet("Member")
	}
	lb, _ := v.State.Get(balancers, p.Text("loadbalancer"))
	m := Object{"name": "", "weight": float64(1), "backup": false, "subnet_id": nil, "monitor_port": nil, "monitor_address": nil, "tags": []any{}}
	m = m.With(v.fresh(members, lb)).With(wish.Only("address", "protocol_port", "subnet_id")).With(wish.Only(memberMutable()...))
	m["pool"] = p.Text("id")
	if p.Text("healthmonitor_id") == "" {
		m[operating] = unmonitored
	}
	if err := v.checkMember(lb, m); err != nil {
		return nil, err
	}
	for _, other := range v.State.Having(members, "pool", p.Text("id")) {
		if memberKey(other) == memberKey(m) {
			return nil, rest.Refuse(http.StatusConflict, "DuplicateMemberEntry", "Another member on this pool is already using ip %v on protocol_port %v", m["address"], m["protocol_port"])
		}
	}
	return v.State.Put(members, m), nil
}

func (v *visit) checkMember(lb, m Object) error {
	if _, err := netip.ParseAddr(m.Text("address")); err != nil {
		return rest.Refuse(http.StatusBadRequest, "ClientSideError", "Invalid input for field/attribute address. Value: '%s'.", m.Text("address"))
	}
	if port, _ := m.Number("protocol_port"); port < 1 || port > 65535 {
		return invalidInput("protocol_port", fmt.Sprint(m["protocol_port"]), "should be greater or equal to 1")
	}
	if w, _ := m.Number("weight"); w < 0 || w > 256 {
		return rest.Refuse(http.StatusBadRequest, "ClientSideError", "Invalid input for field/attribute weight. Value: '%d'.", w)
	}
	subnet := m.Text("subnet_id")
	if subnet == "" {
		if lb.Text("provider") == "ovn" {
			return rest.Refuse(http.StatusNotImplemented, "ProviderUnsupportedOptionError", "Provider 'ovn' does not support a requested option: subnet_id is required for members")
		}
		return nil
	}
	if _, ok := v.State.Get(subnets, subnet); !ok {
		return rest.Refuse(http.StatusBadRequest, "InvalidSubresource", "Subnet %s not found.", subnet)
	}
	return nil
}

func createMember(v *visit) (any, error) {
	p, err := v.poolWithin(v.Params["pool"])
	if err != nil {
		return nil, err
	}
	m, err := v.addMember(p, v.Body.Object("member"))
	if err != nil {
		return nil, err
	}
	v.touchPool(p, pendingUpdate)
	m, _ = v.State.Get(members, m.Text("id"))
	return Object{"member": showMember(v.State, m)}, nil
}

// batchMembers replaces the members of a pool. Also a list that changes nothing makes
// the load balancer busy. Source: a real Octavia.
func batchMembers(v *visit) (any, error) {
	if _, ok := v.State.Get(pools, v.Params["pool"]); !ok {
		return nil, noPool(v.Params["pool"])
	}
	p, err := v.poolWithin(v.Params["pool"])
	if err != nil {
		return nil, err
	}
	there := map[string]Object{}
	for _, m := range v.State.Having(members, "pool", p.Text("id")) {
		there[memberKey(m)] = m
	}
	for _, wish := range v.Body.Objects("members") {
		m, known := there[memberKey(wish)]
		if !known {
			if _, err := v.addMember(p, wish); err != nil {
				return nil, err
			}
			continue
		}
		delete(there, memberKey(wish))
		changed := m.With(wish.Only(memberMutable()...)).With(Object{provisioning: pendingUpdate})
		lb, _ := v.State.Get(balancers, p.Text("loadbalancer"))
		if err := v.checkMember(lb, changed); err != nil {
			return nil, err
		}
		v.State.Put(members, changed)
	}
	if v.HTTP.URL.Query().Get("additive_only") != "true" {
		for _, m := range there {
			v.State.Change(members, m.Text("id"), Object{provisioning: pendingDelete})
		}
	}
	v.touchPool(p, pendingUpdate)
	return nil, nil
}

func deleteMember(v *visit) (any, error) {
	p, err := v.poolWithin(v.Params["pool"])
	if err != nil {
		return nil, err
	}
	m, ok := v.State.Get(members, v.Params["id"])
	if !ok || m.Text("pool") != p.Text("id") {
		return nil, notFound("Member", v.Params["id"])
	}
	v.State.Change(members, m.Text("id"), Object{provisioning: pendingDelete})
	v.touchPool(p, pendingUpdate)
	return nil, nil
}
