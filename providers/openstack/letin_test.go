package openstack_test

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// shutOut lists the members of the project that no security group of their node admits:
// the load balancer sends to them from their subnet, or else from its own.
func (w *world) shutOut() []string {
	w.Helper()
	tables := w.tables()
	byID := func(collection, id string) map[string]any {
		i := slices.IndexFunc(tables[collection], func(o map[string]any) bool { return o["id"] == id })
		if i < 0 {
			return nil
		}
		return tables[collection][i]
	}
	text := func(o map[string]any, key string) string {
		s, _ := o[key].(string)
		return s
	}
	var out []string
	for _, m := range tables["members"] {
		pool := byID("pools", text(m, "pool"))
		subnet := byID("subnets", cmp.Or(text(m, "subnet_id"), text(byID("loadbalancers", text(pool, "loadbalancer")), "vip_subnet_id")))
		from := netip.MustParsePrefix(text(subnet, "cidr"))
		protocol := "tcp"
		if text(pool, "protocol") == "UDP" {
			protocol = "udp"
		}
		admits := func(rule map[string]any) bool {
			remote, err := netip.ParsePrefix(text(rule, "remote_ip_prefix"))
			return err == nil && text(rule, "direction") == "ingress" && text(rule, "protocol") == protocol && rule["port_range_min"] == m["protocol_port"] &&
				remote.Bits() <= from.Bits() && remote.Contains(from.Addr())
		}
		admitted := slices.ContainsFunc(tables["ports"], func(p map[string]any) bool {
			fixed, _ := p["fixed_ips"].([]any)
			groups, _ := p["security_groups"].([]any)
			return slices.ContainsFunc(fixed, func(f any) bool { return text(f.(map[string]any), "ip_address") == text(m, "address") }) &&
				slices.ContainsFunc(tables["security-group-rules"], func(r map[string]any) bool { return slices.Contains(groups, r["security_group_id"]) && admits(r) })
		})
		if !admitted {
			out = append(out, text(m, "address")+" "+text(pool, "name")+" from "+from.String())
		}
	}
	slices.Sort(out)
	return out
}

// TestGroupsFollowMembers: with managed security groups, whatever a Service or the
// configuration asks for in vain, and whichever nodes join, every member stays admitted.
func TestGroupsFollowMembers(t *testing.T) {
	const base = "subnet-id =\n" + managed
	annotate := func(key, value string) func(*world, *corev1.Service) *corev1.Service {
		return func(_ *world, svc *corev1.Service) *corev1.Service {
			return withAnnotations(svc, prefixedKeys(key, value))
		}
	}
	const subnet = "SUBNET" // another one of the project
	for name, move := range map[string]func(w *world, svc *corev1.Service) *corev1.Service{
		"member-subnet-id": annotate("member-subnet-id", subnet),
		"subnet-id":        annotate("subnet-id", subnet),
		"class":            annotate("class", "other"),
		"the configuration": func(w *world, svc *corev1.Service) *corev1.Service {
			w.config = base + "subnet-id = " + w.running.Cloud.Seed.Other.Subnets[0].ID + "\n"
			w.restart(svc)
			return svc
		},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := startWorld(t, simopenstack.Options{Seed: simopenstack.SeedOptions{Nodes: 4}}, base)
			other := w.running.Cloud.Seed.Other.Subnets[0].ID
			w.config = base + "[LoadBalancerClass \"other\"]\nsubnet-id = " + other + "\n"
			w.restart()
			all := w.nodes
			w.nodes = all[:3]
			w.process.SetNodes(w.nodes)
			svc := props.Service("web", nil).Service
			w.serve(svc)
			if out := w.shutOut(); len(out) > 0 {
				t.Fatalf("shut out from the beginning: %v", out)
			}
			svc = move(w, svc)
			for key, value := range svc.Annotations {
				svc.Annotations[key] = strings.ReplaceAll(value, subnet, other)
			}
			res := w.serve(svc)
			if out := w.shutOut(); len(out) > 0 {
				t.Errorf("shut out: %v", out)
			}
			if name != "the configuration" && !slices.ContainsFunc(messagesOf(res), func(l string) bool { return strings.Contains(l, name) }) {
				t.Errorf("no warning names %s: %v", name, messagesOf(res))
			}
			w.nodes = all[1:]
			w.process.SetNodes(w.nodes)
			w.serve(svc)
			if out := w.shutOut(); len(out) > 0 || len(w.tables()["members"]) != 6 {
				t.Errorf("shut out with another node: %v", out)
			}
		})
	}
}
