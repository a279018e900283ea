package elbv2

import (
	"slices"
	"strconv"
)

type healthView struct {
	Target          target
	HealthCheckPort string `xml:",omitempty"`
	TargetHealth    verdict
}

type verdict struct {
	State       string
	Reason      string `xml:",omitempty"`
	Description string `xml:",omitempty"`
}

type describeTargetHealthInput struct {
	Targets []target
	Include []string `enum:"AnomalyDetection|All"`
	ofGroup
}

func describeTargetHealth(c *call, tg *targetGroup, in describeTargetHealthInput) (any, error) {
	var out struct{ TargetHealthDescriptions []healthView }
	add := func(t target, v verdict) {
		view := healthView{t, tg.HealthPort, v}
		if view.HealthCheckPort == trafficPort {
			view.HealthCheckPort = strconv.Itoa(t.Port)
		}
		out.TargetHealthDescriptions = append(out.TargetHealthDescriptions, view)
	}
	if len(in.Targets) == 0 {
		for _, t := range tg.Targets {
			if !c.terminated(tg, t) {
				add(t, c.verdict(tg, t))
			}
		}
		return out, nil
	}
	for _, a := range in.Targets {
		if a.Port == 0 {
			a.Port = tg.Port
		}
		i := slices.IndexFunc(tg.Targets, func(t target) bool { return t.ID == a.ID && t.Port == a.Port })
		if i < 0 {
			add(a, verdict{"unused", "Target.NotRegistered", "Target is not registered to the target group"})
			continue
		}
		add(tg.Targets[i], c.verdict(tg, tg.Targets[i]))
	}
	return out, nil
}

// verdict tells the state of a registered target. Source of states, reasons and
// their order: API reference, TargetHealth. A group is in use, and its targets are checked, as
// soon as a listener names it, with whatever weight. Source: Network Load Balancers guide,
// "Health checks for your target groups", and "Distribute traffic to multiple target groups".
func (c *call) verdict(tg *targetGroup, t target) verdict {
	if !t.Draining.IsZero() || c.terminated(tg, t) {
		return verdict{"draining", "Target.DeregistrationInProgress", "Target deregistration is in progress"}
	}
	users := c.State.loadBalancersOf(tg.ARN)
	if len(users) == 0 {
		return verdict{"unused", "Target.NotInUse", "Target group is not configured to receive traffic from the load balancer"}
	}
	if tg.TargetType == targetInstance {
		if in, _ := c.Dir.Instance(t.ID); in.State != "running" {
			return verdict{"unused", "Target.InvalidState", "Target is in the " + in.State + " state"}
		}
	}
	if zone := c.zoneOf(tg, t); zone != "" && zone != "all" && !c.serves(users, zone) {
		return verdict{"unused", "Target.NotInUse", "Target is in an Availability Zone that is not enabled for the load balancer"}
	}
	if c.now.Before(healthCheckStart(tg, t).Add(c.opt.Delays.Healthy)) {
		return verdict{"initial", "Elb.RegistrationInProgress", "Target registration is in progress"}
	}
	return verdict{State: "healthy"}
}

// terminated reports whether the machine of a target has been terminated: AWS deregisters
// such targets by itself. They are left out of a listing, and shown as draining to callers
// that name them.
// Source: Network Load Balancers guide, "register targets"; getmoto/moto:tests/test_elbv2/test_elbv2_target_health.py.
func (c *call) terminated(tg *targetGroup, t target) bool {
	if tg.TargetType != targetInstance {
		return false
	}
	in, ok := c.Dir.Instance(t.ID)
	return !ok || in.State == "terminated"
}

// serves reports whether one of the load balancers has the zone enabled.
func (c *call) serves(arns []string, name string) bool {
	return slices.ContainsFunc(arns, func(arn string) bool {
		lb := c.State.LoadBalancers[arn]
		return lb != nil && slices.ContainsFunc(lb.Zones, func(z zone) bool { return z.Zone == name })
	})
}
