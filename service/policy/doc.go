// Package policy says what Services of a namespace may ask for: which
// annotations, whether a load balancer that the internet can reach, which classes
// and kinds, and what of the cloud they may name. It refuses before anything is
// built; the policies of stack/plan hold steps of what was built.
//
// It must not depend on a cloud: the reach of a request is computed by the cloud's own Reach.
// It does no I/O; the caller reads the file.
//
// Start with File, then Policy.Judge.
package policy
