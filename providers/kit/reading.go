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
	// Blinds are the kinds that are unreadable while the list is denied; none: it returns
	// facts, without which nothing can be built.
	Blinds []stack.Kind
	Run    func() error
}

// Detail is a call about one or a few resources of the lists.
type Detail struct {
	Of  []string // ids of the resources, for faults
	Run func() error
}

// ReadBatch is one running read for many scopes: first lists, then details. A failure is
// recorded for the resources that it concerns; all other results stay. It is safe for
// concurrent use.
type ReadBatch struct {
	mu     sync.Mutex
	blinds map[string][]stack.Kind // by list
	failed map[string]error        // by list
	broken map[string]error        // by resource
	gone   map[string]bool         // deleted between the list and the detail
}

// NewReadBatch returns a new read.
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

// Details runs calls for details, some at a time, and repeats failed ones once when the
// others have ended.
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

// Keep runs f under the lock of the read, to store results of lists and details.
func (r *ReadBatch) Keep(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// Gone reports whether a resource was deleted after it was listed.
func (r *ReadBatch) Gone(thing string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone[thing]
}

// OneByOne asks for each of several resources alone, after a call for all of them was refused because one does not
// exist.
func OneByOne(ids []string, ask func([]string) error) error {
	for _, id := range ids {
		if err := ask([]string{id}); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// DropGone removes what was deleted after it was listed, with its parts. Everything else of the Service stays.
func (r *ReadBatch) DropGone(found *stack.Stack) {
	for _, res := range slices.Clone(found.Resources) {
		if res.In == (stack.Key{}) && r.Gone(res.ID) {
			found.Drop(res.Key)
		}
	}
}

// Faults returns the failures that affect one scope: the kinds that it cannot read,
// because a list of them was denied, and the errors of its lists and of its
// resources.
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
			blind.Add(fmt.Errorf("read %s: %w", list, err), kinds...)
		default:
			all = append(all, fmt.Errorf("read %s: %w", list, err))
		}
	}
	for _, thing := range slices.Compact(slices.Sorted(slices.Values(things))) {
		if err := r.broken[thing]; err != nil {
			all = append(all, fmt.Errorf("read %s: %w", thing, err))
		}
	}
	return blind, joinErrors(all)
}

// joinErrors returns several errors as one, in one line, with the meaning of the first.
func joinErrors(all []error) error {
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
