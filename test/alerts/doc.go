// Package alerts tests the dashboard and the alerts of the chart with Prometheus'
// own parser and rule engine: every expression parses, names and labels exist,
// and every alert fires when it should and only then.
//
// It is a module of its own, so that the product never sees what Prometheus
// requires. Start at TestAlerts.
package alerts
