package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/sim"
)

var ociPlane cluster.Shared

// TestOCI runs what every cloud has to stand on Oracle Cloud, whose load balancers take one
// change at a time.
func TestOCI(t *testing.T) {
	t.Parallel()
	onOCI().scenarios(t)
}

const (
	ociClassic = "service.beta.kubernetes.io/oci-load-balancer-"
	ociShared  = "oci.oraclecloud.com/"
	ociNetwork = "oci-network-load-balancer.oraclecloud.com/"
)

// onOCI has both products; their rules are in security lists, which they share.
func onOCI() *place {
	proxied := func(...int32) string { return "10256/healthz" }
	everybody := []string{"0.0.0.0/0"}
	return &place{
		cloud: "oci", plane: &ociPlane, sim: []string{"--work=300ms"}, fronts: ociFronts, key: func(svc *corev1.Service) string { return string(svc.UID) },
		kinds: []kind{
			{name: "lb", ports: oneByOne, check: proxied, open: everybody, parts: map[string]int{"/ocid1.loadbalancer.": 1}},
			{name: "nlb", asks: []change{setAnnotation(ociShared+"load-balancer-type", "nlb"), setAnnotation(ociNetwork+"security-list-management-mode", "All"), setAnnotation(ociNetwork+"external-ip-only", "true")},
				ports: oneByOne, check: proxied, open: everybody, parts: map[string]int{"/ocid1.networkloadbalancer.": 1}},
		},
		answers: answers{
			throttled: sim.Fault{Status: 429, Code: "TooManyRequests", Message: "Too many requests for the user"},
			denied:    sim.Fault{Operation: "Create*LoadBalancer", Status: 403, Code: "NotAuthorized", Message: "You do not have authorization to perform this request"},
			quota:     sim.Fault{Operation: "CreateLoadBalancer", Status: 400, Code: "LimitExceeded", Message: "The limit for load balancers is exceeded"},
			down:      sim.Fault{Status: 503, Code: "ServiceUnavailable", Message: "The service is currently unavailable"},
		},
		cuts: []string{"CreateLoadBalancer", "CreateNetworkLoadBalancer", "UpdateSecurityList"},
		mistakes: []mistake{
			mistakeOf("retries", "lb", ociClassic+"health-check-retries", "many", "whole number"),
			mistakeOf("mode", "lb", ociShared+"security-rule-management-mode", "Some", "SL-All"),
			mistakeOf("interval", "nlb", ociNetwork+"health-check-interval", "500", "10000"),
		},
	}
}

// ociBalancer is a load balancer of either product, as the cloud has it.
type ociBalancer struct {
	Name      string   `json:"displayName"`
	Subnet    string   `json:"subnetId"`
	Subnets   []string `json:"subnetIds"`
	Addresses []struct {
		Address string `json:"ipAddress"`
		Public  bool   `json:"isPublic"`
	} `json:"ipAddresses"`
	Listeners map[string]struct {
		Port     int    `json:"port"`
		Protocol string `json:"protocol"`
	} `json:"listeners"`
	Sets map[string]struct {
		Health struct {
			Port int    `json:"port"`
			Path string `json:"urlPath"`
		} `json:"healthChecker"`
		Backends []struct {
			Address string `json:"ipAddress"`
		} `json:"backends"`
	} `json:"backendSets"`
}

// ociRule is a rule of a security list.
type ociRule struct {
	Source string `json:"source"`
	TCP    struct {
		To struct {
			Min int `json:"min"`
		} `json:"destinationPortRange"`
	} `json:"tcpOptions"`
}

// ociSeen is what the cloud has of load balancers.
type ociSeen struct {
	Classic []ociBalancer `json:"loadbalancer"`
	Network []ociBalancer `json:"networkloadbalancer"`
	Subnets []struct {
		ID    string   `json:"id"`
		Lists []string `json:"securityListIds"`
	} `json:"subnet"`
	Lists []struct {
		ID    string    `json:"id"`
		Rules []ociRule `json:"ingressSecurityRules"`
	} `json:"securitylist"`
	Vnics []struct {
		Name    string `json:"displayName"`
		Address string `json:"privateIp"`
	} `json:"vnic"`
}

// ociFronts lists the load balancers of both products.
func ociFronts(w *world) ([]front, error) {
	raw, err := w.Sim.State(w.t.Context())
	if err != nil {
		return nil, err
	}
	var seen ociSeen
	if err := json.Unmarshal(raw, &seen); err != nil {
		return nil, err
	}
	var out []front
	for _, b := range seen.Classic {
		out = append(out, seen.front("lb", b))
	}
	for _, b := range seen.Network {
		out = append(out, seen.front("nlb", b))
	}
	return out, nil
}

// front returns what clients see of a load balancer. The security lists of its subnets decide
// which clients are admitted.
func (s ociSeen) front(kind string, b ociBalancer) front {
	f := front{Of: b.Name[strings.LastIndex(b.Name, "/")+1:], Kind: kind}
	for _, a := range b.Addresses {
		if a.Public {
			f.Address = a.Address
		}
	}
	var checks []string
	for _, set := range b.Sets {
		checks = append(checks, fmt.Sprintf("%d%s", set.Health.Port, set.Health.Path))
		for _, backend := range set.Backends {
			f.Members = append(f.Members, s.machine(backend.Address))
		}
	}
	rules := s.rulesOf(b)
	for _, l := range b.Listeners {
		f.Ports = append(f.Ports, fmt.Sprintf("%s %d", l.Protocol, l.Port))
		for _, r := range rules {
			if r.TCP.To.Min == l.Port {
				f.Sources = append(f.Sources, r.Source)
			}
		}
	}
	for _, list := range []*[]string{&f.Ports, &f.Sources, &f.Members, &checks} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	f.Check = strings.Join(checks, ",")
	return f
}

// machine is the name of the machine at an address.
func (s ociSeen) machine(address string) string {
	for _, v := range s.Vnics {
		if v.Address == address {
			return v.Name
		}
	}
	return address
}

// rulesOf are the rules that clients of a load balancer meet.
func (s ociSeen) rulesOf(b ociBalancer) []ociRule {
	var out []ociRule
	for _, sub := range s.Subnets {
		for _, l := range s.Lists {
			if (sub.ID == b.Subnet || slices.Contains(b.Subnets, sub.ID)) && slices.Contains(sub.Lists, l.ID) {
				out = append(out, l.Rules...)
			}
		}
	}
	return out
}
