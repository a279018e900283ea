package wire

import (
	"context"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/pools"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack/plan"
)

func writeMembers(c *change, spec model.Members) plan.Outcome {
	return c.Updated(spec, c.Session.putMembers(c.Ctx, balancerOf(c), firstNonBlank(c.Step.Target.ID, c.Parent()), spec))
}

// memberBody is a member in a list that replaces all members of a pool. Omitted fields keep
// their value, so that an obsolete port of the health check is removed by a null, which the
// SDK's own type does not send.
type memberBody map[string]any

// ToBatchMemberUpdateMap implements pools.BatchUpdateMemberOptsBuilder.
func (m memberBody) ToBatchMemberUpdateMap() (map[string]any, error) { return m, nil }

// putMembers replaces the members of a pool: in one call, unless the configuration says
// that the driver takes one at a time.
func (s *Session) putMembers(ctx context.Context, balancer, pool string, spec model.Members) error {
	if s.config.Serial {
		return s.membersOneByOne(ctx, balancer, pool, spec)
	}
	opts := []memberBody{}
	for _, m := range spec.Members {
		one := memberBody{"address": m.Address, "protocol_port": m.Port, "name": m.Name, "monitor_port": nil}
		if m.Subnet != "" {
			one["subnet_id"] = m.Subnet
		}
		if m.Check != 0 {
			one["monitor_port"] = m.Check
		}
		opts = append(opts, one)
	}
	return s.change(ctx, balancer, func(ctx context.Context) error {
		return pools.BatchUpdateMembers(ctx, s.balancer, pool, opts).ExtractErr()
	})
}

// membersOneByOne creates the missing members of a pool, then deletes the obsolete ones. A
// member with another health check port is deleted and recreated.
func (s *Session) membersOneByOne(ctx context.Context, balancer, pool string, spec model.Members) error {
	found, err := s.listMembers(ctx, pool)
	if err != nil {
		return err
	}
	same := func(m model.Member, f pools.Member) bool {
		return m.Address == f.Address && int(m.Port) == f.ProtocolPort && int(m.Check) == f.MonitorPort
	}
	var obsolete, stuck []pools.Member
	for _, f := range found {
		switch {
		case slices.ContainsFunc(spec.Members, func(m model.Member) bool { return same(m, f) }):
		case slices.ContainsFunc(spec.Members, func(m model.Member) bool { return m.Address == f.Address && int(m.Port) == f.ProtocolPort }):
			stuck = append(stuck, f) // blocks the desired one
		default:
			obsolete = append(obsolete, f)
		}
	}
	if err := s.dropMembers(ctx, balancer, pool, stuck); err != nil {
		return err
	}
	for _, m := range spec.Members {
		if slices.ContainsFunc(found, func(f pools.Member) bool { return same(m, f) }) {
			continue
		}
		err := s.change(ctx, balancer, func(ctx context.Context) error {
			_, err := pools.CreateMember(ctx, s.balancer, pool, memberOpts(m)).Extract()
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.dropMembers(ctx, balancer, pool, obsolete)
}

func (s *Session) dropMembers(ctx context.Context, balancer, pool string, members []pools.Member) error {
	for _, m := range members {
		err := s.change(ctx, balancer, func(ctx context.Context) error {
			return pools.DeleteMember(ctx, s.balancer, pool, m.ID).ExtractErr()
		})
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

func (s *Session) listMembers(ctx context.Context, pool string) ([]pools.Member, error) {
	return listAll[pools.Member](ctx, s, bucketBalancer, pools.ListMembers(s.balancer, pool, nil), "members")
}
