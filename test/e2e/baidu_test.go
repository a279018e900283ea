package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cluster"
)

var baiduPlane cluster.Shared

// TestBaidu runs a part of the shared suite on Baidu AI Cloud, where a load balancer takes ten
// calls, and counts as deleted only ten seconds after the deletion.
func TestBaidu(t *testing.T) {
	t.Parallel()
	p := onBaidu()
	t.Run("life", p.life)
	t.Run("cut", p.cut)
	t.Run("mistakes", p.mistaken)
}

const baiduPrefix = "service.beta.kubernetes.io/cce-"

func onBaidu() *place {
	parts := map[string]int{"load_balancers/": 1, "listeners/": 1, "policies/": 1, "server_groups/": 1, "group_ports/": 1}
	public := maps.Clone(parts)
	public["eips/"] = 1
	internal := []change{setAnnotation(baiduPrefix+"load-balancer-internal-vpc", "true")}
	return &place{
		cloud: "baidu", plane: &baiduPlane, fronts: baiduFronts, key: func(svc *corev1.Service) string { return string(svc.UID) }, unfiltered: true, sameCheck: true,
		kinds: []kind{
			{name: "public", ports: oneByOne, check: eachPort, parts: public},
			{name: "internal", asks: internal, ports: oneByOne, check: eachPort, parts: parts},
		},
		cuts: []string{"CreateEip", "CreateAppLoadBalancer"},
		mistakes: []mistake{
			mistakeOf("payment", "public", baiduPrefix+"elastic-ip-payment-timing", "Later", "Postpaid"),
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
		Balancer string `json:"~owner"`
		Protocol string `json:"listenerType"`
		Port     int    `json:"listenerPort"`
	} `json:"listeners"`
	Policies []struct {
		Balancer string `json:"~owner"`
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

// baiduFronts lists the load balancers that carry the UID of a Service.
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
		for _, l := range seen.Listeners {
			if l.Balancer == lb.ID {
				f.Ports = append(f.Ports, fmt.Sprintf("%s %d", l.Protocol, l.Port))
			}
		}
		slices.Sort(f.Ports)
		f.Members, f.Check = seen.behind(lb.ID)
		out = append(out, f)
	}
	return out, nil
}

// behind returns the machines that the policies of a load balancer name, and the ports that health
// checks ask for: those of the groups, which have them without machines as well.
func (s baiduSeen) behind(balancer string) (members []string, check string) {
	names := map[string]string{}
	for _, i := range s.Instances {
		names[i.ID] = i.Name
	}
	var checks []string
	for _, p := range s.Policies {
		if p.Balancer != balancer {
			continue
		}
		checks = append(checks, fmt.Sprint(p.Port))
		for _, g := range s.Groups {
			for _, m := range g.Members {
				if g.ID == p.Group {
					members = append(members, names[m.Instance])
				}
			}
		}
	}
	slices.Sort(checks)
	slices.Sort(members)
	return slices.Compact(members), strings.Join(slices.Compact(checks), ",")
}
