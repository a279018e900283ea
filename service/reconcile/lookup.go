package reconcile

// Lookup is the source of the observed state of a draft, for metrics.
type Lookup string

const (
	// LookupNone is a draft that has not observed anything.
	LookupNone Lookup = ""
	// LookupUnchanged drafts had no reason to compare.
	LookupUnchanged Lookup = "unchanged"
	// LookupHit drafts were compared with the snapshot of an earlier run.
	LookupHit Lookup = "hit"
	// LookupChecked drafts checked that a load balancer that was clean before the process
	// started still exists.
	LookupChecked Lookup = "glance"
	// LookupMiss drafts read everything that the Service has.
	LookupMiss Lookup = "miss"
)

// Lookup returns the source of the observed state.
func (d *Draft) Lookup() Lookup {
	switch {
	case d.Basis == Checked:
		return LookupChecked
	case d.Clean:
		return LookupUnchanged
	case d.Basis == Read || d.Basis == Assumed:
		return LookupMiss
	case d.Want != nil:
		return LookupHit
	}
	return LookupNone
}

// Rechecked reports whether the draft read again what an earlier run of this process had left
// clean, for the same input.
func (d *Draft) Rechecked() bool { return d.recheck && d.Basis == Read && d.Want != nil }

// Drifted reports whether something else has changed the cloud since then.
func (d *Draft) Drifted() bool { return d.Rechecked() && !d.Plan.Empty() }

// OnlyChecks reports whether the draft only checks what an earlier run of this process had left
// clean.
func (d *Draft) OnlyChecks() bool { return d.recheck }
