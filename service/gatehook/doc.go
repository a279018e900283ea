// Package gatehook is the webhook by which new pods get the readiness gates of the load
// balancers that they will stand behind.
//
// The loop writes on a Service which conditions its load balancer stands for
// (status.AnnotationPodGates). The webhook reads that and nothing else, so every replica
// answers, whether or not it leads, and no answer waits for a cloud. Its certificate is its
// own: a replica creates it, stores it in a Secret for the others, writes the CA bundle for the
// API server, and renews it long before it ends. The package must not depend on a cloud or the loop.
//
// Start with Hook in hook.go, then keeper in keeper.go.
package gatehook
