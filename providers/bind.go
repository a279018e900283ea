package providers

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
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
	// NamespaceLabels are the labels that Bound.Labels lists.
	NamespaceLabels map[string]string
	// Over is the one of the Input. The caller that sets it checks it after Build: a stack
	// that was built when it returned true may be incomplete.
	Over func() bool
	// Objects are the ones that Bound.Refers names.
	Objects map[Reference]Object
	// Find is the one of the Input.
	Find func(match func(stack.Owner) bool) (stack.Owner, bool)
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
	Traits
	Requests
	Places
	Stacks
	Pods
	Calls
	Annotations *annotations.Set
	Labels      Labels
}

// Requests answers questions about the request of a Service.
type Requests struct {
	Choose  func(*corev1.Service) Choice
	Reach   func(Request) Reach
	Becomes func(Request, *stack.Stack) Reach  // nil: the desired stack has the reach of the request
	Refers  func(Request) []Reference          // nil: Services refer to nothing
	Exposed func(Request) annotations.Problems // nil: other clouds are unknown
	Select  func(Request) nodeports.Filter
}

// Places returns what to read for a Service.
type Places struct {
	OwnedScope     func(stack.Owner, *corev1.Service) Scope // nil for a Service that no longer exists
	Scope          func(Request) (Scope, error)
	ScopeForCreate func(Request) (Scope, error)
}

// Stacks computes desired stacks, and what follows from stacks.
type Stacks struct {
	Build        func(Request, Facts, *stack.Stack) (*stack.Stack, annotations.Problems, error)
	Forecast     func(Request, Facts, *stack.Stack) []string
	KeepServing  func(Request, Facts, *stack.Stack) *stack.Stack
	BeforeDelete func(stack.Owner, *corev1.Service, *stack.Stack) []stack.Resource
	MayWant      func(stack.Owner, stack.Resource) bool
	Status       func(Request, *stack.Stack) status.Result
}

// Pods describes how pods become backends.
type Pods struct {
	Endpoints   bool
	EndpointsOf func(*corev1.Service) bool     // nil: of all
	Virtual     func(Request) nodeports.Filter // nil: none
	Fallback    func(Request) nodeports.Fallback
	PodsIn      func(*stack.Stack) bool
	Gates       PodGates
}

// Calls are the functions of the session. Those of an optional interface are nil if the session
// does not implement it.
type Calls struct {
	Read    func(context.Context, []Scope) []Read
	Apply   func(context.Context, plan.Batch) []plan.Outcome
	Yield   func(context.Context, plan.Batch)                                    // Yielder
	Orphans func(ctx context.Context, live Live) ([]*stack.Stack, error)         // Sweeper
	Health  func(ctx context.Context, have *stack.Stack) ([]MemberHealth, error) // Examiner

	Diagnose func(context.Context, Roles) []Diagnosis // Diagnoser
}

// Bind closes a cloud over its configuration and an open session.
func Bind[C, F any](cloud Cloud[C, F], config C, cluster string, session Session[F]) Bound {
	identity := func(o stack.Owner) Identity[C] {
		return Identity[C]{Owner: o, Cluster: cluster, Config: config}
	}
	input := func(r Request) Input[C] {
		return Input[C]{Identity: identity(r.Owner), Service: r.Service, Kind: r.Kind, Values: r.Values, Backends: r.Backends, NamespaceLabels: r.NamespaceLabels, Over: r.Over, Objects: r.Objects, Find: r.Find}
	}
	var fresh func(Request) (Scope, error)
	if cloud.ScopeForCreate != nil {
		fresh = func(r Request) (Scope, error) { return cloud.ScopeForCreate(input(r)) }
	}
	reach, becomes := reachOf(cloud, input)
	return Bound{
		Traits: cloud.Traits,
		Requests: Requests{
			Choose: chooseUnder(cloud, config), Reach: reach, Becomes: becomes, Refers: refersOf(cloud, input),
			Select: func(r Request) nodeports.Filter { return cloud.Select(input(r)) },
		},
		Places: Places{
			OwnedScope: ownedScopeOf(cloud, identity),
			Scope: func(r Request) (Scope, error) {
				scope, err := cloud.Scope(input(r))
				scope.Addresses = addressesOf(r.Service)
				return scope, err
			},
			ScopeForCreate: fresh,
		},
		Stacks: bindStacks(cloud, identity, input),
		Pods: Pods{
			Endpoints:   cloud.Endpoints || cloud.EndpointsIf != nil && cloud.EndpointsIf(config),
			EndpointsOf: endpointsOf(cloud, config), Virtual: virtualOf(cloud, input), Fallback: fallbackOf(cloud, input), PodsIn: cloud.PodsIn, Gates: cloud.Gates,
		},
		Calls:       bindCalls(session),
		Annotations: cloud.AnnotationsUnder(config), Labels: labelsOf(cloud, config),
	}
}

// bindStacks closes the functions that compute stacks. Absent facts are the zero value.
func bindStacks[C, F any](cloud Cloud[C, F], identity func(stack.Owner) Identity[C], input func(Request) Input[C]) Stacks {
	facts := func(f Facts) F {
		out, _ := f.(F) // of a read of this cloud
		return out
	}
	out := Stacks{
		Build: func(r Request, f Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
			return cloud.Build(input(r), facts(f), have)
		},
		MayWant: func(o stack.Owner, entry stack.Resource) bool { return cloud.MayWant(identity(o), entry) },
		Status:  func(r Request, have *stack.Stack) status.Result { return cloud.Status(input(r), have) },
	}
	if cloud.Forecast != nil {
		out.Forecast = func(r Request, f Facts, have *stack.Stack) []string { return cloud.Forecast(input(r), facts(f), have) }
	}
	if cloud.KeepServing != nil {
		out.KeepServing = func(r Request, f Facts, have *stack.Stack) *stack.Stack {
			return cloud.KeepServing(input(r), facts(f), have)
		}
	}
	if cloud.BeforeDelete != nil {
		out.BeforeDelete = func(o stack.Owner, svc *corev1.Service, have *stack.Stack) []stack.Resource {
			return cloud.BeforeDelete(identity(o), svc, have)
		}
	}
	return out
}

// bindCalls returns the functions of a session, guarded against panics.
func bindCalls[F any](session Session[F]) Calls {
	out := Calls{
		Read: guardedRead(func(ctx context.Context, scopes []Scope) []Read {
			found := session.Read(ctx, scopes)
			out := make([]Read, len(found))
			for i, f := range found {
				out[i] = Read{Have: f.Have, Facts: f.Facts, Blind: f.Blind, At: f.At, Err: f.Err}
			}
			return out
		}),
		Apply:    guardedApply(session.Apply),
		Health:   healthOf(session),
		Diagnose: diagnoseOf(session),
	}
	if yielder, ok := session.(Yielder); ok {
		out.Yield = yielder.Yield
	}
	if sweeper, ok := session.(Sweeper); ok {
		out.Orphans = sweeper.Orphans
	}
	return out
}

// AnnotationsUnder returns the annotations of the cloud under the configuration.
func (c Cloud[C, F]) AnnotationsUnder(config C) *annotations.Set {
	if c.Settings == nil {
		return c.Annotations
	}
	return c.Annotations.WithSettings(c.Settings(config))
}

// ownedScopeOf calls OwnedScope with the annotations that it may use.
func ownedScopeOf[C, F any](cloud Cloud[C, F], identity func(stack.Owner) Identity[C]) func(stack.Owner, *corev1.Service) Scope {
	return func(o stack.Owner, svc *corev1.Service) Scope {
		id := identity(o)
		id.Places = placesOf(svc, cloud.OnDelete, cloud.Outputs)
		if svc != nil {
			id.Ports = nodeports.Ports(svc)
		}
		scope := cloud.OwnedScope(id)
		scope.Addresses = addressesOf(svc)
		return scope
	}
}

// addressesOf returns the addresses and host names of the status of a Service.
func addressesOf(svc *corev1.Service) (out []string) {
	if svc == nil {
		return nil
	}
	for _, at := range svc.Status.LoadBalancer.Ingress {
		out = append(out, cmp.Or(at.IP, at.Hostname))
	}
	return out
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

// virtualOf is Virtual without the types of the cloud; nil if no node is virtual.
func virtualOf[C, F any](cloud Cloud[C, F], input func(Request) Input[C]) func(Request) nodeports.Filter {
	if cloud.Virtual == nil {
		return nil
	}
	return func(r Request) nodeports.Filter { return cloud.Virtual(input(r)) }
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

// chooseUnder is Choose under the configuration.
func chooseUnder[C, F any](cloud Cloud[C, F], config C) func(*corev1.Service) Choice {
	if cloud.ChooseUnder == nil {
		return cloud.Choose
	}
	return func(svc *corev1.Service) Choice { return cloud.ChooseUnder(config, svc) }
}

// Leaving returns a choice under a configuration that leaves some Services alone: left explains to the user
// why, and is empty for a Service that is served.
func Leaving[C any](choose func(*corev1.Service) Choice, left func(C, *corev1.Service) string) func(C, *corev1.Service) Choice {
	return func(config C, svc *corev1.Service) Choice {
		choice := choose(svc)
		if choice.Elsewhere == "" {
			if why := left(config, svc); why != "" {
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
