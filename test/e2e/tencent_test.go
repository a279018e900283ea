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

var tencentPlane cluster.Shared

// TestTencent runs a part of the shared suite on Tencent Cloud, where every refusal has the status 200.
func TestTencent(t *testing.T) {
	t.Parallel()
	p := onTencent()
	t.Run("life", p.life)
	t.Run("cut", p.cut)
	t.Run("refused", p.refused)
	t.Run("mistakes", p.mistaken)
}

const tencentPrefix = "service.kubernetes.io/"

func onTencent() *place {
	parts := map[string]int{"load_balancers/": 1, "listeners/": 1}
	return &place{
		cloud: "tencent", plane: &tencentPlane, fronts: tencentFronts, key: func(svc *corev1.Service) string { return string(svc.UID) }, unfiltered: true, sameCheck: true,
		kinds: []kind{
			{name: "public", ports: oneByOne, check: eachPort, parts: parts},
			{name: "internal", asks: []change{setAnnotation(tencentPrefix+"qcloud-loadbalancer-internal-subnetid", "subnet-k57djpow")}, ports: oneByOne, check: eachPort, parts: parts},
		},
		answers: answers{
			throttled: sim.Fault{Status: 429, Code: "RequestLimitExceeded", Message: "Too many requests"},
			denied:    sim.Fault{Operation: "CreateLoadBalancer", Status: 403, Code: "UnauthorizedOperation", Message: "You are not authorized to perform operation (clb:CreateLoadBalancer)"},
			quota:     sim.Fault{Operation: "CreateLoadBalancer", Status: 400, Code: "LimitExceeded", Message: "The quota of load balancers is exceeded"},
			down:      sim.Fault{Status: 503, Code: "InternalError", Message: "An internal error has occurred"},
		},
		cuts: []string{"CreateLoadBalancer", "CreateListener"},
		mistakes: []mistake{
			mistakeOf("kind", "public", tencentPrefix+"loadbalance-type", "yunapi_clb", "classic"),
			mistakeOf("settings", "public", tencentPrefix+"service.listenerParameters", `{"HealthCheck":{"HealthNum":11}}`, "2 to 10"),
			mistakeOf("extensive", "internal", tencentPrefix+"service.extensiveParameters", `{"VIP":"1.1.1.1"}`, "VIP"),
		},
	}
}

// tencentSeen is what the cloud has of load balancers.
type tencentSeen struct {
	Balancers []struct {
		ID        string   `json:"id"`
		Type      string   `json:"LoadBalancerType"`
		Addresses []string `json:"LoadBalancerVips"`
		Tags      []struct {
			Key   string `json:"TagKey"`
			Value string `json:"TagValue"`
		} `json:"Tags"`
	} `json:"load_balancers"`
	Listeners []struct {
		Balancer string `json:"LoadBalancerId"`
		Protocol string `json:"Protocol"`
		Port     int    `json:"Port"`
		Targets  []struct {
			Instance string `json:"InstanceId"`
			Port     int    `json:"Port"`
		} `json:"Targets"`
	} `json:"listeners"`
	Instances []struct {
		ID   string `json:"id"`
		Name string `json:"InstanceName"`
	} `json:"instances"`
}

// tencentFronts lists the load balancers that carry the UID of a Service. Health checks go to the ports
// of the targets.
func tencentFronts(w *world) ([]front, error) {
	raw, err := w.Sim.State(w.t.Context())
	if err != nil {
		return nil, err
	}
	var seen tencentSeen
	if err := json.Unmarshal(raw, &seen); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, i := range seen.Instances {
		names[i.ID] = i.Name
	}
	var out []front
	for _, lb := range seen.Balancers {
		f := front{Kind: map[string]string{"OPEN": "public", "INTERNAL": "internal"}[lb.Type], Address: strings.Join(lb.Addresses, ",")}
		for _, tag := range lb.Tags {
			if tag.Key == "tke-lb-serviceuuid" {
				f.Of = tag.Value
			}
		}
		var checks []string
		for _, l := range seen.Listeners {
			if l.Balancer != lb.ID {
				continue
			}
			f.Ports = append(f.Ports, fmt.Sprintf("%s %d", l.Protocol, l.Port))
			for _, t := range l.Targets {
				f.Members, checks = append(f.Members, names[t.Instance]), append(checks, fmt.Sprint(t.Port))
			}
		}
		slices.Sort(f.Ports)
		slices.Sort(f.Members)
		slices.Sort(checks)
		f.Members, f.Check = slices.Compact(f.Members), strings.Join(slices.Compact(checks), ",")
		out = append(out, f)
	}
	return out, nil
}
