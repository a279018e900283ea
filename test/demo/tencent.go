package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/harness"
)

// lookTencent lists load balancers except that of the user, listeners and rules.
func lookTencent(ctx context.Context, world *harness.World) ([]string, error) {
	raw, err := world.Sim.State(ctx)
	if err != nil {
		return nil, err
	}
	type part struct {
		Balancer string           `json:"LoadBalancerId"`
		Protocol string           `json:"Protocol"`
		Port     int              `json:"Port"`
		Domain   string           `json:"Domain"`
		Targets  []map[string]any `json:"Targets"`
	}
	var cloud struct {
		Balancers []struct {
			ID        string     `json:"id"`
			Name      string     `json:"LoadBalancerName"`
			Type      string     `json:"LoadBalancerType"`
			Addresses []string   `json:"LoadBalancerVips"`
			Tags      []struct{} `json:"Tags"`
		} `json:"load_balancers"`
		Listeners []part `json:"listeners"`
		Rules     []part `json:"rules"`
	}
	if err := json.Unmarshal(raw, &cloud); err != nil {
		return nil, fmt.Errorf("state of the simulator: %w", err)
	}
	var lines []string
	names := map[string]string{}
	for _, b := range cloud.Balancers {
		names[b.ID] = b.Name
		if len(b.Tags) > 0 {
			lines = append(lines, fmt.Sprintf("load balancer %s %s %v", b.Name, b.Type, b.Addresses))
		}
	}
	for _, l := range cloud.Listeners {
		lines = append(lines, fmt.Sprintf("listener of %s %s:%d > %d targets", names[l.Balancer], l.Protocol, l.Port, len(l.Targets)))
	}
	for _, r := range cloud.Rules {
		lines = append(lines, fmt.Sprintf("rule of %s for %s > %d targets", names[r.Balancer], r.Domain, len(r.Targets)))
	}
	slices.Sort(lines)
	return lines, nil
}
