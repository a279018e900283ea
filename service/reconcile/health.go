package reconcile

import (
	"cmp"
	"context"
	"errors"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// ErrNoHealth means that the cloud is not asked how members are.
var ErrNoHealth = errors.New("the health of members is not read")

// Health returns how the members of what a draft has found are. It costs calls, and is
// for people who ask; ErrNoHealth where the cloud is not asked.
func (r *Reconciler) Health(ctx context.Context, d *Draft) ([]providers.MemberHealth, error) {
	if r.cloud.Health == nil {
		return nil, ErrNoHealth
	}
	return r.cloud.Health(ctx, d.Have)
}

// Serves tells whether clients connect to resources of a kind.
func (r *Reconciler) Serves(k stack.Kind) bool {
	return r.cloud.Rules.Kinds[k].Role.Is(diff.EntryPoint)
}

// NameOf is what people know a resource by: the name that it has in the cloud, else the
// one in its key, else its identifier.
func NameOf(res stack.Resource) string {
	for _, f := range stack.Fields(res.Spec) {
		if name, ok := f.Value.(string); ok && f.Name == "Name" && name != "" {
			return name
		}
	}
	return cmp.Or(res.Key.Name, res.ID)
}
