package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	raw "google.golang.org/api/compute/v1"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	corev1 "k8s.io/api/core/v1"
)

const (
	gceProject = "berth-demo"
	gceRegion  = "us-central1"
)

// gceClients are the official library's.
type gceClients struct {
	project   string // of network and firewalls
	rules     *compute.ForwardingRulesClient
	pools     *compute.TargetPoolsClient
	backends  *compute.RegionBackendServicesClient
	older     *raw.Service // has legacy health checks, and members of groups without a mistake in the call
	global    *compute.HealthChecksClient
	regional  *compute.RegionHealthChecksClient
	firewalls *compute.FirewallsClient
}

func dialGCE(ctx context.Context, url, networkProject string) (*gceClients, error) {
	options := []option.ClientOption{option.WithEndpoint(url), option.WithoutAuthentication()}
	c := &gceClients{project: networkProject}
	var errs [7]error
	c.rules, errs[0] = compute.NewForwardingRulesRESTClient(ctx, options...)
	c.pools, errs[1] = compute.NewTargetPoolsRESTClient(ctx, options...)
	c.backends, errs[2] = compute.NewRegionBackendServicesRESTClient(ctx, options...)
	c.older, errs[3] = raw.NewService(ctx, option.WithEndpoint(url+"/compute/v1/"), option.WithoutAuthentication())
	c.global, errs[4] = compute.NewHealthChecksRESTClient(ctx, options...)
	c.regional, errs[5] = compute.NewRegionHealthChecksRESTClient(ctx, options...)
	c.firewalls, errs[6] = compute.NewFirewallsRESTClient(ctx, options...)
	return c, errors.Join(errs[:]...)
}

// gceKey is what descriptions name a Service by.
func gceKey(svc *corev1.Service) string { return svc.Namespace + "/" + svc.Name }

// gceFronts lists the forwarding rules that name a Service, with the resources behind them.
// Resources deleted during the listing, such as the group of a zone without nodes, are left
// out.
func gceFronts(w *world) ([]front, error) {
	ctx := w.t.Context()
	c, err := dialGCE(ctx, w.Sim.URL, w.place.networkProject())
	if err != nil {
		return nil, err
	}
	for range 5 {
		var out []front
		out, err = c.fronts(ctx)
		var answer *googleapi.Error
		if !errors.As(err, &answer) || answer.Code != http.StatusNotFound {
			return out, err
		}
	}
	return nil, err
}

func (c *gceClients) fronts(ctx context.Context) ([]front, error) {
	rules, err := readAll(c.rules.List(ctx, &computepb.ListForwardingRulesRequest{Project: gceProject, Region: gceRegion}).Next)
	if err != nil {
		return nil, err
	}
	firewalls, err := readAll(c.firewalls.List(ctx, &computepb.ListFirewallsRequest{Project: c.project}).Next)
	if err != nil {
		return nil, err
	}
	var out []front
	for _, r := range rules {
		f := front{Of: serviceOf(r.GetDescription()), Address: r.GetIPAddress(), Ports: []string{r.GetIPProtocol() + " " + gcePorts(r)}}
		if f.Of == "" {
			continue
		}
		for _, wall := range firewalls {
			if slices.Contains(wall.GetDestinationRanges(), f.Address) {
				f.Sources = append(f.Sources, wall.GetSourceRanges()...)
			}
		}
		if err := c.behind(ctx, r, &f); err != nil {
			return nil, err
		}
		slices.Sort(f.Members)
		slices.Sort(f.Sources)
		out = append(out, f)
	}
	return out, nil
}

// readAll iterates over a list of the official library.
func readAll[T any](next func() (T, error)) ([]T, error) {
	var out []T
	for {
		item, err := next()
		if errors.Is(err, iterator.Done) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
}

// serviceOf returns the Service that a description names.
func serviceOf(text string) string {
	var parts map[string]string
	if json.Unmarshal([]byte(text), &parts) != nil {
		return ""
	}
	return parts["kubernetes.io/service-name"] + parts["networking.gke.io/service-name"]
}

func gcePorts(r *computepb.ForwardingRule) string {
	if r.GetAllPorts() {
		return "all"
	}
	return strings.Join(r.GetPorts(), ",") + r.GetPortRange()
}

// behind adds what a rule sends to.
func (c *gceClients) behind(ctx context.Context, r *computepb.ForwardingRule, f *front) error {
	if r.GetTarget() != "" {
		pool, err := c.pools.Get(ctx, &computepb.GetTargetPoolRequest{Project: gceProject, Region: gceRegion, TargetPool: lastPart(r.GetTarget())})
		if err != nil {
			return err
		}
		f.Kind = "target-pool"
		for _, i := range pool.GetInstances() {
			f.Members = append(f.Members, lastPart(i))
		}
		check, err := c.older.HttpHealthChecks.Get(gceProject, lastPart(strings.Join(pool.GetHealthChecks(), ""))).Context(ctx).Do()
		if err == nil {
			f.Check = fmt.Sprintf("%d%s", check.Port, check.RequestPath)
		}
		return err
	}
	service, err := c.backends.Get(ctx, &computepb.GetRegionBackendServiceRequest{Project: gceProject, Region: gceRegion, BackendService: lastPart(r.GetBackendService())})
	if err != nil {
		return err
	}
	f.Kind = "netlb-rbs"
	if r.GetLoadBalancingScheme() == "INTERNAL" {
		f.Kind = "ilb-ig"
		if strings.HasPrefix(r.GetName(), "k8s2-") {
			f.Kind = "ilb-neg"
		}
	}
	for _, b := range service.GetBackends() {
		some, err := c.grouped(ctx, b.GetGroup())
		if err != nil {
			return err
		}
		f.Members = append(f.Members, some...)
	}
	f.Check, err = c.check(ctx, strings.Join(service.GetHealthChecks(), ""))
	return err
}

// grouped are the machines in a group of instances or endpoints.
func (c *gceClients) grouped(ctx context.Context, url string) ([]string, error) {
	parts := strings.Split(url, "/")
	zone, name := parts[len(parts)-3], parts[len(parts)-1]
	var out []string
	if strings.Contains(url, "/instanceGroups/") {
		list, err := c.older.InstanceGroups.ListInstances(gceProject, zone, name, &raw.InstanceGroupsListInstancesRequest{}).Context(ctx).Do()
		if err != nil {
			return nil, err
		}
		for _, i := range list.Items {
			out = append(out, lastPart(i.Instance))
		}
		return out, nil
	}
	list, err := c.older.NetworkEndpointGroups.ListNetworkEndpoints(gceProject, zone, name, &raw.NetworkEndpointGroupsListEndpointsRequest{}).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	for _, e := range list.Items {
		out = append(out, lastPart(e.NetworkEndpoint.Instance))
	}
	return out, nil
}

// check is what a health check asks for.
func (c *gceClients) check(ctx context.Context, url string) (string, error) {
	var found *computepb.HealthCheck
	var err error
	if strings.Contains(url, "/regions/") {
		found, err = c.regional.Get(ctx, &computepb.GetRegionHealthCheckRequest{Project: gceProject, Region: gceRegion, HealthCheck: lastPart(url)})
	} else {
		found, err = c.global.Get(ctx, &computepb.GetHealthCheckRequest{Project: gceProject, HealthCheck: lastPart(url)})
	}
	return fmt.Sprintf("%d%s", found.GetHttpHealthCheck().GetPort(), found.GetHttpHealthCheck().GetRequestPath()), err
}

// lastPart returns the last part of a URL.
func lastPart(url string) string { return url[strings.LastIndex(url, "/")+1:] }
