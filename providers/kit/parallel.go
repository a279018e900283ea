package kit

import (
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/berth-lb/berth/providers/fault"
)

// atOnce bounds the calls that one read makes at the same time where the cloud has no
// call for many: more than any documented rate lets through.
const atOnce = 16

// ForEach runs f for every item, some at a time, and returns when all have ended. f
// keeps its own errors. A panic in one of them is passed on, as a *fault.Defect, to
// whoever called, when the others have ended: in a goroutine of its own it would end
// the program for every Service.
func ForEach[T any](items []T, f func(T)) { forEach(atOnce, items, f) }

// ForAll is ForEach with all at the same time, for calls that something else keeps apart.
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
		panic(defect) //nolint:forbidigo // the panic of an item, in the goroutine of whoever waits for it
	}
}

// Together runs functions at the same time, and returns when all have ended; panics
// are as with ForEach.
func Together(fs ...func()) { ForEach(fs, func(f func()) { f() }) }
