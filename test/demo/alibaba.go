package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/harness"
)

// alibabaCloud is what the demonstration shows of the account, in the words of the APIs.
type alibabaCloud struct {
	Balancers []struct {
		ID      string `json:"id"`
		Name    string `json:"LoadBalancerName"`
		Type    string `json:"AddressType"`
		Address string `json:"Address"`
	} `json:"load_balancers"`
	Listeners []struct {
		Description string `json:"Description"`
		Protocol    string `json:"ListenerProtocol"`
		Port        int    `json:"ListenerPort"`
		Status      string `json:"Status"`
		Group       string `json:"VServerGroupId"`
	} `json:"listeners"`
	Groups []alibabaGroup `json:"vserver_groups"`

	Networks []struct {
		Name string `json:"LoadBalancerName"`
		Type string `json:"AddressType"`
		Host string `json:"DNSName"`
	} `json:"network_load_balancers"`
	NetworkListeners []struct {
		Description string `json:"ListenerDescription"`
		Protocol    string `json:"ListenerProtocol"`
		Port        int    `json:"ListenerPort"`
		Status      string `json:"ListenerStatus"`
		Group       string `json:"ServerGroupId"`
	} `json:"network_listeners"`
	NetworkGroups  []alibabaGroup `json:"server_groups"`
	SecurityGroups []struct {
		Name  string           `json:"SecurityGroupName"`
		Rules []map[string]any `json:"rules"`
	} `json:"security_groups"`
}

// alibabaGroup is a server group of either kind of load balancer.
type alibabaGroup struct {
	ID      string           `json:"id"`
	Servers []map[string]any `json:"servers"`
}

// usersName is the name of what the user of the account has created.
const usersName = "users"

// lookAlibaba lists load balancers except those of the user, listeners with the size of their server groups, and
// security groups.
func lookAlibaba(ctx context.Context, world *harness.World) ([]string, error) {
	raw, err := world.Sim.State(ctx)
	if err != nil {
		return nil, err
	}
	var cloud alibabaCloud
	if err := json.Unmarshal(raw, &cloud); err != nil {
		return nil, fmt.Errorf("state of the simulator: %w", err)
	}
	servers := map[string]int{}
	for _, g := range append(cloud.Groups, cloud.NetworkGroups...) {
		servers[g.ID] = len(g.Servers)
	}
	var lines []string
	add := func(name, format string, args ...any) {
		if name != usersName {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	for _, b := range cloud.Balancers {
		add(b.Name, "load balancer %s %s %s", b.Name, b.Type, b.Address)
	}
	for _, b := range cloud.Networks {
		add(b.Name, "network load balancer %s %s %s", b.Name, b.Type, b.Host)
	}
	for _, g := range cloud.SecurityGroups {
		add(g.Name, "security group %s of %d rules", g.Name, len(g.Rules))
	}
	for _, l := range cloud.Listeners {
		to := fmt.Sprintf("server group of %d", servers[l.Group])
		if l.Group == "" {
			to = "redirect"
		}
		lines = append(lines, fmt.Sprintf("listener %s %s:%d %s > %s", l.Description, l.Protocol, l.Port, l.Status, to))
	}
	for _, l := range cloud.NetworkListeners {
		lines = append(lines, fmt.Sprintf("listener %s %s:%d %s > server group of %d", l.Description, l.Protocol, l.Port, l.Status, servers[l.Group]))
	}
	slices.Sort(lines)
	return lines, nil
}
