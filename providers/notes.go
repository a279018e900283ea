package providers

import (
	"context"

	"github.com/berth-lb/berth/stack"
)

// Notes store in the cluster what a session must remember and no cloud stores for it, such
// as its own members of a resource that several clusters write. A note is deleted with its
// Service. Errors are faults.
type Notes interface {
	// Read returns the contents of a note; nil: there is none.
	Read(ctx context.Context, namespace, name string) (map[string]string, error)
	// Change calls change with the contents of a note, nil if there is none, and writes the
	// result if it differs. After a conflict with another writer, change is called again.
	Change(ctx context.Context, of stack.Owner, name string, change func(map[string]string) map[string]string) error
}
