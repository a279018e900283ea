package reconcile

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/preview"
	"github.com/berth-lb/berth/stack/traffic"
)

// Traffic returns what the plan of a draft does to the ports of its Service. It returns nil if
// the cloud has no function for that, or if not everything could be read.
func (r *Reconciler) Traffic(d *Draft) []preview.Port {
	if r.cloud.Flows == nil || d.Have == nil || d.Want == nil || d.Clean || len(d.Blind) > 0 {
		return nil
	}
	return preview.Ports(d.Have, d.Want, d.Plan, r.cloud.Flows)
}

// knowsTraffic reports whether the flows of found resources say what is open: the resources
// were read with their parts, and no other person has been asked to complete them.
func (r *Reconciler) knowsTraffic(d *Draft, have *stack.Stack) bool {
	return r.cloud.Flows != nil && have != nil && d.Want != nil && d.origin != Checked && len(d.Blind) == 0 && len(d.manual) == 0
}

// fillTraffic lists the ports that are desired and serve no one, and keeps an address out of
// the status for as long as nothing answers at it. An address that the Service has already
// stays.
func (r *Reconciler) fillTraffic(d *Draft, have *stack.Stack, res *Result) {
	if res.Clean || !r.knowsTraffic(d, have) {
		return
	}
	desired := listeningFlows(traffic.Of(d.Owner, r.cloud.Flows([]*stack.Stack{d.Want})))
	now := traffic.Of(d.Owner, r.cloud.Flows([]*stack.Stack{have}))
	res.Closed = closedPorts(desired, now)
	known := d.Job.Service.Status.LoadBalancer.Ingress
	isKnown := func(in corev1.LoadBalancerIngress) bool {
		return slices.ContainsFunc(known, func(k corev1.LoadBalancerIngress) bool { return k.IP == in.IP && k.Hostname == in.Hostname })
	}
	if len(desired) == 0 || slices.ContainsFunc(res.Status.Ingress, isKnown) {
		return
	}
	missing := res.missing()
	complete := func(f traffic.Flow) bool {
		return !slices.ContainsFunc(f.Through, func(k stack.Key) bool { return missing[k] }) && slices.ContainsFunc(now, func(g traffic.Flow) bool {
			return reachesPort(f, g) && g.Through[0] == f.Through[0] && len(traffic.Intersect(f.From, g.From)) > 0
		})
	}
	if slices.ContainsFunc(desired, complete) {
		return
	}
	res.Status.Ingress, res.Addresses = known, KeptAddresses
	if len(known) == 0 {
		res.Closed = closedPorts(desired, nil)
	}
}

// missing returns the keys of desired resources that could not be created.
func (r Result) missing() map[stack.Key]bool {
	out := map[stack.Key]bool{}
	add := func(s plan.Step) {
		if s.ID.Action != plan.Create {
			return
		}
		for _, res := range append(slices.Clone(s.With), s.Target) {
			out[res.Key] = true
		}
	}
	for _, step := range r.Report.Results {
		if step.State != engine.Done {
			add(step.Step)
		}
	}
	for _, b := range r.Draft.Plan.Blocked {
		add(b.Step)
	}
	return out
}

// listeningFlows leaves out openings behind which nothing listens.
func listeningFlows(flows []traffic.Flow) []traffic.Flow {
	return slices.DeleteFunc(flows, func(f traffic.Flow) bool { return len(f.Through) < 2 })
}

// reachesPort reports whether an existing flow is of the port of a desired one, and reaches backends
// where that does.
func reachesPort(desired, now traffic.Flow) bool {
	return now.Port == desired.Port && now.Protocol == desired.Protocol && now.Family == desired.Family &&
		len(now.Through) > 1 && (len(now.To) > 0 || len(desired.To) == 0)
}

// closedPorts returns the names of desired ports that do not serve their clients, at whichever
// address, such as "443/TCP" or "443/TCP from 10.0.0.0/8". Ports without desired backends are
// left out.
func closedPorts(desired, now []traffic.Flow) []string {
	var out []string
	for _, f := range desired {
		if !f.Serves() {
			continue
		}
		var open []netip.Prefix
		for _, g := range now {
			if reachesPort(f, g) {
				open = append(open, g.From...)
			}
		}
		missing := traffic.Subtract(f.From, open)
		if len(missing) == 0 {
			continue
		}
		name := f.PortName()
		if !slices.Equal(missing, traffic.Union(f.From)) {
			name += " from " + traffic.RangesText(missing)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
