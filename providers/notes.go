package providers

import (
	"context"

	"github.com/berth-lb/berth/stack"
)

// Notes keep in the cluster what a session must not forget and no cloud keeps for it, such
// as which members of something that several clusters write are its own. A note goes with
// its Service. Errors are faults.
type Notes interface {
	// Read returns what a note says; nil: there is none.
	Read(ctx context.Context, namespace, name string) (map[string]string, error)
	// Change writes what change makes of what a note says, nil where there is none, if it
	// makes something else of it. Where somebody else writes in between, change is asked again.
	Change(ctx context.Context, of stack.Owner, name string, change func(map[string]string) map[string]string) error
}
