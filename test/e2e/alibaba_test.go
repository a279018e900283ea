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

var alibabaPlane cluster.Shared

// TestAlibaba runs a part of the shared suite on Alibaba Cloud, with load balancers of both kinds. Jobs of network
// load balancers take a while.
func TestAlibaba(t *testing.T) {
	t.Parallel()
	p := onAlibaba()
	t.Run("life", p.life)
	t.Run("cut", p.cut)
	t.Run("mistakes", p.mistaken)
	t.Run("finalizers", p.finalizers)
}

const (
	alibabaPrefix = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
	alibabaZones  = "cn-hangzhou-h:vsw-bp1b305b3755079e941aa,cn-hangzhou-i:vsw-bp1ce5ba4702bde27d0cd"
)

func onAlibaba() *place {
	network := []change{setAnnotation(alibabaPrefix+"zone-maps", alibabaZones), changeSpec(func(s *corev1.ServiceSpec) { s.LoadBalancerClass = new("alibabacloud.com/nlb") })}
	return &place{
		cloud: "alibaba", plane: &alibabaPlane, sim: []string{"--jobs=300ms", "--provision=300ms"}, fronts: alibabaFronts, unfiltered: true, sameCheck: true,
		key: func(svc *corev1.Service) string { return ("a" + strings.ReplaceAll(string(svc.UID), "-", ""))[:32] },
		kinds: []kind{
			{name: "clb", ports: oneByOne, check: eachPort, parts: map[string]int{"load_balancers/lb-": 1, "listeners/lb-": 1, "vserver_groups/": 1}},
			{name: "nlb", asks: network, ports: oneByOne, check: eachPort, parts: map[string]int{"load_balancers/nlb-": 1, "listeners/lsn-": 1, "server_groups/sgp-": 1}},
		},
		answers: answers{
			throttled: sim.Fault{Status: 400, Code: "Throttling.User", Message: "Request was denied due to user flow control."},
			denied:    sim.Fault{Operation: "CreateLoadBalancer", Status: 403, Code: "Forbidden.RAM", Message: "User not authorized to operate on the specified resource"},
			quota:     sim.Fault{Operation: "CreateLoadBalancer", Status: 400, Code: "QuotaLimitExceeds.LoadBalancer", Message: "The quota of load balancers is exceeded"},
			down:      sim.Fault{Status: 503, Code: "ServiceUnavailable", Message: "The request has failed due to a temporary failure of the server."},
		},
		cuts: []string{"CreateLoadBalancer", "CreateServerGroup"},
		mistakes: []mistake{
			mistakeOf("scheduler", "clb", alibabaPrefix+"scheduler", "fastest", "wrr"),
			mistakeOf("idle", "nlb", alibabaPrefix+"idle-timeout", "5", "10"),
			mistakeOf("protocol", "nlb", alibabaPrefix+"protocol-port", "https:80", "tcpssl"),
		},
	}
}

// alibabaSeen is what the cloud has of load balancers.
type alibabaSeen struct {
	Balancers []alibabaBalancer  `json:"load_balancers"`
	Networks  []alibabaBalancer  `json:"network_load_balancers"`
	Listeners []alibabaListener  `json:"listeners"`
	More      []alibabaListener  `json:"network_listeners"`
	Groups    []alibabaGroupSeen `json:"vserver_groups"`
	MoreToo   []alibabaGroupSeen `json:"server_groups"`
	Instances []struct {
		ID   string `json:"id"`
		Name string `json:"InstanceName"`
	} `json:"instances"`
}

// alibabaBalancer is a load balancer of either kind.
type alibabaBalancer struct {
	ID      string `json:"id"`
	Name    string `json:"LoadBalancerName"`
	Address string `json:"Address"`
	Host    string `json:"DNSName"`
}

// alibabaListener is a listener of either kind of load balancer.
type alibabaListener struct {
	Balancer string `json:"LoadBalancerId"`
	Protocol string `json:"ListenerProtocol"`
	Port     int    `json:"ListenerPort"`
	Group    string `json:"VServerGroupId"`
	Servers  string `json:"ServerGroupId"`
}

// alibabaGroupSeen is a server group of either kind of load balancer.
type alibabaGroupSeen struct {
	ID      string `json:"id"`
	Name    string `json:"VServerGroupName"`
	Network string `json:"ServerGroupName"`
	Servers []struct {
		ID string `json:"ServerId"`
	} `json:"servers"`
}

// checkedPort returns the port of the backends, which health checks ask for: the name of the group has it.
func (g alibabaGroupSeen) checkedPort() string {
	parts := strings.FieldsFunc(g.Name+g.Network, func(r rune) bool { return r == '/' || r == '.' })
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

// alibabaFronts lists load balancers, whose names follow from the UIDs of the Services.
func alibabaFronts(w *world) ([]front, error) {
	raw, err := w.Sim.State(w.t.Context())
	if err != nil {
		return nil, err
	}
	var seen alibabaSeen
	if err := json.Unmarshal(raw, &seen); err != nil {
		return nil, err
	}
	machines, groups := map[string]string{}, map[string]alibabaGroupSeen{}
	for _, i := range seen.Instances {
		machines[i.ID] = i.Name
	}
	for _, g := range append(seen.Groups, seen.MoreToo...) {
		groups[g.ID] = g
	}
	var out []front
	for _, lb := range append(seen.Balancers, seen.Networks...) {
		f := front{Of: lb.Name, Kind: "clb", Address: lb.Address}
		if lb.Host != "" {
			f.Kind, f.Address = "nlb", lb.Host
		}
		var checks []string
		for _, l := range append(seen.Listeners, seen.More...) {
			if l.Balancer != lb.ID {
				continue
			}
			group := groups[l.Group+l.Servers]
			f.Ports, checks = append(f.Ports, fmt.Sprintf("%s %d", strings.ToUpper(l.Protocol), l.Port)), append(checks, group.checkedPort())
			for _, s := range group.Servers {
				f.Members = append(f.Members, machines[s.ID])
			}
		}
		slices.Sort(f.Ports)
		slices.Sort(f.Members)
		slices.Sort(checks)
		f.Members, f.Check = slices.Compact(f.Members), strings.Join(checks, ",")
		out = append(out, f)
	}
	return out, nil
}
