package explore

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// atStart is the step of a schedule that selects the state in which it begins. Without it
// the cloud is empty.
const atStart = -1

// start is a state of the cloud and of the first Service of a tale in which a schedule
// begins: what a previous process, which has ended, or another cluster has left.
type start struct {
	pick   int
	random *rand.Rand
	state  state
}

// state is a kind of start.
type state string

// The states. In all but the last one the Service exists, and a process has claimed it.
const (
	// halfBuilt has a random part of the load balancer.
	halfBuilt state = "half built"
	// outdated has the load balancer of an earlier spec, without one of the nodes.
	outdated state = "outdated"
	// halfOutdated has a random part of it.
	halfOutdated state = "half built, and outdated"
	// doubled has two load balancers, where the cloud accepts that. Where it does not, the
	// second one is refused.
	doubled state = "doubled"
	// foreign has the load balancer of a Service of the same name in another cluster.
	foreign state = "another cluster's"
)

// startOf returns the start that a schedule selects; nil: an empty cloud.
func startOf(plan Schedule, s Subject) *start {
	i := slices.IndexFunc(plan, func(p Planned) bool { return p.Step == atStart })
	if i < 0 {
		return nil
	}
	out := &start{pick: plan[i].Pick, random: rand.New(rand.NewPCG(uint64(plan[i].Pick), 2))}
	states := []state{halfBuilt, outdated, halfOutdated, doubled}
	if s.Other != nil {
		states = append(states, foreign)
	}
	out.state = states[out.random.IntN(len(states))]
	return out
}

// begin brings the first Service of a tale and what belongs to it into the state, and
// returns the remaining moves. The judge is made when the foreign part exists, which must
// stay.
func (s *start) begin(ctx context.Context, w *world, moves []Move, judge func() error) ([]Move, error) {
	if s == nil || moves[0].Creates == "" {
		return moves, judge()
	}
	if s.state == foreign {
		svc := newService(moves[0].Creates, moves[0].shape)
		svc.UID = "99999999-1f6e-4000-8000-00000000000b"
		if err := w.build(ctx, hand{open: w.subject.Other, svc: svc, fresh: true}); err != nil {
			return nil, err
		}
		return moves, judge()
	}
	if err := judge(); err != nil {
		return nil, err
	}
	moves[0].Do(w)
	svc, err := w.claimed(moves[0].Creates)
	if err != nil {
		return nil, err
	}
	h := hand{open: w.subject.Open, svc: svc}
	switch s.state {
	case halfBuilt:
		h.policies = s.half()
	case halfOutdated:
		h.policies, h.svc = s.half(), earlierSpec(svc)
		h.leave = 1
	case outdated:
		h.svc, h.leave = earlierSpec(svc), 1
	case doubled:
		h.fresh = true
		if err := w.build(ctx, h); err != nil {
			return nil, err
		}
	case foreign: // above
	}
	return moves[1:], w.build(ctx, h)
}

// String is how a story tells it.
func (s *start) String() string { return fmt.Sprintf("begins %s", s.state) }

// half holds a random half of the steps.
func (s *start) half() []plan.StepFilter {
	return []plan.StepFilter{func(plan.Step) plan.Verdict {
		return plan.Verdict{Blocked: s.random.IntN(2) == 0, By: plan.ByPolicy, Policy: "half", Why: "the process ended before"}
	}}
}

// earlierSpec returns a Service before its ports changed.
func earlierSpec(svc *corev1.Service) *corev1.Service {
	out := svc.DeepCopy()
	MorePorts(out)
	out.Spec.Ports = out.Spec.Ports[1:]
	return out
}

// claimed writes to a Service what a process writes before its first step, and returns it.
func (w *world) claimed(name string) (*corev1.Service, error) {
	key := namespace + "/" + name
	all := w.kube.all()
	svc := all[slices.IndexFunc(all, func(svc *corev1.Service) bool { return svc.Name == name })]
	want := service.Classes{Default: true, Names: w.subject.Classes}.Hold(svc)
	want.Now = time.Now()
	body, _ := status.Patch(svc, want)
	return w.kube.patch(key, body)
}

// hand builds the load balancer of a Service, with a reconciler whose calls nothing holds.
type hand struct {
	open     func(ctx context.Context, url string) (providers.Bound, error)
	svc      *corev1.Service
	policies []plan.StepFilter
	fresh    bool // it assumes that the cloud has nothing of the Service
	leave    int  // how many nodes it does not know
}

// build performs the plan of a hand. Steps that the cloud refuses are left out.
func (w *world) build(ctx context.Context, h hand) error {
	bound, err := h.open(ctx, "http://hand-cloud."+w.name)
	if err != nil {
		return err
	}
	r := reconcile.New(bound, reconcile.Options{Now: time.Now, Policies: h.policies})
	nodes := w.projected()
	r.SetNodes(nodes[:len(nodes)-h.leave])
	r.AllKnown()
	for range 2 {
		job := service.JobOf(h.svc, r.Outputs())
		job.NeverProvisioned = h.fresh
		d, err := r.Draft(ctx, *job)
		if err != nil {
			return err
		}
		early := r.Run(ctx, d, plan.OpenGates).Status.Early
		if len(early) == 0 {
			return nil
		}
		if h.svc, err = w.recorded(h.svc, early); err != nil {
			return err
		}
	}
	return nil
}

// recorded writes annotations to a Service that the cloud has before anything is created for it, and returns
// the given form of it with them.
func (w *world) recorded(svc *corev1.Service, early map[string]string) (*corev1.Service, error) {
	svc = svc.DeepCopy()
	if svc.Annotations == nil {
		svc.Annotations = map[string]string{}
	}
	maps.Copy(svc.Annotations, early)
	for _, live := range w.kube.all() {
		if live.UID != svc.UID {
			continue
		}
		if body, differs := status.Patch(live, status.Want{Outputs: early}); differs {
			if _, err := w.kube.patch(live.Namespace+"/"+live.Name, body); err != nil {
				return nil, err
			}
		}
	}
	return svc, nil
}
