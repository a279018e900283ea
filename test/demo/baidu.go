package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/harness"
)

// lookBaidu lists load balancers except that of the user, public addresses, listeners and groups.
func lookBaidu(ctx context.Context, world *harness.World) ([]string, error) {
	raw, err := world.Sim.State(ctx)
	if err != nil {
		return nil, err
	}
	var cloud struct {
		Balancers []struct {
			ID      string     `json:"id"`
			Name    string     `json:"name"`
			Address string     `json:"address"`
			Tags    []struct{} `json:"tags"`
		} `json:"load_balancers"`
		Addresses []struct {
			Address   string `json:"eip"`
			Balancer  string `json:"instanceId"`
			Bandwidth int    `json:"bandwidthInMbps"`
		} `json:"eips"`
		Listeners []struct {
			Balancer string `json:"~owner"`
			Protocol string `json:"listenerType"`
			Port     int    `json:"listenerPort"`
		} `json:"listeners"`
		Groups []struct {
			Balancer string     `json:"~owner"`
			Members  []struct{} `json:"members"`
		} `json:"server_groups"`
	}
	if err := json.Unmarshal(raw, &cloud); err != nil {
		return nil, fmt.Errorf("state of the simulator: %w", err)
	}
	var lines []string
	names := map[string]string{}
	for _, b := range cloud.Balancers {
		names[b.ID] = b.Name
		if len(b.Tags) > 0 {
			lines = append(lines, fmt.Sprintf("load balancer %s %s", b.Name, b.Address))
		}
	}
	for _, a := range cloud.Addresses {
		lines = append(lines, fmt.Sprintf("EIP %s of %s, %d Mbit/s", a.Address, names[a.Balancer], a.Bandwidth))
	}
	for _, l := range cloud.Listeners {
		lines = append(lines, fmt.Sprintf("listener of %s %s:%d", names[l.Balancer], l.Protocol, l.Port))
	}
	for _, g := range cloud.Groups {
		lines = append(lines, fmt.Sprintf("server group of %s > %d nodes", names[g.Balancer], len(g.Members)))
	}
	slices.Sort(lines)
	return lines, nil
}
