package graph

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// Role is the role of a node.
type Role string

// The roles of nodes.
const (
	Port     Role = "port"     // a port of the Service
	Resource Role = "resource" // a resource in the cloud
	Member   Role = "member"   // a node or pod that receives traffic
	Service  Role = "service"  // another Service that uses a shared resource
)

// State is the state of a resource.
type State string

// The states of resources.
const (
	Existing State = ""        // exists in the cloud
	Missing  State = "missing" // is desired and does not exist
	Unwanted State = "surplus" // exists and is not desired
)

// Node is a node of the graph.
type Node struct {
	ID    string `json:"id"` // unique in the graph
	Role  Role   `json:"role"`
	Label string `json:"label"`
	State State  `json:"state,omitempty"`
	// Shared means that other Services use the resource too, or may use it.
	Shared bool `json:"shared,omitempty"`
}

// Edge leads from a node to one that it sends traffic to, consists of, or refers to.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Graph is the topology of one Service.
type Graph struct {
	Owner stack.Owner `json:"owner"`
	Nodes []Node      `json:"nodes"` // never nil
	Edges []Edge      `json:"edges"` // never nil
}

// Source is the input of a graph.
type Source struct {
	Service *corev1.Service
	// Have and Want are the existing and the desired stack; nil: there is none.
	Have, Want *stack.Stack
	// Flows of the existing stack, and of the desired one for what does not exist.
	Flows []traffic.Flow
	// Others returns the other Services that use a shared resource.
	Others func(stack.Resource) []stack.Owner
}

// mostMembers is the number of members that are shown one by one.
const mostMembers = 12

// Build returns the graph of a Service.
func Build(in Source) Graph {
	b := &builder{in: in, nodes: map[string]*Node{}, edges: map[Edge]bool{}}
	b.addResources()
	b.addFlows()
	return b.finish()
}

type builder struct {
	in    Source
	nodes map[string]*Node
	edges map[Edge]bool
}

func (b *builder) add(n Node) string {
	if b.nodes[n.ID] == nil {
		b.nodes[n.ID] = &n
	}
	return n.ID
}

func (b *builder) link(from, to string) {
	if from != to && b.nodes[from] != nil && b.nodes[to] != nil {
		b.edges[Edge{from, to}] = true
	}
}

// addResources adds every resource, what it is a part of, what it refers to, and the other Services that share it.
func (b *builder) addResources() {
	all := map[stack.Key]stack.Resource{}
	for _, s := range []*stack.Stack{b.in.Want, b.in.Have} {
		if s == nil {
			continue
		}
		for _, res := range s.Resources {
			if _, desired := all[res.Key]; s == b.in.Have && !desired && res.Proof == stack.None {
				continue // found beside the resources of the Service
			}
			all[res.Key] = res // the existing one has the identifier
		}
	}
	for key, res := range all {
		b.add(Node{ID: key.String(), Role: Resource, Label: key.String(), State: b.stateOf(key), Shared: res.Ownership == stack.Shared})
	}
	for key, res := range all {
		b.link(res.In.String(), key.String())
		for _, ref := range stack.Refs(res.Spec) {
			b.link(key.String(), ref.To.String())
		}
		if res.Ownership != stack.Shared || b.in.Others == nil {
			continue
		}
		for _, other := range b.in.Others(res) {
			b.link(b.add(Node{ID: "service " + other.String(), Role: Service, Label: other.String()}), key.String())
		}
	}
}

func (b *builder) stateOf(key stack.Key) State {
	has := func(s *stack.Stack) bool {
		if s == nil {
			return false
		}
		_, ok := s.Get(key)
		return ok
	}
	switch {
	case !has(b.in.Have):
		return Missing
	case b.in.Want != nil && !has(b.in.Want):
		return Unwanted
	}
	return Existing
}

// addFlows adds the ports and the members of each flow. A port leads to the first resource that
// is a part of another one, such as the listener of a load balancer; the last resource on the way
// from there, and every other one that the flow needs, such as a rule of a firewall, lead to the
// members.
func (b *builder) addFlows() {
	for _, f := range b.in.Flows {
		through := slices.DeleteFunc(slices.Clone(f.Through), func(k stack.Key) bool { return b.nodes[k.String()] == nil })
		if len(through) == 0 {
			continue
		}
		label := fmt.Sprintf("%d/%s", f.Port, f.Protocol)
		first := b.entryOf(through)
		entry, joined := first.String(), b.joinParts(first, through)
		b.link(b.add(Node{ID: "port " + label, Role: Port, Label: label}), entry)
		last, reached := b.follow(entry, through)
		ends := []string{last}
		for _, key := range through {
			id := key.String()
			if (joined || !reached[id]) && !b.leadsTo(id, reached) {
				ends = append(ends, id)
			}
		}
		for _, member := range b.membersOf(f, last) {
			for _, id := range ends {
				b.link(id, member)
			}
		}
	}
}

// entryOf returns the resource to which a port leads.
func (b *builder) entryOf(through []stack.Key) stack.Key {
	for _, key := range through {
		for _, parent := range through {
			if b.edges[Edge{parent.String(), key.String()}] && b.partOf(key) == parent {
				return key
			}
		}
	}
	return through[0]
}

// joinParts links an entry to the other parts of an object that is no resource of its own, as the
// frontends of a load balancer that several Services use to its pool, and the pool to what is in it.
// It reports whether there are such parts.
func (b *builder) joinParts(entry stack.Key, through []stack.Key) bool {
	parent := b.partOf(entry)
	if parent == (stack.Key{}) || b.nodes[parent.String()] != nil {
		return false
	}
	from := entry
	for _, key := range through {
		if key == entry || b.partOf(key) != parent {
			continue
		}
		b.link(from.String(), key.String())
		if from == entry {
			from = key
		}
	}
	return from != entry
}

// partOf returns the resource that another one is a part of.
func (b *builder) partOf(key stack.Key) stack.Key {
	for _, s := range []*stack.Stack{b.in.Have, b.in.Want} {
		if s == nil {
			continue
		}
		if res, ok := s.Get(key); ok {
			return res.In
		}
	}
	return stack.Key{}
}

// follow returns the last resource on the way from an entry along the resources of a flow, and
// all resources on it.
func (b *builder) follow(entry string, through []stack.Key) (last string, reached map[string]bool) {
	last, reached = entry, map[string]bool{entry: true}
	for next := []string{entry}; len(next) > 0; {
		at := next[0]
		next = next[1:]
		for _, key := range through {
			if id := key.String(); b.edges[Edge{at, id}] && !reached[id] {
				reached[id], last = true, id
				next = append(next, id)
			}
		}
	}
	return last, reached
}

// leadsTo reports whether a resource leads to one of a set, as a load balancer to its listeners, and
// an address to its load balancer.
func (b *builder) leadsTo(id string, set map[string]bool) bool {
	seen := map[string]bool{id: true}
	for next := []string{id}; len(next) > 0; next = next[1:] {
		for edge := range b.edges {
			if edge.From != next[0] || seen[edge.To] {
				continue
			}
			if set[edge.To] {
				return true
			}
			seen[edge.To] = true
			next = append(next, edge.To)
		}
	}
	return false
}

// membersOf adds the members of a flow and returns their identifiers. Many of them are one node.
func (b *builder) membersOf(f traffic.Flow, last string) []string {
	if len(f.To) > mostMembers {
		return []string{b.add(Node{ID: "members of " + last, Role: Member, Label: fmt.Sprintf("%d members", len(f.To))})}
	}
	var out []string
	for _, to := range f.To {
		label := fmt.Sprintf("%s:%d", to.Name, to.Port)
		out = append(out, b.add(Node{ID: "member " + label, Role: Member, Label: label}))
	}
	return out
}

func (b *builder) finish() Graph {
	out := Graph{Nodes: []Node{}, Edges: []Edge{}}
	if svc := b.in.Service; svc != nil {
		out.Owner = stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)}
	}
	for _, n := range b.nodes {
		out.Nodes = append(out.Nodes, *n)
	}
	slices.SortFunc(out.Nodes, func(x, y Node) int {
		return cmp.Or(cmp.Compare(rankRole(x.Role), rankRole(y.Role)), cmp.Compare(x.ID, y.ID))
	})
	for e := range b.edges {
		out.Edges = append(out.Edges, e)
	}
	slices.SortFunc(out.Edges, func(x, y Edge) int { return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To)) })
	return out
}

func rankRole(r Role) int { return slices.Index([]Role{Port, Service, Resource, Member}, r) }
