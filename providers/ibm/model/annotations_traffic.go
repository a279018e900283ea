package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Keys of listeners and pools.
var (
	idleKey = &annotations.Key[int]{
		Name: prefix + "vpc-idle-connection-timeout", Group: groupTraffic, Example: "120",
		Doc: "Closes connections that are idle for this long, in seconds.",
		Forms: []annotations.Form[int]{
			{Kinds: onALB(), Type: annotations.IntRange(50, 7200), DefaultDoc: "50, and that of a live listener stays", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceManaged},
			{Kinds: onNetwork(), Type: annotations.Forbidden[int]("network load balancers do not end connections"), Source: sourceManaged},
		},
	}
	quotaKey = &annotations.Key[int]{
		Name: prefix + "vpc-member-quota", Names: annotations.NamesNothing(), Group: groupTraffic, Example: "8",
		Doc: "Limits the nodes per zone that are members, with externalTrafficPolicy Cluster.",
		Forms: []annotations.Form[int]{{
			Type: annotations.Custom("quota", "a whole number; disable and max for no limit", parseQuota), DefaultDoc: "no limit", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceManaged,
			Doc: "Existing members are kept first.", Needs: []annotations.Need{{annotations.FieldIs(annotations.FieldTrafficPolicy, "Cluster")}},
		}},
	}
	rangesKey = &annotations.Key[[]PortRange]{
		Name: prefix + "vpc-port-range", Names: annotations.NamesNothing(), Group: groupTraffic, Example: "30000-30010",
		Doc: "Ranges of ports that one listener each accepts; the first port of a range is a port of the Service.",
		Forms: []annotations.Form[[]PortRange]{
			{Kinds: onALB(), Type: annotations.Forbidden[[]PortRange]("application load balancers have no ranges of ports"), Source: sourceManaged},
			{
				Kinds: onNetwork(), Type: annotations.CustomPorts("list of ranges", "ranges such as 30000-30010 that begin with a port of the Service, separated by commas", parseRanges),
				DefaultDoc: "no ranges", Empty: annotations.EmptyAbsent, Change: annotations.Brief, Source: sourceManaged,
				Doc: "A member is reached at the port that the client used. Private network load balancers have no ranges; public and private path ones do.",
			},
		},
	}
)

func trafficKeys() []annotations.Declaration {
	return []annotations.Declaration{idleKey, quotaKey, rangesKey}
}

func parseQuota(raw string) (int, error) {
	if word := strings.ToLower(raw); word == "disable" || word == "max" {
		return 0, nil
	}
	n, err := annotations.IntAtLeast(0).Parse(raw)
	if err != nil {
		return 0, errors.New("is not a number of nodes")
	}
	return n, nil
}

// PortRange is the ports of one listener.
type PortRange struct{ First, Last int32 }

// overlaps reports whether two ranges have a port in common.
func (r PortRange) overlaps(o PortRange) bool { return r.First <= o.Last && o.First <= r.Last }

func parseRanges(raw string, ports []corev1.ServicePort) ([]PortRange, error) {
	var out []PortRange
	for item := range strings.SplitSeq(strings.ReplaceAll(raw, " ", ""), ",") {
		low, high, ok := strings.Cut(item, "-")
		first, err := strconv.ParseUint(low, 10, 16)
		last, failed := strconv.ParseUint(high, 10, 16)
		r := PortRange{int32(first), int32(last)}
		switch {
		case !ok || err != nil || failed != nil || first == 0 || last <= first:
			return nil, fmt.Errorf("has %q, which is not a range of ports", item)
		case slices.ContainsFunc(out, r.overlaps):
			return nil, fmt.Errorf("has %q, which overlaps another range", item)
		case !slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Port == r.First }):
			return nil, fmt.Errorf("has %q, whose first port is not a port of the Service", item)
		}
		for _, p := range ports {
			if p.Port > r.First && p.Port <= r.Last {
				return nil, fmt.Errorf("has %q, in which port %d of the Service is", item, p.Port)
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// rangeOf returns the ports of the listener of a port of the Service.
func rangeOf(in Input, port int32) PortRange {
	for _, r := range rangesKey.Get(in.Values) {
		if r.First == port {
			return r
		}
	}
	return PortRange{port, port}
}
