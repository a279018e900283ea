package alibaba

import (
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// groupParams are the parameters of server groups. Source: API of NLB, CreateServerGroup.
func groupParams() map[string]parameter {
	return map[string]parameter{
		"Scheduler":                                   {words: "Wrr Wlc rr sch tch qch", standard: "Wrr"},
		"ConnectionDrainEnabled":                      {words: "true false", standard: false},
		"ConnectionDrainTimeout":                      {lowest: 0, highest: 900, standard: 0},
		"PreserveClientIpEnabled":                     {words: "true false", standard: true},
		"HealthCheckConfig.HealthCheckEnabled":        {words: "true false", standard: true},
		"HealthCheckConfig.HealthCheckType":           {words: "TCP HTTP UDP", standard: "TCP"},
		"HealthCheckConfig.HealthCheckConnectPort":    {lowest: 0, highest: 65535, standard: 0},
		"HealthCheckConfig.HealthyThreshold":          {lowest: 2, highest: 10, standard: 2},
		"HealthCheckConfig.UnhealthyThreshold":        {lowest: 2, highest: 10, standard: 2},
		"HealthCheckConfig.HealthCheckConnectTimeout": {lowest: 1, highest: 300, standard: 5},
		"HealthCheckConfig.HealthCheckInterval":       {lowest: 1, highest: 50, standard: 10},
		"HealthCheckConfig.HealthCheckDomain":         {},
		"HealthCheckConfig.HealthCheckUrl":            {},
		"HealthCheckConfig.HttpCheckMethod":           {words: "GET HEAD", standard: "GET"},
		"HealthCheckConfig.HealthCheckHttpVersion":    {words: "HTTP1.0 HTTP1.1", standard: "HTTP1.0"},
	}
}

// checkedParams returns the parameters of the call with their types, in the words of the API.
func (v *visit) checkedParams(table map[string]parameter) (map[string]any, error) {
	out := map[string]any{}
	for name, p := range table {
		text := v.text(name)
		if text == "" {
			continue
		}
		switch words := strings.Fields(p.words); {
		case p.highest > 0:
			n, err := strconv.Atoi(text)
			if err != nil || n < p.lowest || n > p.highest {
				return nil, refuseInvalid(name, "%q is not between %d and %d", text, p.lowest, p.highest)
			}
			out[name] = n
		case p.words == "true false":
			out[name] = text == "true"
		case len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, text) }):
			return nil, refuseInvalid(name, "%q is not one of %s", text, p.words)
		default:
			out[name] = text
		}
	}
	return out, nil
}

// setGroup enters parameters into a server group.
func setGroup(group rest.Object, params map[string]any) {
	check := group.Object("HealthCheck").With(nil)
	for name, value := range params {
		if short, is := strings.CutPrefix(name, "HealthCheckConfig."); is {
			check[short] = value
		} else {
			group[name] = value
		}
	}
	group["HealthCheck"] = check
}

func listServerGroups(v *visit) (any, error) {
	ids := v.members("ServerGroupIds")
	all := v.State.All(serverGroups, func(o rest.Object) bool { return v.isAsked(o, ids) })
	return v.pageNet("ServerGroups", all, func(o rest.Object) rest.Object {
		var of []string
		for _, l := range v.State.Having(netListeners, "ServerGroupId", o.Text("id")) {
			if id := l.Text(owner); !slices.Contains(of, id) {
				of = append(of, id)
			}
		}
		return o.Without("id", "servers").With(rest.Object{"ServerCount": len(o.List("servers")), "RelatedLoadBalancerIds": rest.Anys(of)})
	})
}

func listNetServers(v *visit) (any, error) {
	group, ok := v.State.Get(serverGroups, v.text("ServerGroupId"))
	if !ok {
		return nil, refuseGroup(v.text("ServerGroupId"))
	}
	return v.pageNet("Servers", group.Objects("servers"), func(o rest.Object) rest.Object { return o.With(rest.Object{"Status": available}) })
}

func refuseGroup(id string) error {
	return rest.Refuse(http.StatusNotFound, "ResourceNotFound.serverGroup", "The specified resource of serverGroup is not found: %s.", id)
}

func createServerGroup(v *visit) (any, error) {
	if v.again() {
		return nil, nil
	}
	if n := len([]rune(v.text("ServerGroupName"))); n < 2 || n > mostNetName {
		return nil, refuseInvalid("ServerGroupName", "has %d characters", n)
	}
	id := v.State.id("sgp-")
	group := rest.Object{
		"id": id, "ServerGroupId": id, "ServerGroupName": v.text("ServerGroupName"), "VpcId": v.text("VpcId"), "ResourceGroupId": standardText(v.text("ResourceGroupId"), "rg-acfdefault"),
		"AnyPortEnabled": v.text("AnyPortEnabled") == "true", "IpVersionAffinityMode": v.text("IpVersionAffinityMode"), "Tags": v.givenTags(nil), "servers": []any{}, "HealthCheck": rest.Object{},
	}
	var err error
	for name, words := range map[string][]string{"Protocol": {"TCP", "UDP", "TCPSSL"}, "ServerGroupType": {"Instance", "Ip"}, "AddressIPVersion": {"ipv4", "DualStack"}} {
		if group[name], err = v.foldedWord(name, words...); err != nil {
			return nil, err
		}
	}
	for name, p := range groupParams() {
		if p.standard != nil {
			setGroup(group, map[string]any{name: p.standard})
		}
	}
	if err := v.fillGroup(group); err != nil {
		return nil, err
	}
	jobID := v.begin(serverGroups, nil, group, "ServerGroupStatus", "Creating", available, v.cloud.opt.Jobs)
	return v.answerOnce(answerDone(rest.Object{"ServerGroupId": id, "JobId": jobID})), nil
}

// fillGroup enters the parameters of the call into a server group.
func (v *visit) fillGroup(group rest.Object) error {
	params, err := v.checkedParams(groupParams())
	if err != nil {
		return err
	}
	if codes := v.members("HealthCheckConfig.HealthCheckHttpCode"); len(codes) > 0 {
		params["HealthCheckConfig.HealthCheckHttpCode"] = rest.Anys(codes)
	}
	setGroup(group, params)
	return nil
}

// ofServerGroup runs a write about one server group, which must be at rest.
func ofServerGroup(run func(v *visit, group rest.Object) (rest.Object, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		group, err := v.serverGroup(v.text("ServerGroupId"))
		if err != nil {
			return nil, err
		}
		next, err := run(v, group)
		if err != nil {
			return nil, err
		}
		return v.accept(serverGroups, group, next, "ServerGroupStatus", available).With(rest.Object{"ServerGroupId": group.Text("id")}), nil
	}
}

// serverGroup returns a server group that is at rest.
func (v *visit) serverGroup(id string) (rest.Object, error) {
	group, ok := v.State.Get(serverGroups, id)
	switch status := group.Text("ServerGroupStatus"); {
	case !ok:
		return nil, refuseGroup(id)
	case status == configuring:
		return nil, rest.Refuse(http.StatusConflict, "Conflict.Lock", "The operation failed because of a lock conflict of %s.", id)
	case status != available:
		return nil, rest.Refuse(http.StatusBadRequest, "IncorrectStatus.serverGroup", "The status of serverGroup %s is incorrect: %s.", id, status)
	}
	return group, nil
}

func setServerGroup(v *visit, group rest.Object) (rest.Object, error) {
	next := group.With(rest.Object{"ServerGroupName": standardText(v.text("ServerGroupName"), group.Text("ServerGroupName"))})
	return next, v.fillGroup(next)
}

func deleteServerGroup(v *visit) (any, error) {
	group, err := v.serverGroup(v.text("ServerGroupId"))
	if err != nil {
		return nil, err
	}
	if used := v.State.Having(netListeners, "ServerGroupId", group.Text("id")); len(used) > 0 {
		return nil, rest.Refuse(http.StatusBadRequest, "ResourceInUse.serverGroup", "The server group is in use by the listener %s.", used[0].Text("id"))
	}
	return v.remove(serverGroups, group, "ServerGroupStatus"), nil
}

// netServers returns the servers of the call.
func (v *visit) netServers(group rest.Object) ([]rest.Object, error) {
	var out []rest.Object
	for n := 1; v.query.Has("Servers." + strconv.Itoa(n) + ".ServerId"); n++ {
		at := "Servers." + strconv.Itoa(n) + "."
		s := rest.Object{
			"ServerId": v.text(at + "ServerId"), "ServerIp": v.text(at + "ServerIp"), "ServerType": v.text(at + "ServerType"), "Port": v.number(at + "Port"), "Weight": v.number(at + "Weight"),
			"Description": v.text(at + "Description"), "ServerGroupId": group.Text("id"),
		}
		if err := v.checkNetServer(s, group.Truth("AnyPortEnabled")); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if len(out) == 0 || len(out) > mostAtOnce {
		return nil, rest.Refuse(http.StatusBadRequest, "IllegalParamSize.Servers", "The call has %d servers, and 1 to %d are possible.", len(out), mostAtOnce)
	}
	return out, nil
}

func (v *visit) checkNetServer(s rest.Object, anyPort bool) error {
	port, _ := s.Number("Port")
	if weight, _ := s.Number("Weight"); weight < 0 || weight > 100 || port < 0 || port > 65535 || anyPort != (port == 0) {
		return refuseInvalid("Servers", "the port %d or the weight %d is not possible", port, weight)
	}
	missing := rest.Refuse(http.StatusNotFound, "ResourceNotFound.BackendServer", "The specified backend server is not found: %s %s.", s.Text("ServerId"), s.Text("ServerIp"))
	switch s.Text("ServerType") {
	case "Ecs":
		machine, ok := v.State.Get(instances, s.Text("ServerId"))
		if !ok {
			return missing
		}
		s["ServerIp"] = machine.Text("PrivateIpAddress")
	case "Eni":
		if card, ok := v.State.Get(interfaces, s.Text("ServerId")); !ok || !slices.Contains(addressesOf(card), s.Text("ServerIp")) {
			return missing
		}
	case "Ip":
		if _, err := netip.ParseAddr(s.Text("ServerIp")); err != nil {
			return missing
		}
	default:
		return refuseInvalid("ServerType", "%q is no type", s.Text("ServerType"))
	}
	return nil
}

// netServerName tells the servers of a group from each other: the port does not.
func netServerName(s rest.Object) string {
	if s.Text("ServerType") == "Ecs" {
		return s.Text("ServerId")
	}
	return s.Text("ServerId") + "/" + s.Text("ServerIp")
}

// changeNetServers returns a change of the servers of a group: the given ones are added, replaced or removed.
func changeNetServers(adds, removes bool) func(v *visit, group rest.Object) (rest.Object, error) {
	return func(v *visit, group rest.Object) (rest.Object, error) {
		given, err := v.netServers(group)
		if err != nil {
			return nil, err
		}
		named := map[string]rest.Object{}
		for _, s := range given {
			named[netServerName(s)] = s
		}
		list := []any{}
		for _, s := range group.Objects("servers") {
			next, touched := named[netServerName(s)]
			delete(named, netServerName(s))
			switch {
			case touched && adds:
				return nil, rest.Refuse(http.StatusBadRequest, "ResourceAlreadyExist.BackendServer", "The server %s is in the group.", netServerName(s))
			case touched && removes:
			case touched:
				list = append(list, next)
			default:
				list = append(list, s)
			}
		}
		if adds {
			for _, s := range given {
				list = append(list, s)
			}
		} else if len(named) > 0 && !removes {
			return nil, rest.Refuse(http.StatusNotFound, "ResourceNotFound.BackendServer", "A server is not in the group.")
		}
		if len(list) > mostNetServers {
			return nil, rest.Refuse(http.StatusBadRequest, "QuotaExceeded.ServersNum", "The quota of %d servers is exceeded.", mostNetServers)
		}
		return group.With(rest.Object{"servers": list}), nil
	}
}
