// Package lease reports whether the process may still write: whether the Lease by which
// it leads is provably its own.
//
// Leader election ends a process that cannot renew its Lease, but only while that process
// runs: one that was stopped, or whose machine was suspended, continues with whatever it
// was about to do when another replica leads. The [Fence] is asked before every write. It
// sees the renewals on the wire, because the election of the stock program cannot be
// observed from outside. Start at [New].
package lease
