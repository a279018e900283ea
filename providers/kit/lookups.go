package kit

import (
	"sync"

	"github.com/berth-lb/berth/providers"
)

// Unanswered are the errors of failed look-ups.
type Unanswered map[providers.Lookup]error

// Of returns the error of the first failed look-up of a scope, or nil: look-ups of others
// do not affect a Service.
func (u Unanswered) Of(sc providers.Scope) error {
	for _, l := range sc.Facts {
		if err := u[l]; err != nil {
			return err
		}
	}
	return nil
}

// Answer performs the look-ups for facts of all scopes, each once and some at a time, and
// returns the failed ones. ask returns the function that enters the answer into the facts,
// called one at a time; nil if there is nothing to enter.
func Answer(scopes []providers.Scope, ask func(providers.Lookup) (func(), error)) Unanswered {
	var all []providers.Lookup
	asked := map[providers.Lookup]bool{}
	for _, sc := range scopes {
		for _, l := range sc.Facts {
			if !asked[l] {
				asked[l] = true
				all = append(all, l)
			}
		}
	}
	var mu sync.Mutex
	failed := Unanswered{}
	ForEach(all, func(l providers.Lookup) {
		enter, err := ask(l)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failed[l] = err
		case enter != nil:
			enter()
		}
	})
	return failed
}
