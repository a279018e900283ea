package wire

import (
	"context"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Orphans implements providers.Sweeper. The default name tells the cluster and the Service's
// UID. Load balancers with other names are not recognized.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	all, err := listAll[balancerDoc](ctx, s, "load_balancers")
	if err != nil {
		return nil, err
	}
	var scopes []providers.Scope
	for _, d := range all {
		uid, ok := model.OwnerOf(d.Name, s.config.ClusterID)
		belongs := func(o stack.Owner) bool { return strings.ReplaceAll(o.UID, "-", "") == uid }
		if !ok || d.Provisioning == deletePending || slices.ContainsFunc(live.Services, belongs) {
			continue
		}
		owner := stack.Owner{Name: d.Name, UID: uid}
		scopes = append(scopes, model.OwnedScope(providers.Identity[model.Config]{Owner: owner, Config: s.config}))
	}
	return kit.Orphans(s.Read(ctx, scopes), func(*stack.Stack) (bool, error) { return true, nil })
}
