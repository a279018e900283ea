// Package gatehook answers the webhooks by which new pods get the readiness gates of the load
// balancers that they will stand behind, and ids for QUIC.
//
// The loop writes on a Service which conditions its load balancer stands for
// (status.AnnotationPodGates). The webhook reads that and nothing else, so every replica
// answers, and no answer waits for a cloud. The package must not depend on a cloud or the loop.
//
// Start with Gates in hook.go.
package gatehook
