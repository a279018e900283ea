package baidu

import (
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// listBalancers answers the load balancers of a kind. A name matches as a part unless the call asks for an
// exact match. Without a type those of IPv6 are left out.
func listBalancers(kind string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		query := v.HTTP.URL.Query()
		found := v.State.All(balancers, func(lb rest.Object) bool {
			name := query.Get("name")
			switch {
			case lb.Text(kindOf) != kind, lb.Text(family) != query.Get("type"), !v.isListed(lb):
				return false
			case query.Get("blbId") != "" && lb.Text("id") != query.Get("blbId"):
				return false
			case query.Get("exactlyMatch") == "true":
				return name == "" || lb.Text("name") == name
			}
			return strings.Contains(lb.Text("name"), name)
		})
		return v.page("blbList", found)
	}
}

// isListed reports whether lists have a load balancer or an address.
func (v *visit) isListed(o rest.Object) bool {
	created, err := time.Parse(time.RFC3339Nano, o.Text(made))
	return err != nil || v.Time.Sub(created) >= v.cloud.opt.ListLag
}

func getBalancer(kind string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.balancer(kind)
		if err != nil {
			return nil, err
		}
		front := []any{}
		for _, l := range v.State.Having(listeners, owner, lb.Text("id")) {
			front = append(front, rest.Object{"port": numberText(numberOf(l, "listenerPort", 0)), "type": l["listenerType"]})
		}
		return showObject(lb).Without("subnetId").With(rest.Object{"listener": front, "createTime": lb.Text(made)}), nil
	}
}

var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/.-]*$`)

// checkName checks the name of something new.
func (v *visit) checkName(name string) error {
	if !nameForm.MatchString(name) || len(name) > v.cloud.opt.Limits.Name {
		return refuseValue("name", "%q is not 1 to %d letters, digits and -_/.", name, v.cloud.opt.Limits.Name)
	}
	return nil
}

// createBalancer creates a load balancer, once for each token. It has its address in the VPC at once.
func createBalancer(kind string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		return v.once(func() (rest.Object, error) { return v.newBalancer(kind) })
	}
}

func (v *visit) newBalancer(kind string) (rest.Object, error) {
	subnet, known := v.State.Get(subnets, v.Body.Text("subnetId"))
	if err := v.checkName(v.Body.Text("name")); err != nil {
		return nil, err
	}
	switch {
	case !known || subnet.Text("vpcId") != v.Body.Text("vpcId"):
		return nil, refuseMissing("subnet", v.Body.Text("subnetId"))
	case len(v.State.All(balancers, nil)) >= v.cloud.opt.Limits.LoadBalancers:
		return nil, rest.Refuse(http.StatusRequestEntityTooLarge, "ExceedLimit", "The quota of %d load balancers is exceeded.", v.cloud.opt.Limits.LoadBalancers)
	}
	id := v.State.id("lb-")
	public := v.Body.Text("eip")
	if public != "" {
		if err := v.bind(public, id); err != nil {
			return nil, err
		}
	}
	base := netip.MustParsePrefix(subnet.Text("cidr")).Addr().As4()
	private := netip.AddrFrom4([4]byte{base[0], base[1], base[2], byte(v.State.count%200 + 20)}).String()
	v.State.Put(balancers, rest.Object{
		"id": id, "blbId": id, "name": v.Body.Text("name"), "desc": v.Body.Text("desc"), "address": private, "status": creating, "vpcId": v.Body.Text("vpcId"), "subnetId": v.Body.Text("subnetId"),
		"publicIp": public, "tags": listOf(v.Body, "tags"), "allowDelete": true, kindOf: kind, family: "", made: v.Time.Format(time.RFC3339Nano), "servers": []any{},
	})
	v.begin(balancers, id, creating)
	return rest.Object{"blbId": id, "name": v.Body.Text("name"), "desc": v.Body.Text("desc"), "address": private}, nil
}

func listOf(o rest.Object, name string) []any {
	if list := o.List(name); list != nil {
		return list
	}
	return []any{}
}

// deleteBalancer deletes a load balancer with its parts, which frees its address.
func deleteBalancer(kind string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.balancer(kind)
		if err == nil {
			err = v.atRest(lb)
		}
		if err != nil {
			return nil, err
		}
		if !lb.Truth("allowDelete") {
			return nil, rest.Refuse(http.StatusForbidden, "OperationDenied", "The load balancer %s is protected.", lb.Text("id"))
		}
		v.begin(balancers, lb.Text("id"), deleting)
		return rest.Object{}, nil
	}
}

// listListeners answers the listeners of all protocols.
func listListeners(kind string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.balancer(kind)
		if err != nil {
			return nil, err
		}
		found := v.State.Having(listeners, owner, lb.Text("id"))
		for i, l := range found {
			if v.cloud.opt.Unmarked {
				found[i] = l.Without("description")
			}
		}
		return v.page("listenerList", found)
	}
}

func listenerID(lb, protocol string, port int) string {
	return lb + "/" + strings.ToLower(protocol) + "-" + numberText(port)
}

// checkScheduler checks how a listener chooses a backend.
func checkScheduler(kind, name string) error {
	legal := []string{"RoundRobin", "LeastConnection", "Hash"}
	if kind == app {
		legal = []string{"RoundRobin", "WeightLeastConn", "Hash"}
	}
	if !slices.Contains(legal, name) {
		return refuseValue("scheduler", "%q is not one of %v", name, legal)
	}
	return nil
}

// createListener creates a listener. A port has one of each protocol.
func createListener(protocol string) func(*visit, rest.Object) (rest.Object, error) {
	return func(v *visit, lb rest.Object) (rest.Object, error) {
		port := numberOf(v.Body, "listenerPort", 0)
		id := listenerID(lb.Text("id"), protocol, port)
		_, taken := v.State.Get(listeners, id)
		isNormal := lb.Text(kindOf) == normal
		switch {
		case port < 1 || port > 65535:
			return nil, refuseValue("listenerPort", "%d is not a port", port)
		case taken:
			return nil, rest.Refuse(http.StatusConflict, "ListenerAlreadyExist", "The listener %s %d exists.", protocol, port)
		case len(v.State.Having(listeners, owner, lb.Text("id"))) >= v.cloud.opt.Limits.Listeners:
			return nil, rest.Refuse(http.StatusRequestEntityTooLarge, "ListenerExceeded", "The quota of %d listeners is exceeded.", v.cloud.opt.Limits.Listeners)
		case isNormal && numberOf(v.Body, "backendPort", 0) == 0:
			return nil, refuseValue("backendPort", "is missing")
		case isNormal && protocol == "UDP" && v.Body.Text("healthCheckString") == "":
			return nil, refuseValue("healthCheckString", "is missing")
		}
		if err := checkScheduler(lb.Text(kindOf), v.Body.Text("scheduler")); err != nil {
			return nil, err
		}
		l := rest.Object{"id": id, owner: lb.Text("id"), "listenerType": protocol, "tcpSessionTimeout": 900}
		if isNormal {
			l = l.With(rest.Object{"healthCheckTimeoutInSecond": 3, "healthCheckInterval": 3, "unhealthyThreshold": 3, "healthyThreshold": 3})
		}
		v.State.Put(listeners, l.With(v.Body))
		return rest.Object{}, nil
	}
}

func updateListener(protocol string) func(*visit, rest.Object) (rest.Object, error) {
	return func(v *visit, lb rest.Object) (rest.Object, error) {
		id := lb.Text("id") + "/" + strings.ToLower(protocol) + "-" + v.HTTP.URL.Query().Get("listenerPort")
		l, ok := v.State.Get(listeners, id)
		if !ok {
			return nil, refuseMissing("listener", id)
		}
		if name := v.Body.Text("scheduler"); name != "" {
			if err := checkScheduler(lb.Text(kindOf), name); err != nil {
				return nil, err
			}
		}
		v.State.Put(listeners, l.With(v.Body))
		return rest.Object{}, nil
	}
}

// deleteListeners deletes the listeners of ports, with their policies. A list of ports means those of
// every protocol.
func deleteListeners(v *visit, lb rest.Object) (rest.Object, error) {
	var ids []string
	for i := range v.Body.List("portList") {
		port := numberOf(rest.Object{"n": v.Body.List("portList")[i]}, "n", 0)
		for _, protocol := range []string{"TCP", "UDP"} {
			if id := listenerID(lb.Text("id"), protocol, port); v.has(listeners, id) {
				ids = append(ids, id)
			}
		}
	}
	for _, p := range v.Body.Objects("portTypeList") {
		id := listenerID(lb.Text("id"), p.Text("type"), numberOf(p, "port", 0))
		if !v.has(listeners, id) {
			return nil, refuseMissing("listener", id)
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil, refuseValue("portTypeList", "is empty")
	}
	for _, id := range ids {
		for _, p := range v.State.Having(policies, inside, id) {
			v.State.Drop(policies, p.Text("id"))
		}
		v.State.Drop(listeners, id)
	}
	return rest.Object{}, nil
}

func (v *visit) has(collection, id string) bool {
	_, ok := v.State.Get(collection, id)
	return ok
}

// listBackends answers the backends of a normal load balancer.
func listBackends(v *visit) (any, error) {
	lb, err := v.balancer(normal)
	if err != nil {
		return nil, err
	}
	return v.page("backendServerList", lb.Objects("servers"))
}

func addBackends(v *visit, lb rest.Object) (rest.Object, error) {
	list, err := v.withMembers(lb.Objects("servers"), v.Body.Objects("backendServerList"), serverName)
	if err != nil {
		return nil, err
	}
	v.State.Put(balancers, lb.With(rest.Object{"servers": list}))
	return rest.Object{}, nil
}

func removeBackends(v *visit, lb rest.Object) (rest.Object, error) {
	v.State.Put(balancers, lb.With(rest.Object{"servers": withoutMembers(lb.Objects("servers"), v.Body.Texts("backendServerList"), serverName)}))
	return rest.Object{}, nil
}
