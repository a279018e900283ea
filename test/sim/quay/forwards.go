package quay

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Forward is a port that a load balancer passes on, by the state of the cloud alone.
type Forward struct {
	Host     string // name of the load balancer, as clients resolve it
	Port     int
	Protocol string // TCP or UDP
	Private  bool   // only clients of the private network arrive
	Machines []string
	At       int // the port of the machines
}

// Forwards returns what reaches machines now, in order. A listener without an opening for
// its protocol, or without machines, passes nothing on.
func (h *Harbour) Forwards() []Forward {
	h.mu.Lock()
	defer h.mu.Unlock()
	open := map[string]bool{}
	for name := range h.now.openings {
		open[strings.ToUpper(name[strings.LastIndex(name, "-")+1:])] = true
	}
	var out []Forward
	for _, b := range h.now.balancers {
		for _, text := range b.Listeners {
			var l struct {
				Protocol       string
				Port, NodePort int
			}
			if json.Unmarshal(text, &l) != nil || !open[l.Protocol] || len(b.Machines) == 0 {
				continue
			}
			out = append(out, Forward{b.ID + ".quay.example", l.Port, l.Protocol, b.Internal, slices.Sorted(slices.Values(b.Machines)), l.NodePort})
		}
	}
	slices.SortFunc(out, func(a, b Forward) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port))
	})
	return out
}
