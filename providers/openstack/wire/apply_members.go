package wire

import (
	"context"
	"net/http"
	"slices"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit/codec"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack/plan"
)

func writeMembers(c *change, spec model.Members) plan.Outcome {
	return c.Updated(spec, c.Session.putMembers(c.Ctx, balancerOf(c), firstNonBlank(c.Step.Target.ID, c.Parent()), spec))
}

// membersOf returns a call about members of a pool.
func (s *Session) membersOf(method, pool string, id ...string) request {
	r := s.request(method, model.PoolCodec().Path, append([]string{pool, "members"}, id...)...)
	r.operation = model.MemberCodec().Operation(method)
	return r
}

// putMembers replaces the members of a pool: in one call, unless the configuration says
// that the driver takes one at a time.
func (s *Session) putMembers(ctx context.Context, balancer, pool string, spec model.Members) error {
	if s.config.Serial {
		return s.membersOneByOne(ctx, balancer, pool, spec)
	}
	kind, bodies := model.MemberCodec(), []codec.Object{}
	for _, m := range spec.Members {
		bodies = append(bodies, kind.Replace(m, nil))
	}
	r := s.membersOf(http.MethodPut, pool)
	r.body = codec.Object{kind.Many: bodies}
	return s.change(ctx, balancer, r, nil)
}

// membersOneByOne creates the missing members of a pool, then deletes the obsolete ones. A
// member with another health check port is deleted and recreated.
func (s *Session) membersOneByOne(ctx context.Context, balancer, pool string, spec model.Members) error {
	found, err := s.listMembers(ctx, pool)
	if err != nil {
		return err
	}
	takesPlace := func(m model.Member, f member) bool { return m.Address == f.Spec.Address && m.Port == f.Spec.Port }
	same := func(m model.Member, f member) bool { return takesPlace(m, f) && m.Check == f.Spec.Check }
	var obsolete, stuck []member
	for _, f := range found {
		switch {
		case slices.ContainsFunc(spec.Members, func(m model.Member) bool { return same(m, f) }):
		case slices.ContainsFunc(spec.Members, func(m model.Member) bool { return takesPlace(m, f) }):
			stuck = append(stuck, f) // blocks the desired one
		default:
			obsolete = append(obsolete, f)
		}
	}
	if err := s.dropMembers(ctx, balancer, pool, stuck); err != nil {
		return err
	}
	for _, m := range spec.Members {
		if slices.ContainsFunc(found, func(f member) bool { return same(m, f) }) {
			continue
		}
		r := s.membersOf(http.MethodPost, pool)
		r.body = codec.Object{model.MemberCodec().One: model.MemberCodec().Create(m, nil)}
		if err := s.change(ctx, balancer, r, nil); err != nil {
			return err
		}
	}
	return s.dropMembers(ctx, balancer, pool, obsolete)
}

func (s *Session) dropMembers(ctx context.Context, balancer, pool string, members []member) error {
	for _, m := range members {
		if err := s.change(ctx, balancer, s.membersOf(http.MethodDelete, pool, m.ID), nil); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// member is a member in an answer.
type member = item[model.Member]

func (s *Session) listMembers(ctx context.Context, pool string) ([]member, error) {
	kind := model.MemberCodec()
	return listPages(ctx, s, s.membersOf(http.MethodGet, pool), nil, kind.Many, func(text []byte) (member, error) { return decodeItem(kind, text) })
}
