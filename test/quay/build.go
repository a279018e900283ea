package quay

import (
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// The kinds of resources, in the cloud's own words.
const (
	kindBalancer stack.Kind = "balancer"
	kindListener stack.Kind = "listener"
	kindMachines stack.Kind = "machines"
	kindOpening  stack.Kind = "opening"
)

// Balancer is a load balancer.
type Balancer struct {
	Name     string
	Internal bool
}

// Listener forwards a port.
type Listener struct {
	Protocol string // TCP or UDP
	Port     int32
	NodePort int32
}

// Machines are the names of the machines behind a load balancer.
type Machines struct{ Names []string }

// Opening lets a protocol in to all machines of a cluster: all Services share it.
type Opening struct{ Protocol string }

func balancerKey() stack.Key { return stack.Key{Kind: kindBalancer} }

func machinesKey() stack.Key { return stack.Key{Kind: kindMachines} }

func listenerKey(protocol string, port int32) stack.Key {
	return stack.Key{Kind: kindListener, Name: slot(protocol, port)}
}

func openingKey(protocol string) stack.Key { return stack.Key{Kind: kindOpening, Name: protocol} }

// openingOf is the name of a cluster's opening.
func openingOf(cluster, protocol string) string { return cluster + "-" + protocol }

// slot names what two listeners of one load balancer cannot both have, as the API does.
func slot(protocol string, port int32) string {
	return strings.ToLower(protocol) + "-" + strconv.Itoa(int(port))
}

// nameOf returns the name of the load balancer of a Service.
func nameOf(c Config, cluster string, o stack.Owner) string {
	if c.ByName {
		return "k8s-" + cluster + "-" + o.Namespace + "-" + o.Name
	}
	return "k8s-" + o.UID
}

// markOf is what a load balancer carries to say whose it is.
func markOf(c Config, cluster string, o stack.Owner) string {
	if c.ByName {
		return cluster + "/" + o.Namespace + "/" + o.Name
	}
	return cluster + "/" + o.UID
}

// foundByName reports whether the name of a load balancer has no UID.
func foundByName(o stack.Owner, r stack.Resource) bool {
	b, ok := r.Spec.(Balancer)
	return ok && !strings.Contains(b.Name, o.UID)
}

// build says what a Service wants. It is a function of its arguments: no call, no clock.
func build(in providers.Input[Config], _ struct{}, _ *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	out := &stack.Stack{}
	out.Put(stack.Resource{Key: balancerKey(), Spec: Balancer{Name: nameOf(in.Config, in.Cluster, in.Owner), Internal: internalKey.Get(in.Values)}})
	out.Put(stack.Resource{Key: machinesKey(), In: balancerKey(), Spec: Machines{Names: in.Backends.Nodes.Names()}})
	for _, p := range in.Backends.Ports {
		l := Listener{Protocol: string(p.Protocol), Port: p.Port, NodePort: p.NodePort}
		key := listenerKey(l.Protocol, l.Port)
		out.Put(stack.Resource{Key: key, In: balancerKey(), Slot: key.Name, Spec: l})
		out.Put(stack.Resource{Key: openingKey(strings.ToLower(l.Protocol)), Ownership: stack.Shared, Spec: Opening{strings.ToLower(l.Protocol)}})
	}
	problems := append(capability().Judge(in.Service, in.Backends), capability().Exceeds(providers.SizeOf(capability(), in.Service))...)
	return out, problems, nil
}

// keepServing returns the desired state of a Service that cannot be built, because of a
// user's typing error for example: the existing resources, with the current machines as
// backends.
func keepServing(in providers.Input[Config], _ struct{}, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{}
	for _, r := range have.Resources {
		if r.Key.Kind == kindMachines {
			r.Spec = Machines{Names: in.Backends.Nodes.Names()}
		}
		out.Put(r)
	}
	return out
}

// rules say how each kind may change.
func rules() diff.Rules {
	return diff.Rules{Kinds: map[stack.Kind]diff.Rule{
		// The API refuses a second load balancer of a name, so the old one is deleted first.
		kindBalancer: {
			Immutable: []string{"Name", "Internal"}, Replace: diff.DeleteFirst, Role: diff.EntryPoint,
			Impact: map[string]plan.Impact{"replace": plan.Interrupts, "delete": plan.Interrupts},
		},
		kindListener: {Role: diff.Port, Within: diff.Within{Cascade: true}, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
		// Every load balancer has its list of machines from the start: an empty one.
		kindMachines: {
			Role: diff.Members, FollowsBackends: true, Within: diff.Within{Inherent: true, Cascade: true},
			Default: func(stack.Resource) stack.Spec { return Machines{} },
		},
		kindOpening: {Role: diff.Admits, Clash: diff.Returned},
	}}
}
