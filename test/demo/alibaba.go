package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/harness"
)

// lookAlibaba lists load balancers except that of the user, listeners and server groups.
func lookAlibaba(ctx context.Context, world *harness.World) ([]string, error) {
	raw, err := world.Sim.State(ctx)
	if err != nil {
		return nil, err
	}
	var cloud struct {
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
		Groups []struct {
			ID      string           `json:"id"`
			Name    string           `json:"VServerGroupName"`
			Servers []map[string]any `json:"servers"`
		} `json:"vserver_groups"`
	}
	if err := json.Unmarshal(raw, &cloud); err != nil {
		return nil, fmt.Errorf("state of the simulator: %w", err)
	}
	servers := map[string]int{}
	for _, g := range cloud.Groups {
		servers[g.ID] = len(g.Servers)
	}
	var lines []string
	for _, b := range cloud.Balancers {
		if b.Name == "users" {
			continue
		}
		lines = append(lines, fmt.Sprintf("load balancer %s %s %s", b.Name, b.Type, b.Address))
	}
	for _, l := range cloud.Listeners {
		to := fmt.Sprintf("server group of %d", servers[l.Group])
		if l.Group == "" {
			to = "redirect"
		}
		lines = append(lines, fmt.Sprintf("listener %s %s:%d %s > %s", l.Description, l.Protocol, l.Port, l.Status, to))
	}
	slices.Sort(lines)
	return lines, nil
}
