package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"
)

// FaultKind says what a fault does to a call.
type FaultKind string

const (
	// FaultError answers an error; nothing is done.
	FaultError FaultKind = "error"
	// FaultPage answers a page of HTML with the status, as a proxy or gateway in between does;
	// nothing is done.
	FaultPage FaultKind = "page"
	// FaultLatency delays the call, which then runs as usual.
	FaultLatency FaultKind = "latency"
	// FaultLate runs the call after the delay, whether its caller still waits or not, as a
	// write does that stands in the queue of a slow API.
	FaultLate FaultKind = "late"
	// FaultCutBefore closes the connection without an answer; nothing is done.
	FaultCutBefore FaultKind = "cut-before"
	// FaultCutAfter runs the call and closes the connection instead of answering.
	FaultCutAfter FaultKind = "cut-after"
	// FaultStale answers a read from an earlier state; writes are not touched.
	FaultStale FaultKind = "stale"
)

// Fault is one disturbance. Service and Operation are glob patterns as in
// path.Match; empty means any. It skips the first After matching calls, then
// applies to Count calls; Count 0 is for ever.
type Fault struct {
	Service   string    `json:"service,omitempty"`
	Operation string    `json:"operation,omitempty"`
	After     int       `json:"after,omitempty"`
	Count     int       `json:"count,omitempty"`
	Kind      FaultKind `json:"kind"`
	// WritesOnly leaves calls alone, and uncounted, that only read.
	WritesOnly bool `json:"writesOnly,omitempty"`
	// Status, Code and Message are the answer of FaultError; the cloud's own
	// simulator fills in what is empty. FaultPage has a status alone.
	Status  int    `json:"status,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Latency delays the call, with any kind. In JSON it is a text such as "150ms".
	Latency time.Duration `json:"-"`
	// BehindWrites and BehindTime say how old the state of FaultStale is: before
	// the last so many writes, or as it was so long ago. Both zero means before
	// the last write. The state is remembered from the time the fault was added.
	BehindWrites int           `json:"behindWrites,omitempty"`
	BehindTime   time.Duration `json:"-"`
}

type faultFields Fault

type faultJSON struct {
	faultFields
	Latency    string `json:"latency,omitempty"`
	BehindTime string `json:"behindTime,omitempty"`
}

// MarshalJSON writes durations as text.
func (f Fault) MarshalJSON() ([]byte, error) {
	doc := faultJSON{faultFields: faultFields(f)}
	if f.Latency != 0 {
		doc.Latency = f.Latency.String()
	}
	if f.BehindTime != 0 {
		doc.BehindTime = f.BehindTime.String()
	}
	return json.Marshal(doc)
}

// UnmarshalJSON reads durations as text and checks kind and patterns.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var doc faultJSON
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	out := Fault(doc.faultFields)
	for _, d := range []struct {
		name, text string
		to         *time.Duration
	}{{"latency", doc.Latency, &out.Latency}, {"behindTime", doc.BehindTime, &out.BehindTime}} {
		if d.text == "" {
			continue
		}
		v, err := time.ParseDuration(d.text)
		if err != nil {
			return fmt.Errorf("fault %s: %w", d.name, err)
		}
		*d.to = v
	}
	if err := out.check(); err != nil {
		return err
	}
	*f = out
	return nil
}

func (f Fault) check() error {
	kinds := []FaultKind{FaultError, FaultPage, FaultLatency, FaultLate, FaultCutBefore, FaultCutAfter, FaultStale}
	if !slices.Contains(kinds, f.Kind) {
		return fmt.Errorf("fault kind %q: want one of %v", f.Kind, kinds)
	}
	for _, pattern := range []string{f.Service, f.Operation} {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("fault pattern %q: %w", pattern, err)
		}
	}
	return nil
}

func matchesPattern(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// Faults is the set of active faults. The zero value is ready; it is safe for
// concurrent use.
type Faults struct {
	mu   sync.Mutex
	last int
	list []*armed
}

type armed struct {
	id, seen int
	Fault
}

// Add arms a fault and returns its id. The error tells of an unknown kind or a
// bad pattern.
func (f *Faults) Add(fault Fault) (int, error) {
	if err := fault.check(); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	f.list = append(f.list, &armed{id: f.last, Fault: fault})
	return f.last, nil
}

// Remove disarms one fault; it reports whether there was one.
func (f *Faults) Remove(id int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.list)
	f.list = slices.DeleteFunc(f.list, func(a *armed) bool { return a.id == id })
	return len(f.list) < before
}

// Clear disarms all.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// List returns the armed faults by id, including the used ones.
func (f *Faults) List() map[int]Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[int]Fault{}
	for _, a := range f.list {
		out[a.id] = a.Fault
	}
	return out
}

// WantsHistory reports whether a fault of kind FaultStale is armed, so that the
// simulator must remember earlier states.
func (f *Faults) WantsHistory() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(a *armed) bool { return a.Kind == FaultStale })
}

// Take counts a call against all faults and returns the ones that apply to it, in
// the order in which they were armed. FaultStale is neither counted nor returned for a write.
func (f *Faults) Take(service, operation string, write bool) []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Fault
	for _, a := range f.list {
		if !matchesPattern(a.Service, service) || !matchesPattern(a.Operation, operation) || (write && a.Kind == FaultStale) || (a.WritesOnly && !write) {
			continue
		}
		a.seen++
		if a.seen > a.After && (a.Count == 0 || a.seen <= a.After+a.Count) {
			out = append(out, a.Fault)
		}
	}
	return out
}

// Disturbance is what the faults do to one call.
type Disturbance struct {
	Kinds []FaultKind
	// Errors are the faults that keep the call from being done, in the order they were armed.
	Errors []Fault
	// Cut is whether the connection is closed without an answer.
	Cut bool
	// Page is the status of the page that is the answer; 0: the cloud answers.
	Page int
	// Stale is the fault that asks for an earlier state; nil if there is none.
	Stale *Fault
}

// Meet takes a call through the faults: it waits as long as they delay the call,
// and gives what else they do to it.
func (f *Faults) Meet(ctx context.Context, service, operation string, write bool) Disturbance {
	var d Disturbance
	for _, fault := range f.Take(service, operation, write) {
		d.Kinds = append(d.Kinds, fault.Kind)
		waits := ctx
		if fault.Kind == FaultLate {
			waits = context.WithoutCancel(ctx)
		}
		Delay(waits, fault.Latency)
		switch fault.Kind {
		case FaultError:
			d.Errors = append(d.Errors, fault)
		case FaultPage:
			d.Errors, d.Page = append(d.Errors, Fault{Kind: FaultError, Status: http.StatusServiceUnavailable}), fault.Status
		case FaultCutBefore:
			d.Errors, d.Cut = append(d.Errors, fault), true
		case FaultCutAfter:
			d.Cut = true
		case FaultStale:
			d.Stale = &fault
		case FaultLatency, FaultLate:
		}
	}
	return d
}
