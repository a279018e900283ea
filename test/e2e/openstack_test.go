package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/sim"
)

var openstackPlane cluster.Shared

// TestOpenStack runs what every cloud has to stand on OpenStack, whose load balancers are
// busy for a while after each change.
func TestOpenStack(t *testing.T) {
	t.Parallel()
	onOpenStack().scenarios(t)
}

func openstackAnnotation(key string) string { return "loadbalancer.openstack.org/" + key }

func onOpenStack() *place {
	monitored := setAnnotation(openstackAnnotation("enable-health-monitor"), "true")
	everybody := []string{"0.0.0.0/0"}
	return &place{
		cloud: "openstack", plane: &openstackPlane, fronts: openstackFronts, key: openstackKey,
		kinds: []kind{
			{name: "external", asks: []change{monitored}, ports: oneByOne, check: eachPort, open: everybody, parts: map[string]int{"loadbalancers/": 1, "floatingips/": 1}},
			{name: "internal", asks: []change{monitored, setAnnotation("service.beta.kubernetes.io/openstack-internal-load-balancer", "true")},
				ports: oneByOne, check: eachPort, open: everybody, parts: map[string]int{"loadbalancers/": 1}},
		},
		answers: answers{
			throttled: sim.Fault{Status: 429, Message: "This request was rate-limited."},
			denied:    sim.Fault{Operation: "CreateLoadBalancer", Status: 403, Message: "Policy does not allow this request to be performed"},
			quota:     sim.Fault{Operation: "CreateLoadBalancer", Status: 403, Message: "Quota has been met for resources: Load Balancer"},
			down:      sim.Fault{Status: 503, Message: "The service is currently unavailable"},
		},
		kills: []int{1, 2}, // a load balancer is one call, and all of them are sent at once
		cuts:  []string{"CreateLoadBalancer", "CreateFloatingIP"},
		mistakes: []mistake{
			mistakeOf("method", "external", openstackAnnotation("lb-method"), "round-robin", "ROUND_ROBIN"),
			mistakeOf("class", "internal", openstackAnnotation("class"), "gold", "LoadBalancerClass"),
			mistakeOf("pattern", "external", openstackAnnotation("floating-subnet"), "private-*", "external network"),
		},
	}
}

// openstackKey is what the load balancer of a Service is called.
func openstackKey(svc *corev1.Service) string {
	return "kube_service_kubernetes_" + svc.Namespace + "_" + svc.Name
}

// openstackSeen is what the cloud has of load balancers.
type openstackSeen struct {
	Balancers []struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Address string `json:"vip_address"`
		Port    string `json:"vip_port_id"`
	} `json:"loadbalancers"`
	Listeners []struct {
		Balancer string   `json:"loadbalancer"`
		Protocol string   `json:"protocol"`
		Port     int      `json:"protocol_port"`
		Sources  []string `json:"allowed_cidrs"`
	} `json:"listeners"`
	Members []struct {
		Balancer string `json:"loadbalancer"`
		Pool     string `json:"pool"`
		Name     string `json:"name"`
		Port     int    `json:"protocol_port"`
		Check    *int   `json:"monitor_port"`
	} `json:"members"`
	Monitors []struct {
		Pool string `json:"pool"`
		Type string `json:"type"`
		Path string `json:"url_path"`
	} `json:"healthmonitors"`
	Floating []struct {
		Address string `json:"floating_ip_address"`
		Port    string `json:"port_id"`
	} `json:"floatingips"`
}

// openstackFronts lists the load balancers with all below them.
func openstackFronts(w *world) ([]front, error) {
	raw, err := w.Sim.State(w.t.Context())
	if err != nil {
		return nil, err
	}
	var seen openstackSeen
	if err := json.Unmarshal(raw, &seen); err != nil {
		return nil, err
	}
	var out []front
	for _, lb := range seen.Balancers {
		f := front{Of: lb.Name, Kind: "internal", Address: lb.Address}
		for _, ip := range seen.Floating {
			if ip.Port == lb.Port {
				f.Kind, f.Address = "external", ip.Address
			}
		}
		for _, l := range seen.Listeners {
			if l.Balancer == lb.ID {
				f.Ports, f.Sources = append(f.Ports, fmt.Sprintf("%s %d", l.Protocol, l.Port)), append(f.Sources, l.Sources...)
			}
		}
		f.Members, f.Check = seen.behind(lb.ID)
		for _, list := range []*[]string{&f.Ports, &f.Sources} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
		out = append(out, f)
	}
	return out, nil
}

// behind are the members of a load balancer, and the ports and paths asked for on them.
func (s openstackSeen) behind(balancer string) (members []string, check string) {
	var checks []string
	for _, m := range s.Members {
		if m.Balancer != balancer {
			continue
		}
		members = append(members, m.Name)
		for _, c := range s.Monitors {
			if c.Pool == m.Pool {
				checks = append(checks, fmt.Sprint(*cmp.Or(m.Check, &m.Port))+map[bool]string{true: c.Path}[c.Type == "HTTP"])
			}
		}
	}
	slices.Sort(members)
	slices.Sort(checks)
	return slices.Compact(members), strings.Join(slices.Compact(checks), ",")
}
