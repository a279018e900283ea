package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/harness"
)

// become waits until the load balancers of Services are shaped so, and every Service
// says that it is served.
func (w *walker) become(ctx context.Context, want map[string][]string) error {
	var services []corev1.Service
	for name := range want {
		services = append(services, newService(name, nil, nil))
	}
	err := harness.Eventually(ctx, patience, func(ctx context.Context) error { return w.sameShapes(ctx, want) })
	if err != nil {
		return err
	}
	return harness.Eventually(ctx, patience, w.Programmed(services...))
}

// sameShapes compares the load balancers of Services with the expected shapes.
func (w *walker) sameShapes(ctx context.Context, want map[string][]string) error {
	got := map[string][]string{}
	for name := range want {
		shape, err := w.cloud.shape(ctx, "kube_service_kubernetes_default_"+name)
		if err != nil {
			return err
		}
		got[name] = shape
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("the real cloud (-want +got):\n%s", diff)
	}
	return nil
}

// list is what a list call brings.
func (c *cloud) list(ctx context.Context, api, path, key string) ([]any, error) {
	got, err := c.do(ctx, http.MethodGet, api, path, nil, nil)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusOK {
		return nil, fmt.Errorf("%s: %d %v", path, got.status, got.body)
	}
	all, _ := valueAt(got.body, key).([]any)
	return all, nil
}

// shape describes the load balancer of a name, a line for each listener.
func (c *cloud) shape(ctx context.Context, name string) ([]string, error) {
	found, err := c.list(ctx, "load-balancer", "/lbaas/loadbalancers?name="+url.QueryEscape(name), "loadbalancers")
	if err != nil {
		return nil, err
	}
	if len(found) != 1 || valueAt(found[0], "provisioning_status") != "ACTIVE" {
		return nil, fmt.Errorf("%s: not one that is ready: %v", name, found)
	}
	id := fmt.Sprint(valueAt(found[0], "id"))
	listeners, err := c.list(ctx, "load-balancer", "/lbaas/listeners?loadbalancer_id="+id, "listeners")
	if err != nil {
		return nil, err
	}
	pools, err := c.list(ctx, "load-balancer", "/lbaas/pools?loadbalancer_id="+id, "pools")
	if err != nil {
		return nil, err
	}
	checks, err := c.list(ctx, "load-balancer", "/lbaas/healthmonitors", "healthmonitors")
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(listeners)+1)
	for _, l := range listeners {
		pool := withID(pools, valueAt(l, "default_pool_id"))
		out = append(out, describeListener(l, pool, withID(checks, valueAt(pool, "healthmonitor_id"))))
	}
	slices.Sort(out)
	floating, err := c.list(ctx, "network", "/floatingips?port_id="+fmt.Sprint(valueAt(found[0], "vip_port_id")), "floatingips")
	if len(floating) > 0 {
		out = append(out, "floating IP")
	}
	return out, err
}

func withID(all []any, id any) any {
	for _, v := range all {
		if valueAt(v, "id") == id {
			return v
		}
	}
	return nil
}

// describeListener describes one listener with its pool and monitor.
func describeListener(listener, pool, check any) string {
	text := fmt.Sprintf("%v %v", valueAt(listener, "protocol"), valueAt(listener, "protocol_port"))
	ranges, _ := valueAt(listener, "allowed_cidrs").([]any)
	if said := fmt.Sprint(ranges...); len(ranges) > 0 && said != "0.0.0.0/0" {
		text += " for " + said
	}
	members, _ := valueAt(pool, "members").([]any)
	text += fmt.Sprintf(": %v %v", valueAt(pool, "protocol"), valueAt(pool, "lb_algorithm"))
	if kind := valueAt(pool, "session_persistence.type"); kind != nil {
		text += " " + fmt.Sprint(kind)
	}
	text += fmt.Sprintf(", %d members", len(members))
	if check != nil {
		text += fmt.Sprintf(", %v check", valueAt(check, "type"))
	}
	return strings.TrimSpace(text)
}
