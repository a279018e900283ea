package reconcile

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack/observed"
)

// mayHaveMore reports whether a Service may have resources that this process has not observed.
// The Service is older than the process, and was not read since the last calls of a previous
// process can have taken effect. Without any read, a user may have removed its marks, and its
// load balancer may be of another kind.
func (r *Reconciler) mayHaveMore(d *Draft) bool {
	older := d.Job.Service.CreationTimestamp.Time.Before(r.started)
	return older && (d.origin == Assumed || d.read.Before(r.started.Add(observed.LateCalls)))
}

// settleDelay returns how long to wait before the last read of a release, so that writes of a
// previous process have become visible: nothing would delete a resource that appears later. A
// Service that was created in the second in which the process started may have had one.
func (r *Reconciler) settleDelay(d *Draft) time.Duration {
	return max(r.settledAt(d).Sub(r.options.Now()), 0)
}

// readPredatesTakeover reports whether the read may lack what the last calls of a previous
// process have written for the Service.
func (r *Reconciler) readPredatesTakeover(d *Draft) bool { return d.read.Before(r.settledAt(d)) }

// settledAt returns from when on reads show what a previous process has written for a Service;
// zero: it has written nothing. What a process had under way when it ended takes effect later, and
// reads may lack it for another while. What it had completed before is visible by then.
func (r *Reconciler) settledAt(d *Draft) time.Time {
	switch {
	case !r.hadPredecessor(d):
		return time.Time{}
	case r.endedWithinRun(d, d.last.snapshot):
		return r.started.Add(r.options.Lateness + observed.StaleRead)
	default:
		return r.started.Add(r.options.Lateness)
	}
}

// hadPredecessor reports whether a previous process may have written to the cloud for a Service.
// It has not if this process claimed the Service without any mark on it, or if the record says
// that no run has written anything: a process changes both before its first write.
func (r *Reconciler) hadPredecessor(d *Draft) bool {
	if r.options.Lateness <= 0 || d.origin == Assumed || d.Job.NothingMade {
		return false
	}
	return !d.Job.Service.CreationTimestamp.After(r.started)
}

// endedWithinRun reports whether a previous process may have ended within a run for a Service,
// with calls under way. The first run of this process decides, since a later record is its own.
func (r *Reconciler) endedWithinRun(d *Draft, last snapshot) bool {
	if last.isLateKnown {
		return !last.late.IsZero()
	}
	completedByOther := d.Job.Foreign && len(d.Job.Service.Status.LoadBalancer.Ingress) > 0
	return d.Job.Applied == "" && !completedByOther && r.hadPredecessor(d)
}

// lateReads is the number of reads for late creations. Their intervals double: the last one is 16 minutes after the start,
// and creations that are later still wait for a read for drift.
const lateReads = 4

// lateRead returns when to read a Service again because a previous process ended within a run
// for it: what that process had under way may be created after the read of the run that was
// clean, as a second load balancer where a name is no identity. Zero: that cannot be.
func (r *Reconciler) lateRead(d *Draft, last snapshot) time.Time {
	switch {
	case !r.endedWithinRun(d, last):
		return time.Time{}
	case last.isLateKnown && d.read.Before(last.late):
		return last.late
	case last.isLateKnown:
		return r.lateReadAfter(d.read)
	}
	next := r.lateReadAfter(d.read)
	// A cloud that performs creations one after the other has performed ours after the late ones.
	if visible := r.options.Now().Add(observed.StaleRead); !next.IsZero() && visible.After(next) {
		return visible
	}
	return next
}

// lateReadAfter returns the time of the next read for late creations after another read; zero: that was the last one.
func (r *Reconciler) lateReadAfter(read time.Time) time.Time {
	since := observed.LateCalls
	for range lateReads {
		if next := r.started.Add(since); read.Before(next) {
			return next
		}
		since *= 2
	}
	return time.Time{}
}

// MayBeReleased reports whether a previous process may have released a Service: its last calls
// may still take effect.
func (r *Reconciler) MayBeReleased(svc *corev1.Service) bool {
	return svc.CreationTimestamp.Time.Before(r.started) && r.options.Now().Before(r.started.Add(r.options.Lateness))
}
