package wire

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Orphans implements providers.Sweeper. The default name of a load balancer tells the cluster and the
// Service's UID, and that of a rule of the nodes' security group the UID. Load balancers with other
// names are not recognized.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	all, err := listAll[balancerDoc](ctx, s, "load_balancers")
	if err != nil {
		return nil, err
	}
	group, err := s.nodeRules(ctx)
	if err != nil {
		return nil, err
	}
	named := map[string]string{} // by the UID of the Service
	for _, d := range group.Rules {
		if uid, ok := model.RuleOwner(d.Name); ok {
			named[uid] = d.Name
		}
	}
	for _, d := range all {
		if uid, ok := model.OwnerOf(d.Name, s.config.ClusterID); ok && d.Provisioning != deletePending {
			named[uid] = d.Name
		}
	}
	for _, o := range live.Services {
		delete(named, strings.ReplaceAll(o.UID, "-", ""))
	}
	var scopes []providers.Scope
	for _, uid := range slices.Sorted(maps.Keys(named)) {
		owner := stack.Owner{Name: named[uid], UID: uid}
		scopes = append(scopes, model.OwnedScope(providers.Identity[model.Config]{Owner: owner, Config: s.config}))
	}
	return kit.Orphans(s.Read(ctx, scopes), func(*stack.Stack) (bool, error) { return true, nil })
}
