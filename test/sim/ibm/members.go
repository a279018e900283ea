package ibm

import (
	"net/netip"
	"strconv"

	"github.com/berth-lb/berth/test/sim/rest"
)

func listMembers(v *visit) (any, error) {
	p, err := v.pool()
	if err != nil {
		return nil, err
	}
	items := []any{}
	for _, m := range v.State.Having(members, owner, p.Text("id")) {
		items = append(items, v.showMember(m))
	}
	return rest.Object{members: items}, nil
}

// setMembers replaces all members of a pool. Members that stay keep their ids.
func (v *visit) setMembers(lb, pool rest.Object, asked []rest.Object) error {
	id := pool.Text("id")
	if len(asked) > v.cloud.opt.Limits.Members {
		return overQuota("members of a pool", v.cloud.opt.Limits.Members)
	}
	before := map[string]rest.Object{}
	for _, m := range v.State.Having(members, owner, id) {
		before[memberName(m)] = m
	}
	after := map[string]bool{}
	for _, body := range asked {
		m, err := v.checkMember(lb, body)
		if err != nil {
			return err
		}
		name := memberName(m)
		if after[name] {
			return refuseInvalid("members", "%s is listed twice", name)
		}
		after[name] = true
		if was, ok := before[name]; ok {
			v.State.Put(members, was.With(rest.Object{"weight": m["weight"]}))
			continue
		}
		v.State.Put(members, m.With(rest.Object{"id": v.State.id(), owner: id}))
	}
	for name, m := range before {
		if !after[name] {
			v.State.Drop(members, m.Text("id"))
		}
	}
	return nil
}

// memberName tells the members of a pool from each other: target and port are unique.
// Source: ibm-cloud-docs/vpc, lb-ts-nlb-members-same-port.
func memberName(m rest.Object) string {
	port, _ := m.Number("port")
	target := m.Object("target")
	return target.Text("address") + target.Text("id") + ":" + strconv.Itoa(port)
}

// checkMember returns a new member. One of an application load balancer has an address, one
// of a network load balancer is an instance.
func (v *visit) checkMember(lb, body rest.Object) (rest.Object, error) {
	port, _ := body.Number("port")
	target := body.Object("target")
	if port < 1 || port > 65535 {
		return nil, refuseInvalid("members.port", "%d is not a port", port)
	}
	if profileOf(lb).network {
		i, err := v.instance(target)
		if err != nil {
			return nil, err
		}
		target = i
	} else if _, err := netip.ParseAddr(target.Text("address")); err != nil {
		return nil, refuseInvalid("members.target.address", "%q is not an address", target.Text("address"))
	}
	weight := 50
	if w, given := body.Number("weight"); given {
		weight = w
	}
	return rest.Object{"port": port, "target": target, "weight": weight, "health": "ok", provisioning: active, "created_at": v.Time.UTC().Format(timeForm)}, nil
}

func createMember(v *visit, lb rest.Object) (any, error) {
	p, err := v.pool()
	if err != nil {
		return nil, err
	}
	all := append(v.State.Having(members, owner, p.Text("id")), v.Body)
	if err := v.setMembers(lb, p, all); err != nil {
		return nil, err
	}
	list := v.State.Having(members, owner, p.Text("id"))
	return v.showMember(list[len(list)-1]), nil
}

func (v *visit) showMember(m rest.Object) rest.Object {
	return m.Without(owner).With(rest.Object{"href": v.href("load_balancers", v.Params["id"], "pools", v.Params["pool"], "members", m.Text("id"))})
}

func replaceMembers(v *visit, lb rest.Object) (any, error) {
	p, err := v.pool()
	if err != nil {
		return nil, err
	}
	if err := v.setMembers(lb, p, v.Body.Objects("members")); err != nil {
		return nil, err
	}
	return listMembers(v)
}

func deleteMember(v *visit, _ rest.Object) (any, error) {
	m, ok := v.State.Get(members, v.Params["member"])
	if !ok || m.Text(owner) != v.Params["pool"] {
		return nil, refuseMissing("member", v.Params["member"])
	}
	v.State.Drop(members, m.Text("id"))
	return nil, nil
}
