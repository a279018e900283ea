package reconcile

import (
	"cmp"
	"context"
	"errors"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// ErrNoHealth means that the health of members cannot be read in this cloud.
var ErrNoHealth = errors.New("the health of members is not read")

// Health returns the health of the members of the resources that a draft has found, or
// ErrNoHealth. It costs calls, and is for commands of a user.
func (r *Reconciler) Health(ctx context.Context, d *Draft) ([]providers.MemberHealth, error) {
	if r.cloud.Health == nil {
		return nil, ErrNoHealth
	}
	return r.cloud.Health(ctx, d.Have)
}

// Serves reports whether clients connect to resources of a kind.
func (r *Reconciler) Serves(k stack.Kind) bool {
	return r.cloud.Rules.Kinds[k].Role.Is(diff.EntryPoint)
}

// NameOf returns the name of a resource in the cloud, or else the one in its key, or else its
// identifier.
func NameOf(res stack.Resource) string {
	for _, f := range stack.Fields(res.Spec) {
		if name, ok := f.Value.(string); ok && f.Name == "Name" && name != "" {
			return name
		}
	}
	return cmp.Or(res.Key.Name, res.ID)
}
