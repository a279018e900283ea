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

var baiduPlane cluster.Shared

// TestBaidu runs a part of the shared suite on Baidu AI Cloud, where a load balancer is built of ten calls.
func TestBaidu(t *testing.T) {
	t.Parallel()
	p := onBaidu()
	t.Run("life", p.life)
	t.Run("cut", p.cut)
	t.Run("refused", p.refused)
	t.Run("mistakes", p.mistaken)
}

const baiduPrefix = "service.beta.kubernetes.io/cce-"

func onBaidu() *place {
	parts := map[string]int{"load_balancers/": 1, "listeners/": 1, "policies/": 1, "server_groups/": 1, "group_ports/": 1}
	public := map[string]int{"eips/": 1}
	for part, n := range parts {
		public[part] = n
	}
	return &place{
		cloud: "baidu", plane: &baiduPlane, fronts: baiduFronts, key: func(svc *corev1.Service) string { return string(svc.UID) }, unfiltered: true, sameCheck: true,
		kinds: []kind{
			{name: "public", ports: oneByOne, check: eachPort, parts: public},
			{name: "internal", asks: []change{setAnnotation(baiduPrefix+"load-balancer-internal-vpc", "true")}, ports: oneByOne, check: eachPort, parts: parts},
		},
		answers: answers{
			throttled: sim.Fault{Status: 429, Code: "RequestLimitExceeded", Message: "Too many requests"},
			denied:    sim.Fault{Operation: "CreateAppLoadBalancer", Status: 403, Code: "AccessDenied", Message: "Access denied"},
			quota:     sim.Fault{Operation: "CreateAppLoadBalancer", Status: 413, Code: "ExceedLimit", Message: "The quota of load balancers is exceeded"},
			down:      sim.Fault{Status: 503, Code: "InternalError", Message: "We encountered an internal error. Please try again."},
		},
		cuts: []string{"CreateEip", "CreateAppLoadBalancer", "CreateAppServerGroup", "CreateAppTCPListener", "CreatePolicys"},
		mistakes: []mistake{
			mistakeOf("kind", "public", baiduPrefix+"blb-type", "nlb", "appblb"),
			mistakeOf("threshold", "public", baiduPrefix+"load-balancer-unhealthy-threshold", "20", "2 to 5"),
			mistakeOf("scheduler", "internal", baiduPrefix+"load-balancer-scheduler", "Random", "RoundRobin"),
		},
	}
}

// baiduSeen is what the cloud has of load balancers.
type baiduSeen struct {
	Balancers []struct {
		ID      string `json:"id"`
		Address string `json:"address"`
		Public  string `json:"publicIp"`
		Tags    []struct {
			Key   string `json:"tagKey"`
			Value string `json:"tagValue"`
		} `json:"tags"`
	} `json:"load_balancers"`
	Listeners []struct {
		ID       string `json:"id"`
		Balancer string `json:"~owner"`
		Protocol string `json:"listenerType"`
		Port     int    `json:"listenerPort"`
	} `json:"listeners"`
	Policies []struct {
		Listener string `json:"~in"`
		Group    string `json:"appServerGroupId"`
		Port     int    `json:"backendPort"`
	} `json:"policies"`
	Groups []struct {
		ID      string `json:"id"`
		Members []struct {
			Instance string `json:"instanceId"`
		} `json:"members"`
	} `json:"server_groups"`
	Instances []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"instances"`
}

// baiduFronts lists the load balancers that carry the UID of a Service. Health checks go to the ports of the
// groups that policies name.
func baiduFronts(w *world) ([]front, error) {
	raw, err := w.Sim.State(w.t.Context())
	if err != nil {
		return nil, err
	}
	var seen baiduSeen
	if err := json.Unmarshal(raw, &seen); err != nil {
		return nil, err
	}
	var out []front
	for _, lb := range seen.Balancers {
		f := front{Kind: "internal", Address: cmp.Or(lb.Public, lb.Address)}
		if lb.Public != "" {
			f.Kind = "public"
		}
		for _, tag := range lb.Tags {
			if tag.Key == "cce-created" {
				f.Of = tag.Value[strings.LastIndex(tag.Value, "/")+1:]
			}
		}
		var checks []string
		for _, l := range seen.Listeners {
			if l.Balancer == lb.ID {
				f.Ports = append(f.Ports, fmt.Sprintf("%s %d", l.Protocol, l.Port))
				members, ports := seen.behind(l.ID)
				f.Members, checks = append(f.Members, members...), append(checks, ports...)
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

// behind returns the machines that a listener sends to, and their ports.
func (s baiduSeen) behind(listener string) (members, ports []string) {
	names := map[string]string{}
	for _, i := range s.Instances {
		names[i.ID] = i.Name
	}
	for _, p := range s.Policies {
		for _, g := range s.Groups {
			if p.Listener != listener || p.Group != g.ID {
				continue
			}
			for _, m := range g.Members {
				members, ports = append(members, names[m.Instance]), append(ports, fmt.Sprint(p.Port))
			}
		}
	}
	return members, ports
}
