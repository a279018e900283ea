package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/harness"
)

// lookIBM lists load balancers, listeners and the members of their pools.
func lookIBM(ctx context.Context, world *harness.World) ([]string, error) {
	raw, err := world.Sim.State(ctx)
	if err != nil {
		return nil, err
	}
	var cloud struct {
		Balancers []struct {
			ID      string `json:"id"`
			Name    string `json:"name"`
			Host    string `json:"hostname"`
			Public  bool   `json:"is_public"`
			Status  string `json:"provisioning_status"`
			Profile struct {
				Name string `json:"name"`
			} `json:"profile"`
		} `json:"load_balancers"`
		Listeners []struct {
			Balancer string `json:"~owner"`
			Protocol string `json:"protocol"`
			First    int    `json:"port_min"`
			Last     int    `json:"port_max"`
			Pool     string `json:"pool"`
		} `json:"listeners"`
		Members []struct {
			Pool string `json:"~owner"`
		} `json:"members"`
	}
	if err := json.Unmarshal(raw, &cloud); err != nil {
		return nil, fmt.Errorf("state of the simulator: %w", err)
	}
	members, names := map[string]int{}, map[string]string{}
	for _, m := range cloud.Members {
		members[m.Pool]++
	}
	var lines []string
	for _, b := range cloud.Balancers {
		names[b.ID] = b.Name
		lines = append(lines, fmt.Sprintf("load balancer %s %s %s, public %v, %s", b.Name, b.Profile.Name, b.Host, b.Public, b.Status))
	}
	for _, l := range cloud.Listeners {
		lines = append(lines, fmt.Sprintf("listener of %s %s:%d-%d > pool of %d members", names[l.Balancer], l.Protocol, l.First, l.Last, members[l.Pool]))
	}
	slices.Sort(lines)
	return lines, nil
}
