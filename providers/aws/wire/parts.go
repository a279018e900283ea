package wire

import (
	"maps"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// part reads and writes a kind of resource that is inherent in a load balancer or a listener of
// kind LBC, and that no list shows.
type part struct {
	kind stack.Kind
	// ofBalancer reads that of a load balancer by its ARN; nil for parts of listeners.
	ofBalancer func(r *read, arn string) (stack.Spec, error)
	// hasListener reports whether a listener can have it, and ofListener reads it; nil for parts
	// of load balancers.
	hasListener func(l elbv2types.Listener) bool
	ofListener  func(r *read, l elbv2types.Listener) (stack.Spec, error)
	verbs       kit.Verbs[*Session]
}

// listParts returns all kinds of parts.
func listParts() []part {
	return []part{certificatesPart(), listenerAttributesPart(), capacityPart()}
}

// partOf identifies a part that was read: its kind, and the ARN of what it is inherent in.
type partOf struct {
	kind stack.Kind
	arn  string
}

// partVerbs are the calls that write parts.
func partVerbs() kit.Verbs[*Session] {
	out := kit.Verbs[*Session]{}
	for _, p := range listParts() {
		maps.Copy(out, p.verbs)
	}
	return out
}

// partJobs read the parts that a scope asks for and that are not planned yet.
func (r *read) partJobs(scope providers.Scope, planned map[partOf]bool) []kit.Detail {
	if scope.Depth != providers.Deep {
		return nil
	}
	lbs, _ := r.sharedBalancers(scope)
	if lb := arnOf(r.networkLBs[r.balancerOf(scope)]); lb != "" {
		lbs = append(lbs, lb)
	}
	var jobs []kit.Detail
	add := func(id partOf, run func() (stack.Spec, error)) {
		if planned[id] {
			return
		}
		planned[id] = true
		jobs = append(jobs, kit.Detail{Of: []string{id.arn}, Run: func() error {
			spec, err := run()
			if err == nil {
				r.Keep(func() { r.inherent[id] = spec })
			}
			return err
		}})
	}
	for _, p := range listParts() {
		if !wantsDetails(scope, p.kind) {
			continue
		}
		for _, lb := range lbs {
			if p.ofBalancer != nil {
				add(partOf{p.kind, lb}, func() (stack.Spec, error) { return p.ofBalancer(r, lb) })
				continue
			}
			for _, l := range r.listeners[lb] {
				if p.hasListener(l) {
					add(partOf{p.kind, awssdk.ToString(l.ListenerArn)}, func() (stack.Spec, error) { return p.ofListener(r, l) })
				}
			}
		}
	}
	return jobs
}

// balancerParts are what was read of a load balancer besides itself.
func (r *read) balancerParts(lb stack.Resource) []stack.Resource {
	var out []stack.Resource
	if values, ok := r.attributes[lb.ID]; ok {
		out = append(out, partIn(lb, model.KindNetworkAttr, model.AttributesOfNetwork(values)))
	}
	return append(out, r.partsOf(lb)...)
}

// listenerParts are what was read of a listener besides itself. If that could not be read, the
// Service cannot be planned: its parts would count as absent.
func (r *read) listenerParts(v *view, listener stack.Resource) []stack.Resource {
	v.seen = append(v.seen, listener.ID)
	return r.partsOf(listener)
}

func (r *read) partsOf(parent stack.Resource) []stack.Resource {
	var out []stack.Resource
	for _, p := range listParts() {
		if spec, ok := r.inherent[partOf{p.kind, parent.ID}]; ok {
			out = append(out, partIn(parent, p.kind, spec))
		}
	}
	return out
}

func partIn(parent stack.Resource, kind stack.Kind, spec stack.Spec) stack.Resource {
	return stack.Resource{Key: stack.Key{Kind: kind, Name: parent.Key.Name}, ID: parent.ID, In: parent.Key, Proof: stack.Derived, Spec: spec}
}
