package reconcile

// Lookup is how a draft knew what is in the cloud.
type Lookup string

const (
	// LookupNone is a draft that did not come so far.
	LookupNone Lookup = ""
	// LookupUnchanged drafts had no reason to compare.
	LookupUnchanged Lookup = "unchanged"
	// LookupHit drafts were compared with the snapshot of an earlier run.
	LookupHit Lookup = "hit"
	// LookupGlance drafts saw in a list that what was clean before the process
	// started is still there.
	LookupGlance Lookup = "glance"
	// LookupMiss drafts read all that the Service has.
	LookupMiss Lookup = "miss"
)

// Lookup tells how the draft knew what is in the cloud.
func (d *Draft) Lookup() Lookup {
	switch {
	case d.Basis == Glimpsed:
		return LookupGlance
	case d.Clean:
		return LookupUnchanged
	case d.Basis == Read || d.Basis == Assumed:
		return LookupMiss
	case d.Want != nil:
		return LookupHit
	}
	return LookupNone
}

// Rechecked tells whether the draft read anew what an earlier run of this process
// had left clean, without anything having been asked for since.
func (d *Draft) Rechecked() bool { return d.recheck && d.Basis == Read && d.Want != nil }

// Drifted tells whether somebody else has changed something since then.
func (d *Draft) Drifted() bool { return d.Rechecked() && !d.Plan.Empty() }

// OnlyChecks tells whether the draft had no other reason than to look whether what an
// earlier run of this process had left clean still is.
func (d *Draft) OnlyChecks() bool { return d.recheck }
