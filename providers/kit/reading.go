package kit

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// List is a call, or several pages, that serves all scopes of a read.
type List struct {
	Name string // for errors
	// Blinds are the kinds that are not seen while the list is denied; none: it brings
	// facts, without which nothing can be built.
	Blinds []stack.Kind
	Run    func() error
}

// Detail is a call about one or a few things that the lists have shown.
type Detail struct {
	Of  []string // ids of the things, for faults
	Run func() error
}

// ReadBatch is one read for many scopes at work: first lists, then details. What fails
// is noted for the things it concerns; all else that was read stays. It is safe for
// concurrent use.
type ReadBatch struct {
	mu     sync.Mutex
	blinds map[string][]stack.Kind // by list
	failed map[string]error        // by list
	broken map[string]error        // by thing
	gone   map[string]bool         // vanished between the list and the detail
}

// NewReadBatch returns a read that has not begun.
func NewReadBatch() *ReadBatch {
	return &ReadBatch{blinds: map[string][]stack.Kind{}, failed: map[string]error{}, broken: map[string]error{}, gone: map[string]bool{}}
}

// Lists runs lists at the same time.
func (r *ReadBatch) Lists(lists ...List) {
	ForEach(lists, func(l List) {
		err := l.Run()
		r.Keep(func() {
			r.blinds[l.Name] = l.Blinds
			if err != nil {
				r.failed[l.Name] = err
			}
		})
	})
}

// Details runs calls for details, some at a time, and those that were not answered a
// second time when the others have ended.
func (r *ReadBatch) Details(details []Detail) {
	var again []Detail
	r.details(details, func(d Detail, err error) bool {
		if fault.Is(err, fault.Unavailable) {
			again = append(again, d)
			return true
		}
		return false
	})
	r.details(again, func(Detail, error) bool { return false })
}

func (r *ReadBatch) details(details []Detail, later func(Detail, error) bool) {
	ForEach(details, func(d Detail) {
		err := d.Run()
		if err == nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if later(d, err) {
			return
		}
		for _, thing := range d.Of {
			if fault.Is(err, fault.NotFound) && len(d.Of) == 1 {
				r.gone[thing] = true
				continue
			}
			r.broken[thing] = err
		}
	})
}

// Keep runs f under the lock of the read, for what lists and details bring.
func (r *ReadBatch) Keep(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// Gone tells whether a thing vanished after it was listed.
func (r *ReadBatch) Gone(thing string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone[thing]
}

// Faults returns what the answer to one scope suffers from: the kinds that it cannot
// see, because a list of them was denied, and the errors of the lists that it asks for
// and of the things that it has looked at.
func (r *ReadBatch) Faults(asks map[string]bool, things []string) (providers.Blind, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	blind := providers.Blind{}
	var all []error
	for _, list := range slices.Sorted(maps.Keys(r.failed)) {
		kinds, err := r.blinds[list], r.failed[list]
		switch {
		case !asks[list]:
		case providers.HidesOnly(err) && len(kinds) > 0:
			blind.Add(fmt.Errorf("%s: %w", list, err), kinds...)
		default:
			all = append(all, fmt.Errorf("%s: %w", list, err))
		}
	}
	for _, thing := range slices.Compact(slices.Sorted(slices.Values(things))) {
		if err := r.broken[thing]; err != nil {
			all = append(all, fmt.Errorf("%s: %w", thing, err))
		}
	}
	return blind, joined(all)
}

// joined returns several errors as one, in one line; the first decides what it means.
func joined(all []error) error {
	var out error
	for _, err := range all {
		if out == nil {
			out = err
			continue
		}
		out = fmt.Errorf("%w; %w", out, err)
	}
	return out
}
