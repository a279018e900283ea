package wire

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// What Google says of a member. Draining is sent what is open, and nothing new.
// Source: Compute Engine API reference, HealthStatus.healthState.
const (
	stateHealthy = "HEALTHY"
	stateUnknown = "UNKNOWN" // ours: there is no answer for it yet
)

// judged is a question for the health of members, and whose they are.
type judged struct {
	of   stack.Key
	call func(ctx context.Context) ([]*computepb.HealthStatus, error)
	one  string // the instance that is asked for; empty: all of a group
}

// Health implements providers.Examiner: one call for each instance of a target pool, and
// for each group of a backend service.
func (s *Session) Health(ctx context.Context, have *stack.Stack) ([]providers.MemberHealth, error) {
	var questions []judged
	for r, spec := range stack.Each[model.Pool](have, model.KindPool) {
		if r.ID != "" && r.Proof != stack.None {
			questions = append(questions, s.askPool(r, spec)...)
		}
	}
	for r, spec := range stack.Each[model.Backend](have, model.KindBackend) {
		if r.ID != "" && r.Proof != stack.None {
			questions = append(questions, s.askBackend(r, spec, have)...)
		}
	}
	type answer struct {
		members []providers.MemberHealth
		err     error
	}
	answers := make([]answer, len(questions))
	numbers := make([]int, len(questions))
	for i := range numbers {
		numbers[i] = i
	}
	kit.ForEach(numbers, func(i int) {
		found, err := questions[i].call(ctx)
		if err != nil {
			err = fmt.Errorf("%s: %w", questions[i].of, err)
		}
		answers[i] = answer{questions[i].members(found), err}
	})
	var out []providers.MemberHealth
	for _, a := range answers {
		if a.err != nil {
			return nil, a.err
		}
		out = append(out, a.members...)
	}
	return out, nil
}

func (s *Session) askPool(r stack.Resource, spec model.Pool) []judged {
	var out []judged
	for _, instance := range spec.Instances {
		out = append(out, judged{of: r.Key, one: model.LastOf(instance), call: func(ctx context.Context) ([]*computepb.HealthStatus, error) {
			a, err := readCall(ctx, s.poolAPI.GetHealth, &computepb.GetHealthTargetPoolRequest{
				Project: s.config.Project, Region: s.config.Region, TargetPool: spec.Name,
				InstanceReferenceResource: &computepb.InstanceReference{Instance: new(s.urlOf(instance))},
			})
			return a.GetHealthStatus(), err
		}})
	}
	return out
}

func (s *Session) askBackend(r stack.Resource, spec model.Backend, have *stack.Stack) []judged {
	var out []judged
	for _, ref := range spec.Groups {
		of, id := r.Key, ref.ID
		if group, ok := have.Get(ref.To); ok {
			of, id = group.Key, group.ID
		}
		if id == "" {
			continue
		}
		out = append(out, judged{of: of, call: func(ctx context.Context) ([]*computepb.HealthStatus, error) {
			a, err := readCall(ctx, s.backendAPI.GetHealth, &computepb.GetHealthRegionBackendServiceRequest{
				Project: s.config.Project, Region: s.config.Region, BackendService: spec.Name,
				ResourceGroupReferenceResource: &computepb.ResourceGroupReference{Group: new(s.urlOf(id))},
			})
			return a.GetHealthStatus(), err
		}})
	}
	return out
}

// members are those of an answer, which has one line for each address of the load
// balancer: a member is as healthy as the worst of its lines.
func (q judged) members(found []*computepb.HealthStatus) []providers.MemberHealth {
	worst := map[string]string{}
	if q.one != "" {
		worst[q.one] = ""
	}
	for _, h := range found {
		name := model.LastOf(h.GetInstance())
		for _, state := range []string{h.GetHealthState(), h.GetIpv6HealthState()} {
			if was := worst[name]; state != "" && (was == "" || was == stateHealthy) {
				worst[name] = state
			}
		}
	}
	var out []providers.MemberHealth
	for name, state := range worst {
		h := providers.MemberHealth{Of: q.of, Member: name, State: cmp.Or(state, stateUnknown), Healthy: state == stateHealthy}
		if state == "" {
			h.Why = "Google Cloud has not told its health yet"
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b providers.MemberHealth) int { return cmp.Compare(a.Member, b.Member) })
	return out
}
