package wire

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// part reads and writes a kind of resource that is inherent in a load balancer or a listener of
// kind LBC, and that no list shows.
type part struct {
	kind stack.Kind
	// ofBalancer reads that of a load balancer by its ARN; nil for parts of listeners.
	ofBalancer func(q *query, arn string) (stack.Spec, error)
	// hasListener reports whether a listener can have it, and ofListener reads it; nil for parts
	// of load balancers.
	hasListener func(l elbv2types.Listener) bool
	ofListener  func(q *query, l elbv2types.Listener) (stack.Spec, error)
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

// planPart plans to read a part, once however many scopes want it.
func (r *networkRead) planPart(id partOf, run func() (stack.Spec, error)) []kit.Detail {
	return r.planOnce(id, func() error {
		spec, err := run()
		if err == nil {
			r.Keep(func() { r.parts[id] = spec })
		}
		return err
	})
}

// planOnce plans a call for details. The kind tells calls about one resource apart.
func (r *networkRead) planOnce(id partOf, run func() error) []kit.Detail {
	if r.planned[id] {
		return nil
	}
	r.planned[id] = true
	return []kit.Detail{{Of: []string{id.arn}, Run: run}}
}

// partJobs read the parts that scopes ask for.
func (r *networkRead) partJobs() []kit.Detail {
	var jobs []kit.Detail
	for _, scope := range r.deep {
		lbs := r.balancersOf(scope)
		for _, p := range listParts() {
			if !wantsDetails(scope, p.kind) {
				continue
			}
			for _, lb := range lbs {
				if p.ofBalancer != nil {
					jobs = append(jobs, r.planPart(partOf{p.kind, lb}, func() (stack.Spec, error) { return p.ofBalancer(r.query, lb) })...)
					continue
				}
				for _, l := range r.listeners[lb] {
					if p.hasListener(l) {
						jobs = append(jobs, r.planPart(partOf{p.kind, awssdk.ToString(l.ListenerArn)}, func() (stack.Spec, error) { return p.ofListener(r.query, l) })...)
					}
				}
			}
		}
	}
	return jobs
}

// partsOf are what was read of a load balancer, listener or target group besides itself.
func (r *networkRead) partsOf(of stack.Resource, proof stack.Proof) []stack.Resource {
	var out []stack.Resource
	for _, kind := range append(model.PartKinds(), model.KindNetworkAttr, model.KindTargets, model.KindTargetAttr) {
		if spec, ok := r.parts[partOf{kind, of.ID}]; ok {
			out = append(out, partIn(of, kind, proof, spec))
		}
	}
	return out
}

func partIn(of stack.Resource, kind stack.Kind, proof stack.Proof, spec stack.Spec) stack.Resource {
	return stack.Resource{Key: stack.Key{Kind: kind, Name: of.Key.Name}, ID: of.ID, In: of.Key, Proof: proof, Spec: spec}
}
