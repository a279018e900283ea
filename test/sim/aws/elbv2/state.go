package elbv2

import (
	"slices"
	"time"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
)

// state is everything; all maps go by ARN.
type state struct {
	Seq           int
	LoadBalancers map[string]*loadBalancer
	TargetGroups  map[string]*targetGroup
	Listeners     map[string]*listener

	// users caches loadBalancersOf; any change of listeners drops it.
	users map[string][]string
}

func newState() *state {
	return &state{
		LoadBalancers: map[string]*loadBalancer{},
		TargetGroups:  map[string]*targetGroup{},
		Listeners:     map[string]*listener{},
	}
}

const (
	internal       = "internal"
	internetFacing = "internet-facing"

	ipv4      = "ipv4"
	dualstack = "dualstack"
)

// loadBalancer is the complete record of one.
type loadBalancer struct {
	balancerView
	Seq         int
	ID          string // the 16 digits of the ARN
	Created     time.Time
	Zones       []zone
	Attributes  map[string]string
	Tags        []lbkit.Tag
	Capacity    int
	CapacitySet time.Time
}

// zone is one subnet of a load balancer with what was asked for it.
type zone struct {
	Subnet       string `xml:"SubnetId"`
	AllocationID string `xml:"AllocationId"`
	PrivateIP    string `xml:"PrivateIPv4Address"`
	IPv6         string `xml:"IPv6Address"`
	NATPrefix    string `xml:"SourceNatIpv6Prefix"`
	Zone         string `xml:"-"`
	PublicIP     string `xml:"-"`
}

type targetGroup struct {
	groupView
	Seq        int
	ID         string
	Attributes map[string]string
	Tags       []lbkit.Tag
	Targets    []target
	UsedSince  time.Time // zero while no listener uses the group
	UsedUntil  time.Time // when the last listener left the group; zero: none ever did
}

// target is what is taken, kept and answered.
type target struct {
	ID       string    `xml:"Id" required:"true"`
	Port     int       `xml:",omitempty" range:"1..65535"`
	Zone     string    `xml:"AvailabilityZone,omitempty"`
	Server   string    `xml:"QuicServerId,omitempty" json:",omitempty"` // the id for QUIC
	At       time.Time `xml:"-"`
	Draining time.Time `xml:"-"` // zero while registered; else when draining ends
}

type listener struct {
	listenerView
	Seq        int
	ID         string
	Extra      []string // certificate list
	Attributes map[string]string
	Tags       []lbkit.Tag
	Rule       string // the digits of the default rule
	RuleTags   []lbkit.Tag
}

// sweep forgets targets whose draining has ended.
func (s *state) sweep(now time.Time) {
	for _, tg := range s.TargetGroups {
		tg.Targets = slices.DeleteFunc(tg.Targets, func(t target) bool { return !t.Draining.IsZero() && !now.Before(t.Draining) })
	}
}

func (s *state) byName(name string) *loadBalancer {
	for _, lb := range s.LoadBalancers {
		if lb.Name == name {
			return lb
		}
	}
	return nil
}

func (s *state) groupByName(name string) *targetGroup {
	for _, tg := range s.TargetGroups {
		if tg.Name == name {
			return tg
		}
	}
	return nil
}

// listenersOf gives the listeners of a load balancer, oldest first.
func (s *state) listenersOf(arn string) []*listener {
	var out []*listener
	for _, l := range s.Listeners {
		if l.LoadBalancer == arn {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b *listener) int { return a.Seq - b.Seq })
	return out
}

// loadBalancersOf gives the ARNs of the load balancers whose listeners forward to a
// target group, sorted.
func (s *state) loadBalancersOf(group string) []string {
	if s.users == nil {
		s.users = map[string][]string{}
		for _, l := range s.Listeners {
			for _, g := range groupsOf(l.Actions) {
				if !slices.Contains(s.users[g], l.LoadBalancer) {
					s.users[g] = append(s.users[g], l.LoadBalancer)
				}
			}
		}
		for _, arns := range s.users {
			slices.Sort(arns)
		}
	}
	return s.users[group]
}

// markUse notes since when groups are in use, after any change of listeners.
func (s *state) markUse(now time.Time) {
	s.users = nil
	for arn, tg := range s.TargetGroups {
		switch {
		case len(s.loadBalancersOf(arn)) == 0:
			if !tg.UsedSince.IsZero() {
				tg.UsedUntil = now
			}
			tg.UsedSince = time.Time{}
		case tg.UsedSince.IsZero():
			tg.UsedSince = now
		}
	}
}
