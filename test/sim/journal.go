package sim

import (
	"slices"
	"sync"
	"time"
)

// MaxEntryParams is how many parameters of a request an Entry keeps.
const MaxEntryParams = 100

// Entry is one call as the simulator saw it.
type Entry struct {
	// Seq counts from 1 and is never used twice, also not after Reset.
	Seq       int       `json:"seq"`
	Time      time.Time `json:"time"`
	Service   string    `json:"service"`
	Operation string    `json:"operation"`
	// Agent is the User-Agent of the request: it names the program that sent it.
	Agent string `json:"agent,omitempty"`
	// Write is true for operations that change state, whether or not this call did.
	Write bool `json:"write"`
	// Resource and Units are what the buckets were shown.
	Resource string `json:"resource,omitempty"`
	Units    int    `json:"units,omitempty"`
	// Status is the HTTP status; 0 when the connection was cut instead.
	Status int    `json:"status"`
	Code   string `json:"code,omitempty"`
	// Request holds the first MaxEntryParams parameters in the order of their names.
	Request map[string]string `json:"request,omitempty"`
	// Committed is true when the operation ran and succeeded, even if the caller
	// never got the answer.
	Committed bool `json:"committed"`
	// Throttled is true when a throttle bucket refused the call.
	Throttled bool `json:"throttled,omitempty"`
	// Faults lists the kinds of the faults that were applied.
	Faults []FaultKind `json:"faults,omitempty"`
}

// Call is the call as buckets see it.
func (e Entry) Call() Call {
	return Call{Service: e.Service, Operation: e.Operation, Resource: e.Resource, Units: e.Units}
}

// Journal keeps every call in order. The zero value is ready; it is safe for
// concurrent use.
type Journal struct {
	mu      sync.Mutex
	last    int
	entries []Entry
}

// Append adds a call, numbers it and returns the number.
func (j *Journal) Append(e Entry) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	e.Seq = j.last
	j.entries = append(j.entries, e)
	return e.Seq
}

// Entries returns all calls since the start or the last Reset.
func (j *Journal) Entries() []Entry { return j.Since(0) }

// Since returns the calls with a number above seq.
func (j *Journal) Since(seq int) []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	at, _ := slices.BinarySearchFunc(j.entries, seq+1, func(e Entry, s int) int { return e.Seq - s })
	return slices.Clone(j.entries[at:])
}

// Last is the number of the newest call ever, 0 before the first.
func (j *Journal) Last() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// Reset deletes the calls; numbering continues.
func (j *Journal) Reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = nil
}

// Counts gives the number of calls per operation, as "service.Operation".
func (j *Journal) Counts() map[string]int {
	out := map[string]int{}
	for _, e := range j.Entries() {
		out[e.Service+"."+e.Operation]++
	}
	return out
}

// Writes counts the calls of operations that change state.
func (j *Journal) Writes() int {
	n := 0
	for _, e := range j.Entries() {
		if e.Write {
			n++
		}
	}
	return n
}

// Calls counts all calls.
func (j *Journal) Calls() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}
