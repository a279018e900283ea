package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"github.com/berth-lb/berth/test/harness"
)

const (
	gceProject = "berth-demo"
	gceRegion  = "us-central1"
)

// lookGCE lists the load balancers and their dependent resources through the official
// library.
func lookGCE(ctx context.Context, world *harness.World) ([]string, error) {
	options := []option.ClientOption{option.WithEndpoint(world.Sim.URL), option.WithoutAuthentication()}
	var lines []string
	for _, look := range []func(context.Context, []option.ClientOption) ([]string, error){lookRules, lookBackends, lookPools, lookInstanceGroups, lookNEGs, lookFirewalls, lookAddresses} {
		some, err := look(ctx, options)
		if err != nil {
			return nil, err
		}
		slices.Sort(some)
		lines = append(lines, some...)
	}
	return lines, nil
}

// listAll walks a list; line says what to show of a member, "" nothing.
func listAll[T any](next func() (T, error), line func(T) string) ([]string, error) {
	var out []string
	for {
		item, err := next()
		if errors.Is(err, iterator.Done) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if text := line(item); text != "" {
			out = append(out, text)
		}
	}
}

func lookRules(ctx context.Context, options []option.ClientOption) ([]string, error) {
	client, err := compute.NewForwardingRulesRESTClient(ctx, options...)
	if err != nil {
		return nil, err
	}
	it := client.List(ctx, &computepb.ListForwardingRulesRequest{Project: gceProject, Region: gceRegion})
	return listAll(it.Next, func(f *computepb.ForwardingRule) string {
		ports := strings.Join(f.GetPorts(), ",") + f.GetPortRange()
		if f.GetAllPorts() {
			ports = "all"
		}
		return fmt.Sprintf("rule %s %-8s %-15s %s:%s > %s%s", shortName(f.GetName()), f.GetLoadBalancingScheme(), f.GetIPAddress(),
			f.GetIPProtocol(), ports, kindAndName(f.GetTarget()+f.GetBackendService()), madeFor(f.GetDescription()))
	})
}

// kindAndName are the last two parts of a URL.
func kindAndName(url string) string {
	parts := strings.Split(url, "/")
	if len(parts) < 2 {
		return url
	}
	return parts[len(parts)-2] + "/" + shortName(parts[len(parts)-1])
}

// madeFor says which Service a description names, since names of things do so by
// hashes only; things that are shared name none.
func madeFor(description string) string {
	var parts map[string]string
	if json.Unmarshal([]byte(description), &parts) != nil {
		return ""
	}
	if name := parts["kubernetes.io/service-name"] + parts["networking.gke.io/service-name"]; strings.Contains(name, "/") {
		return ", for " + name
	}
	return ""
}

func lookBackends(ctx context.Context, options []option.ClientOption) ([]string, error) {
	client, err := compute.NewRegionBackendServicesRESTClient(ctx, options...)
	if err != nil {
		return nil, err
	}
	it := client.List(ctx, &computepb.ListRegionBackendServicesRequest{Project: gceProject, Region: gceRegion})
	return listAll(it.Next, func(b *computepb.BackendService) string {
		return fmt.Sprintf("backend service %s %s %s, %d groups, check %s%s", shortName(b.GetName()), b.GetLoadBalancingScheme(), b.GetProtocol(),
			len(b.GetBackends()), kindAndName(strings.Join(b.GetHealthChecks(), " ")), madeFor(b.GetDescription()))
	})
}

func lookPools(ctx context.Context, options []option.ClientOption) ([]string, error) {
	client, err := compute.NewTargetPoolsRESTClient(ctx, options...)
	if err != nil {
		return nil, err
	}
	it := client.List(ctx, &computepb.ListTargetPoolsRequest{Project: gceProject, Region: gceRegion})
	return listAll(it.Next, func(p *computepb.TargetPool) string {
		return fmt.Sprintf("target pool %s %d instances, check %s%s", shortName(p.GetName()), len(p.GetInstances()), kindAndName(strings.Join(p.GetHealthChecks(), " ")), madeFor(p.GetDescription()))
	})
}

func lookInstanceGroups(ctx context.Context, options []option.ClientOption) ([]string, error) {
	client, err := compute.NewInstanceGroupsRESTClient(ctx, options...)
	if err != nil {
		return nil, err
	}
	it := client.AggregatedList(ctx, &computepb.AggregatedListInstanceGroupsRequest{Project: gceProject})
	return listAll(it.Next, func(p compute.InstanceGroupsScopedListPair) string {
		var lines []string
		for _, g := range p.Value.GetInstanceGroups() {
			lines = append(lines, fmt.Sprintf("instance group %s in %s, %d instances", g.GetName(), p.Key, g.GetSize()))
		}
		return strings.Join(lines, "\n")
	})
}

func lookNEGs(ctx context.Context, options []option.ClientOption) ([]string, error) {
	client, err := compute.NewNetworkEndpointGroupsRESTClient(ctx, options...)
	if err != nil {
		return nil, err
	}
	it := client.AggregatedList(ctx, &computepb.AggregatedListNetworkEndpointGroupsRequest{Project: gceProject})
	return listAll(it.Next, func(p compute.NetworkEndpointGroupsScopedListPair) string {
		var lines []string
		for _, g := range p.Value.GetNetworkEndpointGroups() {
			lines = append(lines, fmt.Sprintf("endpoint group %s in %s, %d endpoints", shortName(g.GetName()), p.Key, g.GetSize()))
		}
		return strings.Join(lines, "\n")
	})
}

// lookFirewalls lists the firewalls of load balancers.
func lookFirewalls(ctx context.Context, options []option.ClientOption) ([]string, error) {
	client, err := compute.NewFirewallsRESTClient(ctx, options...)
	if err != nil {
		return nil, err
	}
	it := client.List(ctx, &computepb.ListFirewallsRequest{Project: gceProject})
	return listAll(it.Next, func(f *computepb.Firewall) string {
		if strings.HasPrefix(f.GetName(), "default-") {
			return ""
		}
		var open []string
		for _, a := range f.GetAllowed() {
			open = append(open, a.GetIPProtocol()+":"+strings.Join(a.GetPorts(), ","))
		}
		to := strings.Join(f.GetDestinationRanges(), ",")
		if to == "" {
			to = "all nodes"
		}
		return fmt.Sprintf("firewall %s %s from %d ranges to %s%s", shortName(f.GetName()), strings.Join(open, " "), len(f.GetSourceRanges()), to, madeFor(f.GetDescription()))
	})
}

func lookAddresses(ctx context.Context, options []option.ClientOption) ([]string, error) {
	client, err := compute.NewAddressesRESTClient(ctx, options...)
	if err != nil {
		return nil, err
	}
	it := client.List(ctx, &computepb.ListAddressesRequest{Project: gceProject, Region: gceRegion})
	return listAll(it.Next, func(a *computepb.Address) string { return "address " + shortName(a.GetName()) + " " + a.GetAddress() })
}
