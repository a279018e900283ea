package wire

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// Orphans implements providers.Sweeper. Names tell the Service, those of lb its UID
// alone, and none the cluster: a load balancer is this cluster's if a node of it is
// behind it. One that has only nodes of others, or none, is left. Networks that differ
// may have the same addresses, so for addresses alone the network must be the
// configured one, where there is one.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	scopes, err := s.unowned(ctx, live)
	if err != nil {
		return nil, err
	}
	// The nodes behind them have told already whose they are.
	return kit.Orphans(s.Read(ctx, scopes), func(*stack.Stack) (bool, error) { return true, nil })
}

// nobodys are scopes for the Services that load balancers with nodes of the cluster are
// named after, and that the cluster does not have.
func (s *Session) unowned(ctx context.Context, live providers.Live) ([]providers.Scope, error) {
	var out []providers.Scope
	for _, p := range model.Products() {
		all, err := s.listBalancers(ctx, place{p.Balancer, s.config.Compartment})
		if err != nil {
			return nil, err
		}
		for _, d := range all {
			owner, named := model.OwnerOf(p, s.config.Prefix, d.Name)
			gone := d.State == deleting || d.State == deleted
			if !named || gone || slices.ContainsFunc(live.Services, func(o stack.Owner) bool { return o.UID == owner.UID }) {
				continue
			}
			ours, err := s.serves(ctx, p, d, live.Nodes)
			if err != nil {
				return nil, err
			}
			if ours {
				out = append(out, model.OwnedScope(providers.Identity[model.Config]{Owner: owner, Config: s.config}))
			}
		}
	}
	slices.SortFunc(out, func(a, b providers.Scope) int { return a.Owner.Compare(b.Owner) })
	return slices.CompactFunc(out, func(a, b providers.Scope) bool { return a.Owner == b.Owner }), nil
}

// serves reports whether one of the nodes is a backend of a load balancer.
func (s *Session) serves(ctx context.Context, p model.Product, d balancerDoc, nodes []nodeports.Node) (bool, error) {
	near, err := s.near(ctx, p, d)
	if err != nil {
		return false, err
	}
	for name, raw := range d.Sets {
		set, err := setSpec(p, name, raw)
		if err != nil {
			return false, err
		}
		for _, b := range set.Backends {
			address, _ := netip.ParseAddr(b.Address)
			if slices.ContainsFunc(nodes, func(n nodeports.Node) bool {
				byAddress := near && b.Target == "" && (slices.Contains(n.Internal, address) || slices.Contains(n.External, address))
				return byAddress || b.Target != "" && strings.EqualFold(model.InstanceID(n), b.Target)
			}) {
				return true, nil
			}
		}
	}
	return false, nil
}

// near reports whether a load balancer is in the configured network, or no network is
// configured.
func (s *Session) near(ctx context.Context, p model.Product, d balancerDoc) (bool, error) {
	spec := balancerSpec(p, d)
	if s.config.VCN == "" || len(spec.Subnets) == 0 {
		return s.config.VCN == "", nil
	}
	subnet, err := s.subnet(ctx, spec.Subnets[0])
	return subnet.VCN == s.config.VCN, err
}
