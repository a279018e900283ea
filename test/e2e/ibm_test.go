package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/sim"
)

var ibmPlane cluster.Shared

// TestIBM runs a part of the shared suite on IBM Cloud, whose official controller deletes load
// balancers that it does not know.
func TestIBM(t *testing.T) {
	t.Parallel()
	p := onIBM()
	t.Run("life", p.life)
	t.Run("cut", p.cut)
	t.Run("mistakes", p.mistaken)
	t.Run("monitor", p.besideMonitor)
}

const (
	ibmPrefix = "service.kubernetes.io/ibm-load-balancer-cloud-provider-"
	// ibmOwn begins the names of load balancers of the official controller.
	ibmOwn = "kube-berth-demo-"
)

func onIBM() *place {
	return &place{
		cloud: "ibm", plane: &ibmPlane, fronts: ibmFronts, key: func(svc *corev1.Service) string { return strings.ReplaceAll(string(svc.UID), "-", "") },
		unfiltered: true, local: "/",
		kinds: []kind{
			{name: "alb", ports: oneByOne, check: eachPort, parts: map[string]int{"load_balancers/": 1, "pools/": 1, "listeners/": 1}},
			{name: "nlb", asks: []change{setAnnotation(ibmPrefix+"enable-features", "nlb")}, ports: oneByOne, check: eachPort, parts: map[string]int{"load_balancers/": 1, "pools/": 1, "listeners/": 1}},
		},
		answers: answers{
			throttled: sim.Fault{Status: 429, Code: "too_many_requests", Message: "Too many requests"},
			denied:    sim.Fault{Operation: "create_load_balancer", Status: 403, Code: "not_authorized", Message: "The request is not authorized"},
			quota:     sim.Fault{Operation: "create_load_balancer", Status: 403, Code: "over_quota", Message: "The quota of load balancers is exceeded"},
			down:      sim.Fault{Status: 503, Code: "service_unavailable", Message: "The service is unavailable"},
		},
		cuts: []string{"create_load_balancer"},
		mistakes: []mistake{
			mistakeOf("kind", "alb", ibmPrefix+"enable-features", "proxyprotocol", "proxy-protocol"),
			mistakeOf("delay", "alb", ibmPrefix+"vpc-health-check-delay", "1", "60"),
			mistakeOf("idle", "nlb", ibmPrefix+"vpc-idle-connection-timeout", "60", "network load balancers"),
		},
	}
}

// ibmSeen is what the cloud has of load balancers.
type ibmSeen struct {
	Balancers []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Host      string `json:"hostname"`
		PublicIPs []struct {
			Address string `json:"address"`
		} `json:"public_ips"`
		Profile struct {
			Family string `json:"family"`
		} `json:"profile"`
	} `json:"load_balancers"`
	Listeners []struct {
		Balancer string `json:"~owner"`
		Protocol string `json:"protocol"`
		Port     int    `json:"port_min"`
	} `json:"listeners"`
	Pools []struct {
		ID       string `json:"id"`
		Balancer string `json:"~owner"`
		Health   struct {
			Type string `json:"type"`
			Port int    `json:"port"`
			Path string `json:"url_path"`
		} `json:"health_monitor"`
	} `json:"pools"`
	Members []struct {
		Pool   string `json:"~owner"`
		Target struct {
			ID      string `json:"id"`
			Address string `json:"address"`
		} `json:"target"`
	} `json:"members"`
	Instances []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Interface struct {
			IP struct {
				Address string `json:"address"`
			} `json:"primary_ip"`
		} `json:"primary_network_interface"`
	} `json:"instances"`
}

// ibmFronts lists the load balancers of both families.
func ibmFronts(w *world) ([]front, error) {
	raw, err := w.Sim.State(w.t.Context())
	if err != nil {
		return nil, err
	}
	var seen ibmSeen
	if err := json.Unmarshal(raw, &seen); err != nil {
		return nil, err
	}
	var out []front
	for _, lb := range seen.Balancers {
		f := front{Of: lb.Name[strings.LastIndex(lb.Name, "-")+1:], Kind: "alb", Address: lb.Host}
		if lb.Profile.Family == "network" && len(lb.PublicIPs) > 0 {
			f.Kind, f.Address = "nlb", lb.PublicIPs[0].Address
		}
		for _, l := range seen.Listeners {
			if l.Balancer == lb.ID {
				f.Ports = append(f.Ports, fmt.Sprintf("%s %d", strings.ToUpper(l.Protocol), l.Port))
			}
		}
		slices.Sort(f.Ports)
		f.Members, f.Check = seen.behind(lb.ID)
		out = append(out, f)
	}
	return out, nil
}

// behind returns the members of a load balancer's pools, and what its health checks request.
func (s ibmSeen) behind(balancer string) (members []string, check string) {
	var checks []string
	for _, p := range s.Pools {
		if p.Balancer != balancer {
			continue
		}
		path := p.Health.Path
		if p.Health.Type == "tcp" {
			path = ""
		}
		checks = append(checks, fmt.Sprintf("%d%s", p.Health.Port, path))
		for _, m := range s.Members {
			for _, i := range s.Instances {
				if m.Pool == p.ID && (m.Target.ID == i.ID || m.Target.Address == i.Interface.IP.Address) {
					members = append(members, i.Name)
				}
			}
		}
	}
	slices.Sort(checks)
	slices.Sort(members)
	return slices.Compact(members), strings.Join(slices.Compact(checks), ",")
}

// besideMonitor serves a Service of a class beside the official controller, which has a load
// balancer of its own, and whose clean-up deletes every other one with its prefix.
func (p *place) besideMonitor(t *testing.T) {
	w := p.start(t, 2)
	w.controller("--default-class=false", "--load-balancer-class="+mine)
	alb := p.kinds[0]
	ours, theirs := w.one(alb, 0, setClass(mine)), w.service("theirs", setPorts(80, nodePort(1, 0)))
	w.must(w.Create(t.Context(), ours, theirs))
	w.programmed(ours)
	host := w.addressed(alb.name, alb.name)
	own := ibmOwn + p.key(w.get("theirs"))
	w.officialCall(http.MethodPost, "/v1/load_balancers", fmt.Sprintf(`{"name": %q, "is_public": true, "subnets": [{"id": %q}]}`, own, w.firstSubnet()))
	if deleted := w.cleanUp(own); len(deleted) > 0 {
		t.Errorf("while both Services exist: deleted %v", deleted)
	}
	if deleted := w.cleanUp(); !slices.Equal(deleted, []string{own}) {
		t.Errorf("without its Service: deleted %v, want %s alone", deleted, own)
	}
	if f, err := w.front(alb.name); err != nil || !slices.Equal(f.Ports, alb.ports(80)) {
		t.Errorf("%+v, %v", f, err)
	}
	if now := w.addressed(alb.name, alb.name); now != host {
		t.Errorf("the address was %s and is %s", host, now)
	}
	w.remove(ours)
}

// cleanUp deletes each load balancer with the prefix of the official controller that has none of
// these names, as that controller does every five minutes.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_provider.go (GatherLoadBalancers).
func (w *world) cleanUp(known ...string) (deleted []string) {
	w.t.Helper()
	var list struct {
		Balancers []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"load_balancers"`
	}
	w.must(json.Unmarshal(w.officialCall(http.MethodGet, "/v1/load_balancers", ""), &list))
	for _, lb := range list.Balancers {
		if strings.HasPrefix(lb.Name, ibmOwn) && !slices.Contains(known, lb.Name) {
			w.officialCall(http.MethodDelete, "/v1/load_balancers/"+lb.ID, "")
			deleted = append(deleted, lb.Name)
		}
	}
	return deleted
}

// firstSubnet returns the id of a subnet of the account.
func (w *world) firstSubnet() string {
	w.t.Helper()
	var list struct {
		Subnets []struct {
			ID string `json:"id"`
		} `json:"subnets"`
	}
	w.must(json.Unmarshal(w.officialCall(http.MethodGet, "/v1/subnets", ""), &list))
	return list.Subnets[0].ID
}

// officialCall makes a call of the official controller, and returns the answer.
func (w *world) officialCall(method, path, body string) []byte {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.Sim.URL+path+"?version=2024-10-15&generation=2", strings.NewReader(body))
	w.must(err)
	answer, err := http.DefaultClient.Do(req)
	w.must(err)
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode >= http.StatusBadRequest {
		w.t.Fatalf("%s %s: %s %s %v", method, path, answer.Status, text, err)
	}
	return text
}
