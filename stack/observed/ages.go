package observed

import "time"

// How long observations are trusted. Two more ages follow from the interval of reads for
// drift: a shared resource is known for one interval, and updates of members are kept for two, so
// that no remembered stack is older.
const (
	// StaleRead bounds how long a read may show a deleted resource, or lack a created one.
	// Clouds that answer from copies document no bound; AWS mentions seconds.
	StaleRead = 30 * time.Second
	// LateCalls bounds how long after the end of another process its calls may take effect.
	LateCalls = 2 * time.Minute
	// longRead is how long after a write the answer of a read may arrive that began before the
	// write, or while it could be stale.
	longRead = 10 * time.Minute
	// longRun is how much later than the read that it began with a run may create resources.
	longRun = 10 * time.Minute
	// deletionAge is how long the end of a deletion of a shared resource is kept: longer than
	// anything that is known of the resource is trusted without a read.
	deletionAge = 24 * time.Hour
)
