package model

import (
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Build returns the desired stack of a Service. It is a function of its arguments: no call,
// no clock.
func Build(in Input, _ struct{}, _ *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	out := &stack.Stack{}
	notice, problems := noticeOf(in)
	out.Put(stack.Resource{Key: BalancerKey(), Spec: Balancer{Name: NameOf(in.Config, in.Cluster, in.Owner), Internal: internalKey.Get(in.Values), Notice: notice}})
	out.Put(stack.Resource{Key: MachinesKey(), In: BalancerKey(), Spec: Machines{Names: in.Backends.Nodes.Names()}})
	for _, p := range in.Backends.Ports {
		l := Listener{Protocol: string(p.Protocol), Port: p.Port, NodePort: p.NodePort}
		key := ListenerKey(l.Protocol, l.Port)
		out.Put(stack.Resource{Key: key, In: BalancerKey(), Slot: key.Name, Spec: l})
		out.Put(stack.Resource{Key: OpeningKey(strings.ToLower(l.Protocol)), Ownership: stack.Shared, Spec: Opening{strings.ToLower(l.Protocol)}})
	}
	problems = append(problems, Capability().Judge(in.Service, in.Backends)...)
	return out, append(problems, Capability().Exceeds(providers.SizeOf(Capability(), in.Service))...), nil
}

// KeepServing returns the desired state of a Service that cannot be built, because of a
// user's typing error for example: the existing resources, with the current machines as
// backends.
func KeepServing(in Input, _ struct{}, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{}
	for _, r := range have.Resources {
		if r.Key.Kind == KindMachines {
			r.Spec = Machines{Names: in.Backends.Nodes.Names()}
		}
		out.Put(r)
	}
	return out
}

// Rules returns how each kind may change, and which changes wait for each other.
func Rules() diff.Rules {
	return diff.Rules{Lock: lockBalancer, Kinds: map[stack.Kind]diff.Rule{
		// The API refuses a second load balancer of a name, so the old one is deleted first. One
		// that is busy takes the next change later, and the session waits for that.
		KindBalancer: BalancerCodec().Rule(diff.Rule{
			Replace: diff.DeleteFirst,
			Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"replace": plan.Interrupts, "delete": plan.Interrupts}},
		}),
		KindListener: ListenerCodec().Rule(diff.Rule{Traffic: diff.Traffic{Role: diff.Port, Impact: map[string]plan.Impact{"delete": plan.Interrupts}}, Within: diff.Within{Cascade: true}}),
		// Every load balancer has its list of machines from the start: an empty one.
		KindMachines: {
			Traffic: diff.Traffic{Role: diff.Members, FollowsBackends: true},
			Within:  diff.Within{Inherent: true, Cascade: true, Default: func(stack.Resource) stack.Spec { return Machines{} }},
		},
		KindOpening: {Traffic: diff.Traffic{Role: diff.Admits}, Clash: diff.Returned},
	}}
}

// lockBalancer has the changes of one load balancer, and of what is in it, made one after the
// other, of whichever Service: the API refuses others meanwhile.
func lockBalancer(_ stack.Owner, r stack.Resource, found func(stack.Key) (stack.Resource, bool)) []string {
	if r.Key.Kind == KindOpening {
		return nil
	}
	if lb, ok := found(BalancerKey()); ok && lb.ID != "" {
		return []string{"balancer " + lb.ID}
	}
	return nil
}
