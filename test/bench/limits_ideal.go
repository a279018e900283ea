package main

import (
	"time"

	"github.com/berth-lb/berth/test/sim"
)

// idealTime returns the time that the calls of the pass without rates need with them. Where changes are
// jobs, it is that of the slowest operation: the jobs that its first call waits for, its calls at the
// rates, and the jobs that follow its last call.
func idealTime(rates []sim.Bucket, free measured) time.Duration {
	var all []sim.Call
	by := map[string][]sim.Entry{}
	for _, e := range free.calls {
		all = append(all, e.Call())
		by[e.Service+"."+e.Operation] = append(by[e.Service+"."+e.Operation], e)
	}
	longest := sim.Ideal(rates, all)
	if free.job == 0 {
		return longest
	}
	for _, entries := range by {
		var calls []sim.Call
		for _, e := range entries {
			calls = append(calls, e.Call())
		}
		longest = max(longest, jobsBefore(free, entries[0])+sim.Ideal(rates, calls)+jobsAfter(free, entries[len(entries)-1]))
	}
	return longest
}

// jobsBefore returns the time of the jobs between the first write of the phase and a call. What else passes
// in between takes less than a job.
func jobsBefore(free measured, call sim.Entry) time.Duration {
	for _, e := range free.calls {
		if e.Write {
			return max(0, call.Time.Sub(e.Time).Truncate(free.job))
		}
	}
	return 0
}

// jobsAfter returns the time of the jobs from a call to the end of the phase, which is the answer about the
// last one.
func jobsAfter(free measured, call sim.Entry) time.Duration {
	return free.calls[len(free.calls)-1].Time.Sub(call.Time).Truncate(free.job)
}
