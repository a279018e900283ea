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
	typeNetwork = "network"

	internal       = "internal"
	internetFacing = "internet-facing"

	ipv4      = "ipv4"
	dualstack = "dualstack"
)

// loadBalancer is the complete record of one; it is a data record, hence its size.
type loadBalancer struct {
	Seq         int
	ARN         string
	Name        string
	ID          string // the 16 digits of the ARN
	Type        string
	Scheme      string
	VPC         string
	DNSName     string
	Created     time.Time
	IPType      string
	Zones       []zone
	Groups      []string
	PrivateLink string // whether groups apply to PrivateLink traffic: on or off
	SourceNAT   string // EnablePrefixForIpv6SourceNat: on or off
	Attributes  map[string]string
	Tags        []lbkit.Tag
	Capacity    int
	CapacitySet time.Time
}

// zone is one subnet of a load balancer with what was asked for it.
type zone struct {
	Subnet, Zone               string
	AllocationID, PublicIP     string
	PrivateIP, IPv6, NATPrefix string
}

// targetGroup is a data record as well.
type targetGroup struct {
	Seq        int
	ARN        string
	Name       string
	ID         string
	Protocol   string
	Port       int
	VPC        string
	TargetType string
	IPType     string
	Health     healthCheck
	Attributes map[string]string
	Tags       []lbkit.Tag
	Targets    []target
	UsedSince  time.Time // zero while no listener uses the group
	UsedUntil  time.Time // when the last listener left the group; zero: none ever did
}

type healthCheck struct {
	Enabled   bool
	Protocol  string
	Port      string
	Path      string
	HTTPCode  string
	Interval  int
	Timeout   int
	Healthy   int
	Unhealthy int
}

type target struct {
	ID       string
	Port     int
	Zone     string
	Server   string `json:",omitempty"` // the id for QUIC
	At       time.Time
	Draining time.Time // zero while registered; else when draining ends
}

type listener struct {
	Seq          int
	ARN          string
	ID           string
	LoadBalancer string
	Port         int
	Protocol     string
	SSLPolicy    string
	Certificate  string
	Extra        []string // certificate list
	ALPN         []string
	Attributes   map[string]string
	Tags         []lbkit.Tag
	Rule         string // the digits of the default rule
	RuleTags     []lbkit.Tag
	Actions      []action
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
