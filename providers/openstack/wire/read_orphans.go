package wire

import (
	"context"
	"slices"
	"strings"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// Orphans implements providers.Sweeper. Names, tags and descriptions tell the cluster
// and the Service; but clusters of one name may share a project, and their nodes alone
// tell them apart. What has only machines of others behind it is left, as is what has
// none where the cluster has the name that all have by default. A floating IP that is
// bound to nothing may be kept on purpose, and is left as well.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	scopes, err := s.marked(ctx, live)
	if err != nil {
		return nil, err
	}
	return kit.Orphans(s.Read(ctx, scopes), func(have *stack.Stack) (bool, error) { return s.ours(ctx, have, live) })
}

// marked are scopes for all Services that marks in the cloud name and the cluster does
// not have.
func (s *Session) marked(ctx context.Context, live providers.Live) ([]providers.Scope, error) {
	lbs, err := s.listBalancers(ctx)
	if err != nil {
		return nil, err
	}
	groups, err := s.listGroups(ctx, nil)
	if err != nil {
		return nil, err
	}
	m := marks{live: live, dead: map[string]*providers.Identity[model.Config]{}}
	for _, lb := range lbs {
		for _, mark := range append([]string{lb.Spec.Name}, lb.Tags...) {
			if o, ok := model.OwnerOf(mark, s.cluster); ok && !m.alive(o) {
				m.identityOf(s, o).Places[model.IDKey()] = lb.ID
			}
		}
	}
	var out []providers.Scope
	for _, g := range groups {
		o, ok := model.GroupOwnerOf(g.Spec.Name, g.Spec.Description, s.cluster)
		switch {
		case !ok || slices.Contains(live.Services, o):
		case m.alive(o): // of a Service that was deleted, and recreated under its name
			out = append(out, providers.Scope{Owner: o, Own: []providers.Lookup{{Kind: model.KindGroup, By: model.ByName, Value: g.Spec.Name}}})
		default:
			m.identityOf(s, o).Owner.UID = o.UID
		}
	}
	for _, id := range m.dead {
		out = append(out, model.OwnedScope(*id))
	}
	slices.SortFunc(out, func(a, b providers.Scope) int { return a.Owner.Compare(b.Owner) })
	return out, nil
}

// marks collects the traces of Services that the cluster does not have.
type marks struct {
	live providers.Live
	dead map[string]*providers.Identity[model.Config]
}

// alive reports whether the cluster has a Service of the name.
func (m marks) alive(o stack.Owner) bool {
	return slices.ContainsFunc(m.live.Services, func(l stack.Owner) bool { return l.Namespace == o.Namespace && l.Name == o.Name })
}

func (m marks) identityOf(s *Session, o stack.Owner) *providers.Identity[model.Config] {
	id := m.dead[o.String()]
	if id == nil {
		id = &providers.Identity[model.Config]{Owner: o, Cluster: s.cluster, Config: s.config, Places: map[string]string{}}
		m.dead[o.String()] = id
	}
	return id
}

// defaultCluster is the name of a cluster that has none of its own.
const defaultCluster = "kubernetes"

// ours reports whether the members of a found stack are machines of this cluster, or it has
// no members and its name is unique to the cluster.
func (s *Session) ours(ctx context.Context, have *stack.Stack, live providers.Live) (bool, error) {
	none := true
	for _, spec := range stack.Each[model.Members](have, model.KindMembers) {
		for _, m := range spec.Members {
			none = false
			if slices.ContainsFunc(live.Nodes, func(n nodeports.Node) bool {
				return m.Name == n.Name || strings.HasPrefix(m.Name, model.SerialPrefix+n.Name+"_")
			}) {
				return true, nil
			}
		}
	}
	var ids []string
	for _, spec := range stack.Each[model.GroupPorts](have, model.KindGroupPorts) {
		ids = append(ids, spec.Ports...)
	}
	ports, err := s.listPorts(ctx, "id", ids)
	for _, p := range ports {
		none = false
		if slices.ContainsFunc(live.Nodes, func(n nodeports.Node) bool { return model.ServerID(n) == p.Device }) {
			return true, err
		}
	}
	return none && s.cluster != defaultCluster, err
}
