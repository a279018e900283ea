package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/harness"
)

// lookOpenStack lists load balancers, listeners, pools and floating IPs.
func lookOpenStack(ctx context.Context, world *harness.World) ([]string, error) {
	raw, err := world.Sim.State(ctx)
	if err != nil {
		return nil, err
	}
	var cloud struct {
		Balancers []struct {
			ID       string `json:"id"`
			Name     string `json:"name"`
			Provider string `json:"provider"`
			Status   string `json:"provisioning_status"`
			Address  string `json:"vip_address"`
		} `json:"loadbalancers"`
		Listeners []struct {
			Name     string `json:"name"`
			Protocol string `json:"protocol"`
			Port     int    `json:"protocol_port"`
			Pool     string `json:"default_pool_id"`
		} `json:"listeners"`
		Members []struct {
			Pool string `json:"pool"`
			Port int    `json:"protocol_port"`
		} `json:"members"`
		Floating []struct {
			Address string `json:"floating_ip_address"`
			Fixed   string `json:"fixed_ip_address"`
		} `json:"floatingips"`
	}
	if err := json.Unmarshal(raw, &cloud); err != nil {
		return nil, fmt.Errorf("state of the simulator: %w", err)
	}
	members := map[string]int{}
	for _, m := range cloud.Members {
		members[m.Pool]++
	}
	var lines []string
	for _, b := range cloud.Balancers {
		lines = append(lines, fmt.Sprintf("load balancer %s %s %s, %s", b.Name, b.Provider, b.Address, b.Status))
	}
	for _, l := range cloud.Listeners {
		lines = append(lines, fmt.Sprintf("listener %s %s:%d > pool of %d members", l.Name, l.Protocol, l.Port, members[l.Pool]))
	}
	for _, f := range cloud.Floating {
		if f.Fixed != "" {
			lines = append(lines, fmt.Sprintf("floating IP %s > %s", f.Address, f.Fixed))
		}
	}
	slices.Sort(lines)
	return lines, nil
}
