package kit

import (
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/berth-lb/berth/providers/fault"
)

// atOnce limits the concurrent calls of one read if the cloud has no call for many: more
// than any documented rate permits.
const atOnce = 16

// ForEach runs f for every item, some at a time, and returns when all have ended. f
// keeps its own errors. A panic in one of them is passed on, as a *fault.Defect, to
// the caller, when the others have ended: in a goroutine of its own it would end
// the program for every Service.
func ForEach[T any](items []T, f func(T)) { forEach(atOnce, items, f) }

// ForAll is ForEach with all at the same time, for calls that are limited elsewhere.
func ForAll[T any](items []T, f func(T)) { forEach(-1, items, f) }

func forEach[T any](atOnce int, items []T, f func(T)) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	var once sync.Once
	var defect *fault.Defect
	for _, item := range items {
		group.Go(func() error {
			if err := fault.Guarded(fault.Internal, func() { f(item) }); err != nil {
				once.Do(func() { errors.As(err, &defect) })
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
	if defect != nil {
		panic(defect) //nolint:forbidigo // the panic of an item, in the goroutine of the caller
	}
}

// Together runs functions at the same time, and returns when all have ended; panics
// are as with ForEach.
func Together(fs ...func()) { ForEach(fs, func(f func()) { f() }) }
