package metrics

import (
	"slices"

	"github.com/berth-lb/berth/status"
)

// Results of a reconcile.
const (
	ResultUnchanged = "unchanged" // by the cached state nothing was to do, and no call was made
	ResultDone      = "done"      // the cloud has what the Service asks for
	ResultReleased  = "released"  // no resource of a released Service remains
	ResultWaiting   = "waiting"   // the cloud is busy, or a change continues in a next run
	ResultHeld      = "held"      // a policy, the ledger or a missing proof keeps steps from being done
	ResultRejected  = "rejected"  // the Service cannot be understood
	ResultThrottled = "throttled" // the cloud wants fewer calls
	ResultFailed    = "failed"    // the run ended with an error
)

// Results lists them.
func Results() []string {
	return []string{ResultUnchanged, ResultDone, ResultReleased, ResultWaiting, ResultHeld, ResultRejected, ResultThrottled, ResultFailed}
}

func kindLabel() Label {
	return Label{Name: "kind", Doc: "Kind of load balancer, as in the reference of the provider; `none` while one is released."}
}

func reconcileDuration() Definition {
	return Definition{
		Name: "berth_reconcile_duration_seconds", Kind: Histogram,
		Help:    "How long one run over one Service took, from its way off the queue to its status.",
		Labels:  []Label{kindLabel(), {Name: "result", Doc: "The result of the run.", Values: Results()}},
		Buckets: []float64{0.001, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300},
	}
}

func planSteps() Definition {
	return Definition{
		Name: "berth_plan_steps", Kind: Histogram,
		Help:    "How many steps the plans had that were made by comparing with the cloud.",
		Labels:  []Label{kindLabel()},
		Buckets: []float64{0, 1, 2, 5, 10, 20, 50, 100, 200},
	}
}

func stepsTotal() Definition {
	return Definition{
		Name: "berth_steps_total", Kind: Counter,
		Help: "Steps of plans, by what became of them.",
		Labels: []Label{
			{Name: "resource", Doc: "Kind of resource, such as `listener`; the provider's model has some dozens."},
			{Name: "action", Doc: "What the step does.", Values: []string{"create", "update", "delete", "forget"}},
			{Name: "result", Doc: "What became of it.", Values: []string{"done", "failed", "skipped", "waiting"}},
		},
	}
}

func servicesGauge() Definition {
	var reasons []string
	for _, r := range status.Reasons() {
		if !slices.Contains(reasons, string(r.Reason)) {
			reasons = append(reasons, string(r.Reason))
		}
	}
	return Definition{
		Name: "berth_services", Kind: Gauge,
		Help: "Services that are served, by condition. One that was never handled counts as Unknown, without a reason.",
		Labels: []Label{
			{Name: "condition", Doc: "Type of the condition, without its domain.", Values: conditionTypes()},
			{Name: "status", Doc: "Status of the condition.", Values: []string{"True", "False", "Unknown"}},
			{Name: "reason", Doc: "Reason of the condition, as in [status](status.md).", Values: append(reasons, "")},
		},
	}
}

func callLabels() []Label {
	return []Label{
		{Name: "api", Doc: "The part of the cloud: `ec2`, `elb`, `elbv2`, `sts`, `ec2imds`; `compute`; `network`, `compute`, `resources`, `arm`."},
		{Name: "operation", Doc: "The cloud's own name of the operation, such as `DescribeSubnets`, `forwardingRules.insert`, `LoadBalancers.CreateOrUpdate`."},
	}
}

func cloudCalls() Definition {
	return Definition{
		Name: "berth_cloud_calls_total", Kind: Counter,
		Help: "Requests to the cloud's API on the wire, including repetitions, without requests for tokens.",
		Labels: append(callLabels(), Label{
			Name: "code",
			Doc: "`OK`; the cloud's own code of a refusal, such as `ThrottlingException`, or the HTTP status where it gives none; `NoAnswer`; " +
				"`Other` for codes beyond the first 200 different ones.",
		}),
	}
}

func cloudDuration() Definition {
	return Definition{
		Name: "berth_cloud_call_duration_seconds", Kind: Histogram,
		Help:    "How long requests to the cloud's API took, each attempt by itself.",
		Labels:  callLabels(),
		Buckets: []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60},
	}
}

func cloudThrottles() Definition {
	return Definition{
		Name: "berth_cloud_throttles_total", Kind: Counter,
		Help:   "Requests that the cloud refused because there were too many.",
		Labels: callLabels(),
	}
}

func cloudWait() Definition {
	return Definition{
		Name: "berth_cloud_call_wait_seconds", Kind: Histogram,
		Help:    "How long requests to the cloud's API waited before they were sent, because the rate of their class allowed no more.",
		Labels:  []Label{{Name: "class", Doc: "The cloud's class of operations that share a rate, such as `elbv2/Describe`; `other` for those without a documented one."}},
		Buckets: []float64{0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600},
	}
}

func causeLabel() Label {
	return Label{Name: "cause", Doc: "Why the Service is looked at; the last ones go first.", Values: Causes()}
}

// Causes lists why a Service can be in the queue, the least urgent first.
func Causes() []string { return []string{"drift", "nodes", "endpoints", "retry", "user"} }

func queueDepth() Definition {
	return Definition{
		Name: "berth_queue_depth", Kind: Gauge,
		Help:   "Services that wait for a worker.",
		Labels: []Label{causeLabel()},
	}
}

func queueOldest() Definition {
	return Definition{
		Name: "berth_queue_oldest_age_seconds", Kind: Gauge,
		Help: "How long the Service that waits longest for a worker has waited; 0 if none waits.",
	}
}

func queueWait() Definition {
	return Definition{
		Name: "berth_queue_wait_seconds", Kind: Histogram,
		Help:    "How long Services waited for a worker.",
		Labels:  []Label{causeLabel()},
		Buckets: []float64{0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300},
	}
}

func knowledgeTotal() Definition {
	return Definition{
		Name: "berth_snapshot_lookups_total", Kind: Counter,
		Help: "How the runs knew what is in the cloud.",
		Labels: []Label{{
			Name: "result",
			Doc: "`unchanged`: nothing asks for a comparison; `hit`: compared with the snapshot of an earlier run; `glance`: after a start, by a list of existing resources; " +
				"`miss`: read in full.",
			Values: []string{"unchanged", "hit", "glance", "miss"},
		}},
	}
}

func driftChecks() Definition {
	return Definition{
		Name: "berth_drift_checks_total", Kind: Counter,
		Help:   "Reads of load balancers on which nothing had been left to do and of which nothing was asked since.",
		Labels: []Label{kindLabel(), {Name: "result", Doc: "`found`: another program or person had changed something.", Values: []string{"none", "found"}}},
	}
}

func panicsTotal() Definition {
	return Definition{
		Name: "berth_panics_total", Kind: Counter,
		Help: "Runs that a defect of the program ended, each over one Service; the log has the place.",
	}
}

func orphanedGauge() Definition {
	return Definition{
		Name: "berth_orphaned_total", Kind: Counter,
		Help: "Services that were deleted before their release, because a user or another controller removed the finalizer. Their resources are deleted as far as the controller remembers them.",
	}
}

func leadingGauge() Definition {
	return Definition{
		Name: "berth_leading", Kind: Gauge,
		Help: "1 if this process works on Services, 0 if it stands by.",
	}
}

func checkOK() Definition {
	return Definition{
		Name: "berth_check_ok", Kind: Gauge,
		Help:   "1 if a check of /readyz or /healthz is well.",
		Labels: []Label{{Name: "check", Doc: "The check, as in [observability](../guides/observability.md#health).", Values: Checks()}},
	}
}

// Checks lists the checks of health and readiness.
func Checks() []string { return []string{"caches", "ledger", "cloud", "workers"} }

func buildInfo() Definition {
	return Definition{
		Name: "berth_build_info", Kind: Gauge,
		Help: "Always 1; the labels tell what runs.",
		Labels: []Label{
			{Name: "version", Doc: "Version of Berth."}, {Name: "commit", Doc: "Commit that it was built from."}, {Name: "go_version", Doc: "Go that it was built with."},
		},
	}
}

// conditionTypes returns the types without their domain.
func conditionTypes() []string {
	var out []string
	for _, t := range status.Types() {
		out = append(out, trimDomain(t))
	}
	return out
}
