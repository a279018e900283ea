package explore

import (
	"context"
	"errors"
	"fmt"
	"testing/synctest"
	"time"
)

// How long a Lease lasts, by the defaults of leader election.
const (
	// leaseOver is when another process leads, after the leader has fallen asleep: the
	// duration of the Lease and an interval between two attempts.
	leaseOver = 17 * time.Second
	// fenceWatch is how long a process runs at most after it has woken up without a Lease.
	fenceWatch = 500 * time.Millisecond
	// wireTime is how long a request that was sent may take to its point.
	wireTime = 10 * time.Millisecond
)

// fence is that of one process: closed while another process leads. A process that sleeps
// stands still in it.
type fence struct {
	p    *process
	term context.Context //nolint:containedctx // its end is what the method returns
}

// Err implements engine.Fence.
func (f fence) Err() error {
	f.p.standStill()
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	if f.p.deposed {
		return errors.New("another process leads")
	}
	return nil
}

// Term implements engine.Fence.
func (f fence) Term() context.Context { return f.term }

// fallAsleep stops the process.
func (p *process) fallAsleep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sleep == nil {
		p.sleep, p.slept = make(chan struct{}), time.Now()
	}
}

// wake lets the process continue.
func (p *process) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sleep != nil {
		close(p.sleep)
		p.sleep = nil
	}
}

// sleeps reports whether the process is stopped.
func (p *process) sleeps() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sleep != nil
}

// standStill waits until the process is awake.
func (p *process) standStill() {
	p.mu.Lock()
	sleep := p.sleep
	p.mu.Unlock()
	if sleep != nil {
		<-sleep
	}
}

// trespasses reports whether a write that arrives now was sent by a process that stands
// still, or whose Lease is over.
func (p *process) trespasses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.ended && p.deposed && p.sleep == nil || p.sleep != nil && time.Since(p.slept) > wireTime
}

// forbid notes a write of a process that must not write.
func (w *world) forbid(p *process, what string) {
	if !p.trespasses() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trespass = fmt.Sprintf("%s sends %q after its Lease has run out", p.label(), what)
}

// alarm is something that happens at a time.
type alarm struct {
	at   time.Time
	ring func()
}

// ring does what is due, and reports whether anything was.
func (r *runner) ring() bool {
	for i, a := range r.alarms {
		if !a.at.After(time.Now()) {
			r.alarms = append(r.alarms[:i:i], r.alarms[i+1:]...)
			a.ring()
			r.active = time.Now()
			return true
		}
	}
	return false
}

// putToSleep stops the newest process for a time. Another one starts meanwhile.
func (r *runner) putToSleep(length time.Duration) {
	p := r.newest()
	if p.sleeps() {
		return
	}
	p.fallAsleep()
	r.sendOut(p)
	now := time.Now()
	r.alarms = append(r.alarms, alarm{now.Add(leaseOver), func() {
		if p != r.newest() || p.over() {
			return
		}
		p.mu.Lock()
		p.deposed = true
		p.mu.Unlock()
		r.forgetStripped()
		r.w.begin(r.life)
	}}, alarm{now.Add(length), p.wake}, alarm{now.Add(length + fenceWatch), p.end})
}

// sendOut has the writes of a process that are under way take effect after a moment, and
// deletions at once.
func (r *runner) sendOut(p *process) {
	for _, at := range r.w.gate.pending() {
		switch {
		case at.Process != p.id || !at.Write:
		case at.removes():
			r.w.gate.release(at, Deviation{})
			synctest.Wait()
		default:
			r.held[at] = time.Now().Add(lateness)
		}
	}
}

// outlive ends the process of a write and starts another one. The write takes effect after a
// time, a deletion at once.
func (r *runner) outlive(at *Point, after time.Duration) {
	if at.removes() {
		after = 0
	}
	r.late[at] = true
	r.held[at] = time.Now().Add(after)
	r.succeed(Die)
}

// newest returns the process that started last.
func (r *runner) newest() *process {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return r.w.processes[len(r.w.processes)-1]
}

// forgetStripped notes that the process ends which remembers Services without finalizers.
func (r *runner) forgetStripped() {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.w.forgotten = r.w.forgotten || len(r.w.stripped) > 0
}
