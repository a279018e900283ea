package providers

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/status"
)

// Request is an Input without the types of a cloud.
type Request struct {
	Owner    stack.Owner
	Service  *corev1.Service
	Kind     string
	Values   *annotations.Bag
	Backends nodeports.Backends
	// NamespaceLabels are the labels that Bound.Labels lists.
	NamespaceLabels map[string]string
	// Over is the one of the Input. The caller that sets it checks it after Build: a stack
	// that was built when it returned true may be incomplete.
	Over func() bool
	// Objects are the ones that Bound.Refers names.
	Objects map[Reference]Object
}

// Facts are a cloud's facts as the rest of the program passes them around:
// opaque, shared, immutable.
type Facts any

// Read is a Found without the types of a cloud.
type Read struct {
	Have  *stack.Stack
	Facts Facts
	Blind Blind
	At    time.Time
	Err   error
}

// Bound is a cloud with its configuration and its session, as the loop, the command
// line and the tests use it. Functions have the meaning of those of Cloud.
type Bound struct {
	Name           string
	Capabilities   []Capability
	Annotations    *annotations.Set
	Rules          diff.Rules
	Flows          traffic.Func // nil: unknown for this cloud
	Choose         func(*corev1.Service) Choice
	Reach          func(Request) Reach
	Refers         func(Request) []Reference          // nil: Services refer to nothing
	Exposed        func(Request) annotations.Problems // nil: other clouds are unknown
	Becomes        func(Request, *stack.Stack) Reach  // nil: the desired stack has the reach of the request
	Select         func(Request) nodeports.Filter
	OwnedScope     func(stack.Owner, *corev1.Service) Scope // nil for a Service that no longer exists
	ProvenByNodes  bool                                     // as of the Cloud
	FoundByName    func(stack.Owner, stack.Resource) bool   // as of the Cloud
	OnDelete       []string                                 // as of the Cloud
	BeforeDelete   func(stack.Owner, *corev1.Service, *stack.Stack) []stack.Resource
	Scope          func(Request) (Scope, error)
	ScopeForCreate func(Request) (Scope, error)
	Build          func(Request, Facts, *stack.Stack) (*stack.Stack, annotations.Problems, error)
	Forecast       func(Request, Facts, *stack.Stack) []string
	KeepServing    func(Request, Facts, *stack.Stack) *stack.Stack
	MatchFound     func(want, have *stack.Stack) *stack.Stack
	MayWant        func(stack.Owner, stack.Resource) bool
	Status         func(Request, *stack.Stack) status.Result
	Outputs        Outputs
	Endpoints      bool
	EndpointsOf    func(*corev1.Service) bool // nil: of all
	Fallback       func(Request) nodeports.Fallback
	PodsIn         func(*stack.Stack) bool // as of the Cloud
	Labels         Labels
	Gates          PodGates
	Read           func(context.Context, []Scope) []Read
	Apply          func(context.Context, plan.Batch) []plan.Outcome
	// Yield is that of a Yielder; nil if the session is none.
	Yield func(context.Context, plan.Batch)
	// NamedMembers and EachRead are those of the Cloud.
	NamedMembers, EachRead bool
	// Orphans is that of a Sweeper; nil if the session is none.
	Orphans func(ctx context.Context, live Live) ([]*stack.Stack, error)
	// Health is that of an Examiner; nil if the session is none.
	Health func(ctx context.Context, have *stack.Stack) ([]MemberHealth, error)
}

// Bind closes a cloud over its configuration and an open session.
func Bind[C, F any](cloud Cloud[C, F], config C, cluster string, session Session[F]) Bound {
	identity := func(o stack.Owner) Identity[C] {
		return Identity[C]{Owner: o, Cluster: cluster, Config: config}
	}
	input := func(r Request) Input[C] {
		return Input[C]{Identity: identity(r.Owner), Service: r.Service, Kind: r.Kind, Values: r.Values, Backends: r.Backends, NamespaceLabels: r.NamespaceLabels, Over: r.Over, Objects: r.Objects}
	}
	keepServing, forecast := keepServingOf(cloud, input), forecastOf(cloud, input)
	var fresh func(Request) (Scope, error)
	if cloud.ScopeForCreate != nil {
		fresh = func(r Request) (Scope, error) { return cloud.ScopeForCreate(input(r)) }
	}
	reach, becomes := reachOf(cloud, input)
	return Bound{
		Refers:       refersOf(cloud, input),
		Name:         cloud.Name,
		Capabilities: cloud.Capabilities,
		Annotations:  cloud.AnnotationsUnder(config),
		Rules:        cloud.Rules,
		Flows:        cloud.Flows,
		Choose:       chooseUnder(cloud, config),
		Reach:        reach,
		Select:       func(r Request) nodeports.Filter { return cloud.Select(input(r)) },
		OwnedScope:   ownedScopeOf(cloud, identity),
		OnDelete:     cloud.OnDelete, ProvenByNodes: cloud.ProvenByNodes, FoundByName: cloud.FoundByName,
		BeforeDelete: beforeDeleteOf(cloud, identity),
		Scope:        func(r Request) (Scope, error) { return cloud.Scope(input(r)) },
		Build: func(r Request, f Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
			facts, _ := f.(F) // Read below made it; absent facts are the zero value
			return cloud.Build(input(r), facts, have)
		},
		Becomes:        becomes,
		ScopeForCreate: fresh,
		Forecast:       forecast,
		KeepServing:    keepServing,
		MatchFound:     cloud.MatchFound,
		MayWant:        func(o stack.Owner, entry stack.Resource) bool { return cloud.MayWant(identity(o), entry) },
		Status:         func(r Request, have *stack.Stack) status.Result { return cloud.Status(input(r), have) },
		Outputs:        cloud.Outputs,
		Endpoints:      cloud.Endpoints || cloud.EndpointsIf != nil && cloud.EndpointsIf(config),
		EndpointsOf:    endpointsOf(cloud, config),
		Fallback:       fallbackOf(cloud, input),
		PodsIn:         cloud.PodsIn,
		Labels:         labelsOf(cloud, config),
		Gates:          cloud.Gates,
		Read: guardedRead(func(ctx context.Context, scopes []Scope) []Read {
			found := session.Read(ctx, scopes)
			out := make([]Read, len(found))
			for i, f := range found {
				out[i] = Read{Have: f.Have, Facts: f.Facts, Blind: f.Blind, At: f.At, Err: f.Err}
			}
			return out
		}),
		Apply:        guardedApply(session.Apply),
		Yield:        yieldOf(session),
		Orphans:      orphansOf(session),
		Health:       healthOf(session),
		NamedMembers: cloud.NamedMembers, EachRead: cloud.EachRead,
	}
}

// AnnotationsUnder returns the annotations of the cloud under the configuration.
func (c Cloud[C, F]) AnnotationsUnder(config C) *annotations.Set {
	if c.Settings == nil {
		return c.Annotations
	}
	return c.Annotations.WithSettings(c.Settings(config))
}

// keepServingOf is Cloud.KeepServing, if it has one.
func keepServingOf[C, F any](cloud Cloud[C, F], input func(Request) Input[C]) func(Request, Facts, *stack.Stack) *stack.Stack {
	if cloud.KeepServing == nil {
		return nil
	}
	return func(r Request, f Facts, have *stack.Stack) *stack.Stack {
		facts, _ := f.(F)
		return cloud.KeepServing(input(r), facts, have)
	}
}

// forecastOf is Cloud.Forecast, if it has one.
func forecastOf[C, F any](cloud Cloud[C, F], input func(Request) Input[C]) func(Request, Facts, *stack.Stack) []string {
	if cloud.Forecast == nil {
		return nil
	}
	return func(r Request, f Facts, have *stack.Stack) []string {
		facts, _ := f.(F)
		return cloud.Forecast(input(r), facts, have)
	}
}

// ownedScopeOf calls OwnedScope with the annotations that it may use.
func ownedScopeOf[C, F any](cloud Cloud[C, F], identity func(stack.Owner) Identity[C]) func(stack.Owner, *corev1.Service) Scope {
	return func(o stack.Owner, svc *corev1.Service) Scope {
		id := identity(o)
		id.Places = placesOf(svc, cloud.OnDelete, cloud.Outputs)
		if svc != nil {
			id.Ports = nodeports.Ports(svc)
		}
		return cloud.OwnedScope(id)
	}
}

// beforeDeleteOf returns Cloud.BeforeDelete; nil if the cloud has none.
func beforeDeleteOf[C, F any](cloud Cloud[C, F], identity func(stack.Owner) Identity[C]) func(stack.Owner, *corev1.Service, *stack.Stack) []stack.Resource {
	if cloud.BeforeDelete == nil {
		return nil
	}
	return func(o stack.Owner, svc *corev1.Service, have *stack.Stack) []stack.Resource {
		return cloud.BeforeDelete(identity(o), svc, have)
	}
}

// placesOf returns the annotations of a Service, and the labels that the provider has written
// on it, that locate its resources.
func placesOf(svc *corev1.Service, keys []string, written Outputs) map[string]string {
	var out map[string]string
	for _, key := range keys {
		if svc == nil {
			continue
		}
		value := svc.Annotations[key]
		if slices.Contains(written.Labels, key) {
			value = svc.Labels[key]
		}
		if value == "" {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = value
	}
	return out
}

// labelsOf returns the labels that Services depend on under a configuration.
func labelsOf[C, F any](cloud Cloud[C, F], config C) Labels {
	if cloud.Labels == nil {
		return Labels{}
	}
	return cloud.Labels(config)
}

// endpointsOf returns the filter of Services whose pods matter under a configuration; nil: all.
func endpointsOf[C, F any](cloud Cloud[C, F], config C) func(*corev1.Service) bool {
	if cloud.EndpointsOf == nil {
		return nil
	}
	return func(svc *corev1.Service) bool { return cloud.EndpointsOf(config, svc) }
}

// fallbackOf returns Cloud.Fallback, or that of kube-proxy.
func fallbackOf[C, F any](cloud Cloud[C, F], input func(Request) Input[C]) func(Request) nodeports.Fallback {
	if cloud.Fallback == nil {
		return func(r Request) nodeports.Fallback { return nodeports.FallbackOf(r.Service) }
	}
	return func(r Request) nodeports.Fallback { return cloud.Fallback(input(r)) }
}

// refersOf is Refers without the types of the cloud; nil if Services refer to nothing.
func refersOf[C, F any](cloud Cloud[C, F], input func(Request) Input[C]) func(Request) []Reference {
	if cloud.Refers == nil {
		return nil
	}
	return func(r Request) []Reference { return cloud.Refers(input(r)) }
}

// yieldOf is the function of a session that is a Yielder.
func yieldOf(session any) func(context.Context, plan.Batch) {
	yielder, ok := session.(Yielder)
	if !ok {
		return nil
	}
	return yielder.Yield
}

// orphansOf is the function of a session that is a Sweeper.
func orphansOf(session any) func(context.Context, Live) ([]*stack.Stack, error) {
	sweeper, ok := session.(Sweeper)
	if !ok {
		return nil
	}
	return sweeper.Orphans
}

// chooseUnder is Choose with the Services that the configuration leaves to others.
func chooseUnder[C, F any](cloud Cloud[C, F], config C) func(*corev1.Service) Choice {
	if cloud.Left == nil {
		return cloud.Choose
	}
	return func(svc *corev1.Service) Choice {
		choice := cloud.Choose(svc)
		if choice.Elsewhere == "" {
			if why := cloud.Left(config, svc); why != "" {
				return Choice{Elsewhere: why}
			}
		}
		return choice
	}
}

// reachOf returns the reach of a Service and, where the cloud has it, of its desired state.
// The desired state determines the names that the controller may have written itself.
func reachOf[C, F any](cloud Cloud[C, F], input func(Request) Input[C]) (func(Request) Reach, func(Request, *stack.Stack) Reach) {
	asked := func(r Request) Reach { return cloud.Reach(input(r)) }
	if cloud.Becomes == nil {
		return asked, nil
	}
	reach := func(r Request) Reach {
		out := asked(r)
		out.Names = WithoutReported(out.Names)
		return out
	}
	return reach, func(r Request, want *stack.Stack) Reach { return cloud.Becomes(input(r), want) }
}
