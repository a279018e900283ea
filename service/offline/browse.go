package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// ErrNoCloud means that no cloud was given to read.
var ErrNoCloud = errors.New("the cloud is not read: start the command with --release or --provider")

// ReadFleet returns the state of every Service according to the cluster. It does not read the cloud.
func ReadFleet(ctx context.Context, in Input, by Judge) (view.Fleet, error) {
	world, err := Gather(ctx, in)
	if err != nil {
		return view.Fleet{}, err
	}
	return fleetOf(ctx, world, by)
}

func fleetOf(ctx context.Context, world World, by Judge) (view.Fleet, error) {
	found, err := standingsOf(ctx, world, false, by)
	if err != nil {
		return view.Fleet{}, err
	}
	for i := range found.Services {
		found.Services[i].Message = found.Services[i].Summarize()
	}
	return view.Fleet{
		FormatVersion: plan.FormatVersion, Provider: by.Target.Cloud.Name, Total: len(found.Services),
		Services: found.Services, Controller: found.Controller, Notes: world.Notes,
	}, nil
}

// Reading is the state of all Services in cluster and cloud at one moment.
type Reading struct {
	run      *planning
	fleet    view.Fleet
	document plan.Document
	tasks    map[stack.Owner]*task
	plans    map[stack.Owner]*plan.Doc
}

// Read reads cluster and cloud and plans every Service. It writes nothing.
func Read(ctx context.Context, in Input, by Judge) (*Reading, error) {
	if by.Target.Cloud.Name == "" {
		return nil, ErrNoCloud
	}
	world, err := Gather(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &Reading{tasks: map[stack.Owner]*task{}, plans: map[stack.Owner]*plan.Doc{}}
	if out.fleet, err = fleetOf(ctx, world, by); err != nil {
		return nil, err
	}
	if out.run, err = draftWorld(ctx, world, by.Target); err != nil {
		return nil, err
	}
	report := out.run.report()
	out.fleet.Notes, out.document = report.Notes, report.document()
	for i := range out.run.tasks {
		out.tasks[out.run.tasks[i].item.Owner()] = &out.run.tasks[i]
	}
	for i := range out.document.Plans {
		out.plans[out.document.Plans[i].Owner] = &out.document.Plans[i]
	}
	for i := range out.fleet.Services {
		out.addKind(&out.fleet.Services[i])
	}
	return out, nil
}

// addKind adds the kind of load balancer and the impact of the plan.
func (r *Reading) addKind(s *view.Service) {
	t, doc := r.tasks[s.Owner], r.plans[s.Owner]
	if t.draft != nil {
		s.Kind = t.draft.Request.Kind
	}
	switch {
	case t.left != "":
		s.Impact = view.Alone
	case doc != nil:
		s.Impact = weighPlan(*doc).impact()
	}
}

// Fleet returns all Services with the impact of their plans.
func (r *Reading) Fleet() view.Fleet { return r.fleet }

// Plan returns the plan of all Services.
func (r *Reading) Plan() plan.Document { return r.document }

// Shared returns the resources that several Services may use.
func (r *Reading) Shared() view.Shared {
	var holdings []view.Holding
	for _, t := range r.run.tasks {
		if t.draft != nil {
			holdings = append(holdings, view.Holding{Owner: t.item.Owner(), Have: t.draft.Have, Want: t.draft.Want})
		}
	}
	return view.Shared{FormatVersion: plan.FormatVersion, Provider: r.run.target.Cloud.Name, Resources: view.Share(holdings)}
}

// Service returns one Service with its resources, its plan and the health of its members, for
// which it reads the cloud.
func (r *Reading) Service(ctx context.Context, namespace, name string) (view.Service, error) {
	i := slices.IndexFunc(r.fleet.Services, func(s view.Service) bool { return s.Owner.Namespace == namespace && s.Owner.Name == name })
	if i < 0 {
		return view.Service{}, fmt.Errorf("service %s/%s: %w", namespace, name, view.ErrNotFound)
	}
	out := r.fleet.Services[i]
	t := r.tasks[out.Owner]
	if err := r.addEvents(ctx, t.item.Service, &out); err != nil {
		return out, err
	}
	if t.left == "" {
		r.run.examine(ctx, *t, &out)
	}
	out.Message = out.Summarize()
	detail, err := r.detailOf(ctx, t)
	out.Detail = &detail
	return out, err
}

func (r *Reading) addEvents(ctx context.Context, svc *corev1.Service, s *view.Service) error {
	if r.run.world.live == nil {
		return nil
	}
	return addEvents(ctx, r.run.world.live, svc, s)
}

// wants reports whether a resource is desired.
func (t *task) wants(key stack.Key) bool {
	if t.draft.Want == nil {
		return false
	}
	_, ok := t.draft.Want.Get(key)
	return ok
}

// detailOf returns everything that was read and computed for one Service.
func (r *Reading) detailOf(ctx context.Context, t *task) (view.Detail, error) {
	out := view.Detail{Provider: r.run.target.Cloud.Name, Problems: r.run.problems(*t), Plan: r.plans[t.item.Owner()]}
	if t.draft != nil && t.draft.Have != nil {
		for _, res := range t.draft.Have.Resources {
			if t.wants(res.Key) || res.Proof != stack.None {
				out.Have = append(out.Have, plan.Describe(res))
			}
		}
	}
	if err := r.run.explainable(t); err != nil {
		out.Unplanned = conditions.OneLine(err)
	}
	if t.draft == nil || t.draft.Have == nil && t.draft.Want == nil {
		return out, nil
	}
	topology := r.run.topology(t)
	out.Graph = &topology
	if out.Unplanned != "" {
		return out, nil
	}
	explained, err := r.run.explain(ctx, t)
	out.Want, out.Required = explained.Resources, explained.Required
	return out, err
}
