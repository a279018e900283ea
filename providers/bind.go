package providers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Request is an Input without the types of a cloud.
type Request struct {
	Owner    stack.Owner
	Service  *corev1.Service
	Kind     string
	Values   *annotations.Bag
	Backends nodeports.Backends
	// NamespaceLabels are those that Bound.Labels lists.
	NamespaceLabels map[string]string
}

// Facts are a cloud's facts as the rest of the program passes them around:
// opaque, shared, never written to.
type Facts any

// Read is a Found without the types of a cloud.
type Read struct {
	Have  *stack.Stack
	Facts Facts
	Blind []stack.Kind
	At    time.Time
	Err   error
}

// Bound is a cloud with its configuration and its session: what the loop, the
// command line and the tests work with. Functions mean what those of Cloud do.
type Bound struct {
	Name        string
	Annotations *annotations.Set
	Rules       diff.Rules
	Choose      func(*corev1.Service) Choice
	Reach       func(Request) Reach
	Select      func(Request) nodeports.Filter
	Trace       func(stack.Owner, *corev1.Service) Scope // of a Service that is gone: nil
	Scope       func(Request) (Scope, error)
	Fresh       func(Request) (Scope, error)
	Build       func(Request, Facts, *stack.Stack) (*stack.Stack, annotations.Problems, error)
	Later       func(Request, Facts, *stack.Stack) []string
	Follow      func(Request, Facts, *stack.Stack) *stack.Stack
	Adopt       func(want, have *stack.Stack) *stack.Stack
	Shadow      func(stack.Owner, stack.Resource) bool
	Status      func(Request, *stack.Stack) status.Result
	Outputs     Outputs
	Endpoints   bool
	EndpointsOf func(*corev1.Service) bool // nil: of all
	Labels      Labels
	Read        func(context.Context, []Scope) []Read
	Apply       func(context.Context, plan.Batch) []plan.Outcome
	// Orphans is that of a Sweeper; nil if the session is none.
	Orphans func(ctx context.Context, live Live) ([]*stack.Stack, error)
}

// Bind closes a cloud over its configuration and an open session.
func Bind[C, F any](cloud Cloud[C, F], config C, cluster string, session Session[F]) Bound {
	identity := func(o stack.Owner) Identity[C] {
		return Identity[C]{Owner: o, Cluster: cluster, Config: config}
	}
	input := func(r Request) Input[C] {
		return Input[C]{Identity: identity(r.Owner), Service: r.Service, Kind: r.Kind, Values: r.Values, Backends: r.Backends, NamespaceLabels: r.NamespaceLabels}
	}
	var follow func(Request, Facts, *stack.Stack) *stack.Stack
	if cloud.Follow != nil {
		follow = func(r Request, f Facts, have *stack.Stack) *stack.Stack {
			facts, _ := f.(F)
			return cloud.Follow(input(r), facts, have)
		}
	}
	var later func(Request, Facts, *stack.Stack) []string
	if cloud.Later != nil {
		later = func(r Request, f Facts, have *stack.Stack) []string {
			facts, _ := f.(F)
			return cloud.Later(input(r), facts, have)
		}
	}
	var fresh func(Request) (Scope, error)
	if cloud.Fresh != nil {
		fresh = func(r Request) (Scope, error) { return cloud.Fresh(input(r)) }
	}
	return Bound{
		Name:        cloud.Name,
		Annotations: cloud.Annotations,
		Rules:       cloud.Rules,
		Choose:      cloud.Choose,
		Reach:       func(r Request) Reach { return cloud.Reach(input(r)) },
		Select:      func(r Request) nodeports.Filter { return cloud.Select(input(r)) },
		Trace:       traceOf(cloud, identity),
		Scope:       func(r Request) (Scope, error) { return cloud.Scope(input(r)) },
		Build: func(r Request, f Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
			facts, _ := f.(F) // Read below made it; absent facts are the zero value
			return cloud.Build(input(r), facts, have)
		},
		Fresh:       fresh,
		Later:       later,
		Follow:      follow,
		Adopt:       cloud.Adopt,
		Shadow:      func(o stack.Owner, entry stack.Resource) bool { return cloud.Shadow(identity(o), entry) },
		Status:      func(r Request, have *stack.Stack) status.Result { return cloud.Status(input(r), have) },
		Outputs:     cloud.Outputs,
		Endpoints:   cloud.Endpoints || cloud.EndpointsIf != nil && cloud.EndpointsIf(config),
		EndpointsOf: endpointsOf(cloud, config),
		Labels:      labelsOf(cloud, config),
		Read: func(ctx context.Context, scopes []Scope) []Read {
			found := session.Read(ctx, scopes)
			out := make([]Read, len(found))
			for i, f := range found {
				out[i] = Read{Have: f.Have, Facts: f.Facts, Blind: f.Blind, At: f.At, Err: f.Err}
			}
			return out
		},
		Apply:   session.Apply,
		Orphans: orphansOf(session),
	}
}

// traceOf tells Trace what of the user's words it may know.
func traceOf[C, F any](cloud Cloud[C, F], identity func(stack.Owner) Identity[C]) func(stack.Owner, *corev1.Service) Scope {
	return func(o stack.Owner, svc *corev1.Service) Scope {
		id := identity(o)
		id.Places = placesOf(svc, cloud.OnDelete)
		return cloud.Trace(id)
	}
}

// placesOf are the annotations of a Service that say where something of it is.
func placesOf(svc *corev1.Service, keys []string) map[string]string {
	var out map[string]string
	for _, key := range keys {
		if svc == nil || svc.Annotations[key] == "" {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = svc.Annotations[key]
	}
	return out
}

// labelsOf are those that decide under a configuration.
func labelsOf[C, F any](cloud Cloud[C, F], config C) Labels {
	if cloud.Labels == nil {
		return Labels{}
	}
	return cloud.Labels(config)
}

// endpointsOf tells whose pods matter under a configuration; nil: everybody's.
func endpointsOf[C, F any](cloud Cloud[C, F], config C) func(*corev1.Service) bool {
	if cloud.EndpointsOf == nil {
		return nil
	}
	return func(svc *corev1.Service) bool { return cloud.EndpointsOf(config, svc) }
}

// orphansOf is the function of a session that is a Sweeper.
func orphansOf(session any) func(context.Context, Live) ([]*stack.Stack, error) {
	sweeper, ok := session.(Sweeper)
	if !ok {
		return nil
	}
	return sweeper.Orphans
}
