// Package service is the loop: it watches Services and Nodes, decides which
// Services are ours, and reconciles each with package reconcile.
//
// It is the only package with client-go informers. Its writes to Kubernetes are one
// patch per run of a Service's status subresource, and events. All causes share one
// queue key per Service, so reconciles of a Service never overlap.
// Start at [Controller.Run], then [Controller.work].
package service
