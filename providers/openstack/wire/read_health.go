package wire

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// Health implements providers.Examiner, with one list for each pool. A member that no
// monitor asks is sent to like a healthy one.
// Source: Octavia API v2, "Operating Status Codes".
func (s *Session) Health(ctx context.Context, have *stack.Stack) ([]providers.MemberHealth, error) {
	var out []providers.MemberHealth
	for _, pool := range have.Of(model.KindPool) {
		if pool.ID == "" || pool.Proof == stack.None {
			continue
		}
		found, err := s.listMembers(ctx, pool.ID)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pool.Key, err)
		}
		for _, m := range found {
			out = append(out, providers.MemberHealth{
				Of: pool.Key, Member: net.JoinHostPort(m.Spec.Address, strconv.Itoa(int(m.Spec.Port))), State: m.Operating,
				Healthy: slices.Contains([]string{"ONLINE", "NO_MONITOR"}, m.Operating),
			})
		}
	}
	return out, nil
}
