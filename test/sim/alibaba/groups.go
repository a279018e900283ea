package alibaba

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// How many servers one call takes. Source: API of SLB, CreateVServerGroup.
const (
	mostAtCreation = 20
	mostAtOnce     = 40
)

func listGroups(v *visit, lb rest.Object) (any, error) {
	items := []any{}
	for _, g := range v.State.Having(groups, owner, lb.Text("id")) {
		items = append(items, g.Only("VServerGroupId", "VServerGroupName").With(rest.Object{"ServerCount": len(g.List("servers"))}))
	}
	return answerDone(rest.Object{"VServerGroups": rest.Object{"VServerGroup": items}}), nil
}

func getGroup(v *visit) (any, error) {
	g, ok := v.State.Get(groups, v.text("VServerGroupId"))
	if !ok {
		return nil, refuseMissing("VServerGroupId", v.text("VServerGroupId"))
	}
	list := g.List("servers")
	if list == nil {
		list = []any{}
	}
	return answerDone(g.Only("VServerGroupId", "VServerGroupName", owner)).With(rest.Object{"BackendServers": rest.Object{"BackendServer": list}}), nil
}

// servers reads the servers of a call. Names of fields are not compared by case, and others are
// ignored.
func (v *visit) servers(most int) ([]rest.Object, error) {
	text := v.text("BackendServers")
	if text == "" {
		return nil, nil
	}
	var given []map[string]any
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return nil, refuseInvalid("BackendServers", "%v", err)
	}
	if len(given) > most {
		return nil, rest.Refuse(http.StatusBadRequest, "BackendServersOverLimit", "The call has %d servers, and at most %d are possible.", len(given), most)
	}
	var out []rest.Object
	for _, fields := range given {
		s := rest.Object{"ServerId": "", "ServerIp": "", "Type": "ecs", "Port": 0, "Weight": 100, "Description": ""}
		for name, value := range fields {
			for known := range s {
				if strings.EqualFold(name, known) {
					s[known] = value
				}
			}
		}
		if err := v.checkServer(s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// checkServer checks a server, and has its numbers as numbers: some clients send texts.
func (v *visit) checkServer(s rest.Object) error {
	for _, name := range []string{"Port", "Weight"} {
		n, is := s.Number(name)
		if text := s.Text(name); !is && text != "" {
			n, _ = strconv.Atoi(text)
		}
		s[name] = n
	}
	port, _ := s.Number("Port")
	weight, _ := s.Number("Weight")
	switch {
	case port < 1 || port > 65535:
		return refuseInvalid("BackendServers", "%d is not a port", port)
	case weight < 0 || weight > 100:
		return refuseInvalid("BackendServers", "%d is not a weight", weight)
	}
	if _, ok := v.State.Get(instances, s.Text("ServerId")); s.Text("Type") == "ecs" && !ok {
		return refuseMissing("ServerId", s.Text("ServerId"))
	}
	if card, ok := v.State.Get(interfaces, s.Text("ServerId")); s.Text("Type") == "eni" && (!ok || !slices.Contains(addressesOf(card), s.Text("ServerIp"))) {
		return refuseMissing("ServerId", s.Text("ServerId")+" "+s.Text("ServerIp"))
	}
	return nil
}

// serverName tells the servers of a group from each other.
func serverName(s rest.Object) string {
	port, _ := s.Number("Port")
	name := s.Text("ServerId") + ":" + strconv.Itoa(port)
	if s.Text("Type") == "eni" {
		name += "/" + s.Text("ServerIp")
	}
	return name
}

// store writes the servers of a group, within the quota of the load balancer.
func (v *visit) store(lb, group rest.Object, servers []rest.Object) error {
	seen := map[string]bool{}
	count := func(list []rest.Object) {
		for _, s := range list {
			seen[s.Text("ServerId")] = true
		}
	}
	for _, g := range v.State.Having(groups, owner, lb.Text("id")) {
		if g.Text("id") != group.Text("id") {
			count(g.Objects("servers"))
		}
	}
	count(servers)
	if most := v.cloud.opt.Limits.Servers; len(seen) > most {
		return rest.Refuse(http.StatusBadRequest, "InstanceBackendServerNumberOverLimit", "The quota of %d servers of a load balancer is exceeded.", most)
	}
	list := []any{}
	for _, s := range servers {
		list = append(list, s)
	}
	v.State.Put(groups, group.With(rest.Object{"servers": list}))
	return nil
}

func createGroup(v *visit, lb rest.Object) (any, error) {
	servers, err := v.servers(mostAtCreation)
	if err != nil {
		return nil, err
	}
	if err := v.checkName("VServerGroupName", v.text("VServerGroupName")); err != nil {
		return nil, err
	}
	id := v.State.id("rsp-bp1")
	group := rest.Object{"id": id, "VServerGroupId": id, "VServerGroupName": v.text("VServerGroupName"), owner: lb.Text("id")}
	if err := v.store(lb, group, servers); err != nil {
		return nil, err
	}
	return answerDone(rest.Object{"VServerGroupId": id}), nil
}

// addServers adds servers; one that the group has gets the weight and description of the call.
func addServers(v *visit, lb, group rest.Object) (any, error) {
	added, err := v.servers(mostAtOnce)
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	servers := append([]rest.Object{}, group.Objects("servers")...)
	for i, s := range servers {
		all[serverName(s)] = i
	}
	for _, s := range added {
		if i, ok := all[serverName(s)]; ok {
			servers[i] = s
			continue
		}
		servers = append(servers, s)
	}
	return answerDone(nil), v.store(lb, group, servers)
}

func removeServers(v *visit, lb, group rest.Object) (any, error) {
	removed, err := v.servers(mostAtOnce)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, s := range removed {
		names[serverName(s)] = true
	}
	var left []rest.Object
	for _, s := range group.Objects("servers") {
		if !names[serverName(s)] {
			left = append(left, s)
		}
	}
	return answerDone(nil), v.store(lb, group, left)
}

// setServers gives servers of the group other weights and descriptions, and the group a name.
func setServers(v *visit, lb, group rest.Object) (any, error) {
	given, err := v.servers(mostAtOnce)
	if err != nil {
		return nil, err
	}
	if name := v.text("VServerGroupName"); name != "" {
		group = group.With(rest.Object{"VServerGroupName": name})
	}
	next := map[string]rest.Object{}
	for _, s := range given {
		next[serverName(s)] = s
	}
	var servers []rest.Object
	for _, s := range group.Objects("servers") {
		if changed, ok := next[serverName(s)]; ok {
			s = changed
		}
		servers = append(servers, s)
	}
	return answerDone(nil), v.store(lb, group, servers)
}

func deleteGroup(v *visit, lb, group rest.Object) (any, error) {
	for _, l := range v.State.Having(listeners, owner, lb.Text("id")) {
		if l.Text("VServerGroupId") == group.Text("id") {
			return nil, rest.Refuse(http.StatusBadRequest, "RspPoolExist", "The server group is in use by the listener %s.", l.Text("id"))
		}
	}
	v.State.Drop(groups, group.Text("id"))
	return answerDone(nil), nil
}
