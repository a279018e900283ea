// Package offline is what the command line does: it takes Services and Nodes
// from files or, once, from a cluster, walks the way of package reconcile up to
// the plan, and returns what is to be shown. It watches nothing, writes nothing to
// Kubernetes, and to the cloud only when orphans are to be deleted.
//
// Files hold Services as people write them. What the API server would fill in
// is filled in, what only a cluster can assign (UID, node ports) is made up the
// same way every time and said, and what the API server would refuse is a
// problem with a name. Start at [Plan], then [Check].
package offline
