// Package metrics declares every metric of Berth, once: from the declarations
// come the collectors, docs/reference/metrics.md, and the tests of the dashboard
// and the alerts.
//
// Labels are of closed sets, or of sets that a cloud's API bounds; no label ever
// holds the name of a Service, a node or a resource. The package decides nothing:
// the loop tells it what happened. Start at [Definitions].
package metrics
