package elbv2

import (
	"net/netip"
	"regexp"
	"slices"
	"time"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// targetList is the members of a call on targets. Ports that are not given stay 0.
type targetList struct {
	Targets []target `required:"true"`
	ofGroup
}

func registerTargets(c *call, tg *targetGroup, in targetList) (any, error) {
	if len(in.Targets) == 0 {
		return nil, query.Errorf("ValidationError", "At least one target must be specified")
	}
	all := slices.Clone(tg.Targets)
	for _, t := range in.Targets {
		t.At = c.now
		if err := c.checkTarget(tg, &t); err != nil {
			return nil, err
		}
		if err := checkServer(tg, all, t); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(o target) bool { return o.ID == t.ID && o.Port == t.Port })
		switch {
		case i < 0:
			all = append(all, t)
		case !all[i].Draining.IsZero():
			all[i] = t
		}
	}
	if n := countActive(all); n > c.opt.Limits.TargetsPerGroup {
		return nil, query.Errorf("TooManyTargets", "The maximum number of targets in target group '%s' has been reached", tg.ARN)
	}
	old := tg.Targets
	tg.Targets = all
	if err := c.checkLoad(tg.ARN); err != nil {
		tg.Targets = old
		return nil, err
	}
	return nil, nil
}

var serverID = regexp.MustCompile(`^0x[0-9a-f]{16}$`)

// checkServer checks the QUIC id of a new target against the existing ones. The texts of the
// errors are not documented.
// Source: API reference, TargetDescription, QuicServerId.
func checkServer(tg *targetGroup, all []target, t target) error {
	switch {
	case !usesQUIC(tg.Protocol) && t.Server != "":
		return query.Errorf("ValidationError", "A QUIC server ID cannot be specified for target groups with the %s protocol", tg.Protocol)
	case !usesQUIC(tg.Protocol):
		return nil
	case t.Server == "":
		return query.Errorf("ValidationError", "A QUIC server ID must be specified for target groups with the %s protocol", tg.Protocol)
	case !serverID.MatchString(t.Server):
		return query.Errorf("ValidationError", "The QUIC server ID '%s' is not valid", t.Server)
	}
	for _, o := range all {
		same := o.ID == t.ID && o.Port == t.Port
		if o.Draining.IsZero() && same != (o.Server == t.Server) {
			return query.Errorf("ValidationError", "The QUIC server ID of a registered target cannot be changed, and must be unique: '%s'", t.Server)
		}
	}
	return nil
}

func countActive(ts []target) int {
	n := 0
	for _, t := range ts {
		if t.Draining.IsZero() {
			n++
		}
	}
	return n
}

// checkTarget checks one new target and fills what follows from it.
func (c *call) checkTarget(tg *targetGroup, t *target) error {
	if t.Port == 0 {
		t.Port = tg.Port
	}
	if tg.TargetType == targetIP {
		return c.checkIP(tg, t)
	}
	return c.checkInstance(tg, t)
}

var instanceID = regexp.MustCompile(`^i-[0-9a-f]+$`)

func (c *call) checkInstance(tg *targetGroup, t *target) error {
	if !instanceID.MatchString(t.ID) {
		return query.Errorf("ValidationError", "Instance ID '%s' is not valid", t.ID)
	}
	if t.Zone != "" {
		return query.Errorf("ValidationError", "An Availability Zone cannot be specified for targets of type 'instance'")
	}
	in, ok := c.Dir.Instance(t.ID)
	switch {
	case !ok:
		return query.Errorf("InvalidTarget", "The following targets do not exist and cannot be registered: '%s'", t.ID)
	case in.VPC != tg.VPC:
		return query.Errorf("InvalidTarget", "The following targets are not in the target group VPC '%s': '%s'", tg.VPC, t.ID)
	case in.State != "running":
		return query.Errorf("InvalidTarget", "The following targets are not in a running state and cannot be registered: '%s'", t.ID)
	}
	return nil
}

// privateRanges are the addresses outside the VPC that targets may have.
// Source: API reference, CreateTargetGroup, TargetType.
func privateRanges() []string {
	return []string{"10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"}
}

func (c *call) checkIP(tg *targetGroup, t *target) error {
	addr, err := netip.ParseAddr(t.ID)
	family := selectText(tg.IPType == "ipv6", "IPv6", "IPv4")
	if err != nil || addr.Is4() == (family == "IPv6") || addr.Zone() != "" {
		return query.Errorf("ValidationError", "The IP address '%s' is not a valid %s address", t.ID, family)
	}
	vpc, _ := c.Dir.VPC(tg.VPC)
	if cidrContains(t.ID, vpc.CIDR) || cidrContains(t.ID, vpc.IPv6CIDR) {
		return nil
	}
	private := addr.Is4() && slices.ContainsFunc(privateRanges(), func(p string) bool { return cidrContains(t.ID, p) })
	if !private {
		return query.Errorf("InvalidTarget", "The IP address '%s' is not within the VPC '%s' or the permitted private ranges", t.ID, tg.VPC)
	}
	if t.Zone == "" {
		return query.Errorf("ValidationError", "An Availability Zone must be specified for the IP address '%s', which is outside the VPC '%s'", t.ID, tg.VPC)
	}
	return nil
}

// checkLoad checks the target quotas of the network load balancers that use a group.
func (c *call) checkLoad(group string) error {
	for _, arn := range c.State.loadBalancersOf(group) {
		lb := c.State.LoadBalancers[arn]
		if lb == nil {
			continue
		}
		zones, total := map[string]int{}, 0
		for _, tg := range c.State.TargetGroups {
			if !slices.Contains(c.State.loadBalancersOf(tg.ARN), arn) {
				continue
			}
			for _, t := range tg.Targets {
				if t.Draining.IsZero() {
					zones[c.zoneOf(tg, t)]++
					total++
				}
			}
		}
		limit := c.opt.Limits.TargetsPerLoadBalancer
		if lb.Attributes[crossZoneKey] == "true" {
			limit = min(limit, c.opt.Limits.TargetsCrossZone)
		}
		if total > limit {
			return query.Errorf("TooManyTargets", "The maximum number of targets of load balancer '%s' has been reached", arn)
		}
		for zone, n := range zones {
			if n > c.opt.Limits.TargetsPerZone {
				return query.Errorf("TooManyTargets", "The maximum number of targets of load balancer '%s' in Availability Zone '%s' has been reached", arn, zone)
			}
		}
	}
	return nil
}

func deregisterTargets(c *call, tg *targetGroup, in targetList) (any, error) {
	until := c.now.Add(c.opt.Delays.Draining)
	var kept []target
	for _, t := range tg.Targets {
		named := slices.ContainsFunc(in.Targets, func(g target) bool { return g.ID == t.ID && (g.Port == 0 || g.Port == t.Port) })
		if named && t.Draining.IsZero() {
			// Targets of a group that no load balancer uses have nothing to drain.
			if c.opt.Delays.Draining <= 0 || len(c.State.loadBalancersOf(tg.ARN)) == 0 {
				continue
			}
			t.Draining = until
		}
		kept = append(kept, t)
	}
	tg.Targets = kept
	return nil, nil
}

// zoneOf gives the zone of a target: its instance's, the one it was registered
// with, or that of the subnet which holds its address.
func (c *call) zoneOf(tg *targetGroup, t target) string {
	if tg.TargetType == targetInstance {
		in, _ := c.Dir.Instance(t.ID)
		return in.Zone
	}
	return t.Zone
}

// healthCheckStart returns the time from which health checks of a target run.
func healthCheckStart(tg *targetGroup, t target) time.Time {
	if tg.UsedSince.After(t.At) {
		return tg.UsedSince
	}
	return t.At
}
