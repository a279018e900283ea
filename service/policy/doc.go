// Package policy says what Services of a namespace may ask for: which
// annotations, whether a load balancer that the internet can reach, which classes
// and kinds, and what of the cloud they may name. It refuses before anything is
// built; the policies of stack/plan hold steps of what was built.
//
// It must not know a cloud: what a request comes to, the cloud's own Reach says.
// It does no I/O; whoever has the file reads it.
//
// Start with File, then Policy.Judge.
package policy
