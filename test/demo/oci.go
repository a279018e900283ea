package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/harness"
)

// ociBalancer is a load balancer of either product, as far as the show lists it.
type ociBalancer struct {
	Name      string `json:"displayName"`
	Shape     string `json:"shapeName"`
	State     string `json:"lifecycleState"`
	Addresses []struct {
		Address string `json:"ipAddress"`
	} `json:"ipAddresses"`
	Listeners map[string]struct {
		Port int    `json:"port"`
		Set  string `json:"defaultBackendSetName"`
	} `json:"listeners"`
	Sets map[string]struct {
		Backends []struct {
			Port int `json:"port"`
		} `json:"backends"`
	} `json:"backendSets"`
}

// lookOCI lists load balancers of both products with their listeners, and network
// security groups of Services.
func lookOCI(ctx context.Context, world *harness.World) ([]string, error) {
	raw, err := world.Sim.State(ctx)
	if err != nil {
		return nil, err
	}
	var cloud struct {
		Classic []ociBalancer `json:"loadbalancer"`
		Network []ociBalancer `json:"networkloadbalancer"`
		Groups  []struct {
			Name string            `json:"displayName"`
			Tags map[string]string `json:"freeformTags"`
		} `json:"networksecuritygroup"`
	}
	if err := json.Unmarshal(raw, &cloud); err != nil {
		return nil, fmt.Errorf("state of the simulator: %w", err)
	}
	var lines []string
	for what, balancers := range map[string][]ociBalancer{"load balancer": cloud.Classic, "network load balancer": cloud.Network} {
		for _, b := range balancers {
			lines = append(lines, b.lines(what)...)
		}
	}
	for _, g := range cloud.Groups {
		if g.Tags["ServiceUid"] != "" {
			lines = append(lines, "network security group "+g.Name)
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// lines are the load balancer and its listeners.
func (b ociBalancer) lines(what string) []string {
	var addresses []string
	for _, a := range b.Addresses {
		addresses = append(addresses, a.Address)
	}
	out := []string{fmt.Sprintf("%s %s %s %v, %s", what, b.Name, b.Shape, addresses, b.State)}
	for name, l := range b.Listeners {
		out = append(out, fmt.Sprintf("listener %s of %s :%d > %d backends", name, b.Name, l.Port, len(b.Sets[l.Set].Backends)))
	}
	return out
}
