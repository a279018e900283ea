// Package observed holds what the process knows of the cloud: what reads have shown, what its
// own calls have written, and what another process may still do. Each observation has a time, and
// ages.go lists how long each is trusted.
//
// Calls that write are recorded with Begin and Wrote, reads with Listed. The other methods answer
// questions: which parts of a read are stale, which updates of other Services a remembered stack
// lacks, which shared resources exist. The package makes no calls and decides nothing.
//
// The rule behind all of it: a read that began before the last write of this process ended
// changes nothing that is known of what was written. Start with Store. Sessions of clouds record
// single properties of resources in Values, by the same rule.
package observed
