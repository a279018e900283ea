// Package service is the loop: it watches Services and Nodes, decides which
// Services are ours, and works on each with package reconcile.
//
// It is the only package with client-go informers. What it writes to Kubernetes
// is one patch per run of a Service's status subresource, and events. There is
// one queue key per Service for every cause, so nothing races with itself.
// Start at [Controller.Run], then [Controller.work].
package service
