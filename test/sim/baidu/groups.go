package baidu

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/rest"
)

func numberText(n int) string { return strconv.Itoa(n) }

// Names of members in bodies and answers.
func membersKey(collection string) string {
	if collection == pools {
		return "memberList"
	}
	return "backendServerList"
}

func serverName(m rest.Object) string { return m.Text("instanceId") }

func memberName(m rest.Object) string {
	return fmt.Sprintf("%s:%d", m.Text("ip"), numberOf(m, "port", 0))
}

func namerOf(collection string) func(rest.Object) string {
	if collection == pools {
		return memberName
	}
	return serverName
}

// listGroups answers the groups of a load balancer with their ports or protocols.
func listGroups(collection, name string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.balancer(app)
		if err != nil {
			return nil, err
		}
		var all []rest.Object
		for _, g := range v.State.Having(collection, owner, lb.Text("id")) {
			list := []any{}
			for _, t := range v.State.Having(targets, inside, g.Text("id")) {
				list = append(list, showObject(t))
			}
			key := "portList"
			if collection == pools {
				key = "backendPolicyList"
			}
			all = append(all, g.Without("members").With(rest.Object{key: list}))
		}
		return v.page(name, all)
	}
}

// createGroup creates a group with its members.
func createGroup(collection string) func(*visit, rest.Object) (rest.Object, error) {
	return func(v *visit, lb rest.Object) (rest.Object, error) {
		if err := v.checkName(v.Body.Text("name")); err != nil {
			return nil, err
		}
		list, err := v.withMembers(nil, v.Body.Objects(membersKey(collection)), namerOf(collection))
		if err != nil {
			return nil, err
		}
		id := v.State.id(map[string]string{groups: "sg-", pools: "ip-group-"}[collection])
		v.State.Put(collection, rest.Object{"id": id, owner: lb.Text("id"), "name": v.Body.Text("name"), "desc": v.Body.Text("desc"), "members": list})
		return rest.Object{"id": id, "name": v.Body.Text("name"), "desc": v.Body.Text("desc")}, nil
	}
}

// group returns the group of a call.
func (v *visit) group(lb rest.Object, collection string) (rest.Object, error) {
	id := v.Body.Text("sgId")
	if collection == pools {
		id = v.Body.Text("ipGroupId")
	}
	g, ok := v.State.Get(collection, id)
	if !ok || g.Text(owner) != lb.Text("id") {
		return nil, refuseMissing("group", id)
	}
	return g, nil
}

// deleteGroup deletes a group that no policy sends to.
func deleteGroup(collection string) func(*visit, rest.Object) (rest.Object, error) {
	return func(v *visit, lb rest.Object) (rest.Object, error) {
		g, err := v.group(lb, collection)
		if err != nil {
			return nil, err
		}
		id := g.Text("id")
		for _, p := range v.State.Having(policies, owner, lb.Text("id")) {
			if p.Text("appServerGroupId") == id || p.Text("appIpGroupId") == id {
				return nil, rest.Refuse(http.StatusConflict, "ResourceInUse", "The group %s is used by the policy %s.", id, p.Text("id"))
			}
		}
		for _, t := range v.State.Having(targets, inside, id) {
			v.State.Drop(targets, t.Text("id"))
		}
		v.State.Drop(collection, id)
		return rest.Object{}, nil
	}
}

func listMembers(collection string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		query := v.HTTP.URL.Query()
		id := query.Get("sgId")
		if collection == pools {
			id = query.Get("ipGroupId")
		}
		g, ok := v.State.Get(collection, id)
		if !ok || g.Text(owner) != v.Params["id"] {
			return nil, refuseMissing("group", id)
		}
		return v.page(membersKey(collection), g.Objects("members"))
	}
}

// withMembers adds members to a list.
func (v *visit) withMembers(list, given []rest.Object, name func(rest.Object) string) ([]any, error) {
	out := []any{}
	for _, m := range list {
		out = append(out, m)
	}
	for _, m := range given {
		if err := v.checkMember(m); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(o rest.Object) bool { return name(o) == name(m) }) {
			return nil, rest.Refuse(http.StatusBadRequest, "BackendServerAlreadyExist", "The member %s exists.", name(m))
		}
		list = append(list, m)
		one := m.With(rest.Object{"weight": numberOf(m, "weight", 100)})
		if m.Text("ip") != "" {
			one["memberId"] = v.State.id("ip-member-")
		}
		out = append(out, one)
	}
	if len(out) > v.cloud.opt.Limits.Servers {
		return nil, rest.Refuse(http.StatusRequestEntityTooLarge, "ExceedLimit", "The quota of %d members is exceeded.", v.cloud.opt.Limits.Servers)
	}
	return out, nil
}

func (v *visit) checkMember(m rest.Object) error {
	instance, address := m.Text("instanceId"), m.Text("ip")
	weight := numberOf(m, "weight", 100)
	_, err := netip.ParseAddr(address)
	switch {
	case (instance == "") == (address == ""):
		return refuseValue("instanceId", "a member has either an instance or an address")
	case instance != "" && !v.has(instances, instance):
		return rest.Refuse(http.StatusBadRequest, "InvalidInstanceId", "The instance %s does not exist.", instance)
	case address != "" && (err != nil || numberOf(m, "port", 0) < 1):
		return refuseValue("ip", "%s is not an address with a port", memberName(m))
	case weight < 0 || weight > 100:
		return refuseValue("weight", "%d is not from 0 to 100", weight)
	}
	return nil
}

// withoutMembers removes the named members from a list.
func withoutMembers(list []rest.Object, names []string, name func(rest.Object) string) []any {
	out := []any{}
	for _, m := range list {
		if !slices.Contains(names, name(m)) {
			out = append(out, m)
		}
	}
	return out
}

func addMembers(collection string) func(*visit, rest.Object) (rest.Object, error) {
	return func(v *visit, lb rest.Object) (rest.Object, error) {
		g, err := v.group(lb, collection)
		if err != nil {
			return nil, err
		}
		list, err := v.withMembers(g.Objects("members"), v.Body.Objects(membersKey(collection)), namerOf(collection))
		if err != nil {
			return nil, err
		}
		v.State.Put(collection, g.With(rest.Object{"members": list}))
		return rest.Object{}, nil
	}
}

// removeMembers removes instances, or addresses by the ids of their membership.
func removeMembers(collection string) func(*visit, rest.Object) (rest.Object, error) {
	return func(v *visit, lb rest.Object) (rest.Object, error) {
		g, err := v.group(lb, collection)
		if err != nil {
			return nil, err
		}
		ids, name := v.Body.Texts("backendServerIdList"), serverName
		if collection == pools {
			ids, name = v.Body.Texts("memberIdList"), func(m rest.Object) string { return m.Text("memberId") }
		}
		if len(ids) == 0 {
			return nil, refuseValue("members", "the list is empty")
		}
		v.State.Put(collection, g.With(rest.Object{"members": withoutMembers(g.Objects("members"), ids, name)}))
		return rest.Object{}, nil
	}
}

// createTarget adds a port to a server group, or a protocol to a group of addresses.
func createTarget(collection string) func(*visit, rest.Object) (rest.Object, error) {
	return func(v *visit, lb rest.Object) (rest.Object, error) {
		g, err := v.group(lb, collection)
		if err != nil {
			return nil, err
		}
		kind, port := v.Body.Text("type"), numberOf(v.Body, "port", 0)
		switch {
		case kind != "TCP" && kind != "UDP":
			return nil, refuseValue("type", "%q is not TCP or UDP", kind)
		case collection == groups && (port < 1 || port > 65535):
			return nil, refuseValue("port", "%d is not a port", port)
		case kind == "UDP" && v.Body.Text("udpHealthCheckString") == "":
			return nil, refuseValue("udpHealthCheckString", "is missing")
		}
		for _, t := range v.State.Having(targets, inside, g.Text("id")) {
			if t.Text("type") == kind && numberOf(t, "port", 0) == port {
				return nil, rest.Refuse(http.StatusConflict, "PortAlreadyExist", "The port %s %d exists.", kind, port)
			}
		}
		id := v.State.id("port-")
		v.State.Put(targets, rest.Object{
			"id": id, owner: lb.Text("id"), inside: g.Text("id"), "healthCheckTimeoutInSecond": 3, "healthCheckIntervalInSecond": 3, "healthCheckDownRetry": 3, "healthCheckUpRetry": 3,
		}.With(v.Body.Without("sgId", "ipGroupId")))
		if collection == pools {
			return rest.Object{}, nil // the answer names no id
		}
		return rest.Object{"id": id}, nil
	}
}

func updateTarget(idKey string) func(*visit, rest.Object) (rest.Object, error) {
	return func(v *visit, lb rest.Object) (rest.Object, error) {
		id := v.Body.Text(idKey)
		t, ok := v.State.Get(targets, id)
		if !ok || t.Text(owner) != lb.Text("id") {
			return nil, refuseMissing("port", id)
		}
		v.State.Put(targets, t.With(v.Body.Without("sgId", "ipGroupId", "portId", "id")))
		return rest.Object{}, nil
	}
}

// deleteTargets deletes ports of a group that no policy sends to.
func deleteTargets(list string) func(*visit, rest.Object) (rest.Object, error) {
	return func(v *visit, lb rest.Object) (rest.Object, error) {
		for _, id := range v.Body.Texts(list) {
			t, ok := v.State.Get(targets, id)
			if !ok || t.Text(owner) != lb.Text("id") {
				return nil, refuseMissing("port", id)
			}
			for _, p := range v.State.Having(policies, owner, lb.Text("id")) {
				group := p.Text("appServerGroupId") + p.Text("appIpGroupId")
				if group == t.Text(inside) && p.Text("portType") == t.Text("type") && numberOf(p, "backendPort", 0) == numberOf(t, "port", 0) {
					return nil, rest.Refuse(http.StatusConflict, "ResourceInUse", "The port %s is used by the policy %s.", id, p.Text("id"))
				}
			}
			v.State.Drop(targets, id)
		}
		return rest.Object{}, nil
	}
}

// listPolicies answers the policies of one listener.
func listPolicies(v *visit) (any, error) {
	query := v.HTTP.URL.Query()
	port, _ := strconv.Atoi(query.Get("port"))
	if port == 0 {
		return nil, refuseValue("port", "is missing")
	}
	return v.page("policyList", v.State.Having(policies, inside, listenerID(v.Params["id"], query.Get("type"), port)))
}

// createPolicies adds the policy of a listener, which takes one, to a group with its port.
func createPolicies(v *visit, lb rest.Object) (rest.Object, error) {
	protocol, port := v.Body.Text("type"), numberOf(v.Body, "listenerPort", 0)
	listener := listenerID(lb.Text("id"), protocol, port)
	given := v.Body.Objects("appPolicyVos")
	switch {
	case !v.has(listeners, listener):
		return nil, refuseMissing("listener", listener)
	case len(given) != 1 || len(v.State.Having(policies, inside, listener)) > 0:
		return nil, rest.Refuse(http.StatusConflict, "PolicyAlreadyExist", "The listener %s takes one policy.", listener)
	}
	p := given[0]
	collection, id := groups, p.Text("appServerGroupId")
	if id == "" {
		collection, id = pools, p.Text("appIpGroupId")
	}
	g, ok := v.State.Get(collection, id)
	fits := slices.ContainsFunc(v.State.Having(targets, inside, id), func(t rest.Object) bool {
		return t.Text("type") == protocol && numberOf(t, "port", 0) == numberOf(p, "backendPort", 0)
	})
	if !ok || g.Text(owner) != lb.Text("id") || !fits {
		return nil, refuseMissing("port of the group", id)
	}
	v.State.Put(policies, p.With(rest.Object{"id": v.State.id("policy-"), owner: lb.Text("id"), inside: listener, "portType": protocol, "frontendPort": port}))
	return rest.Object{}, nil
}

func deletePolicies(v *visit, lb rest.Object) (rest.Object, error) {
	for _, id := range v.Body.Texts("policyIdList") {
		p, ok := v.State.Get(policies, id)
		if !ok || p.Text(inside) != listenerID(lb.Text("id"), v.Body.Text("type"), numberOf(v.Body, "port", 0)) {
			return nil, refuseMissing("policy", id)
		}
		v.State.Drop(policies, id)
	}
	return rest.Object{}, nil
}
