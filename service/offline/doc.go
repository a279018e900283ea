// Package offline is what the command line does: it takes Services and Nodes
// from files or, once, from a cluster, walks the way of package reconcile up to
// the plan, and returns what is to be shown. Nothing it does writes, neither to
// the cloud nor to Kubernetes, and it watches nothing.
//
// Files hold Services as people write them. What the API server would fill in
// is filled in, what only a cluster can assign (UID, node ports) is made up the
// same way every time and said, and what the API server would refuse is a
// problem with a name. Start at [Plan], then [Check].
package offline
