package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/service/graph"
	"github.com/berth-lb/berth/stack"
)

// Unnamed is shown in place of a Service that a user may not list.
const Unnamed = "a Service of another namespace"

// HideShared returns the shared resources that Services of listable namespaces use. Other users
// have no name, and a resource that may be named after one of them has none either.
func HideShared(all []SharedResource, listable func(namespace string) bool) []SharedResource {
	out := []SharedResource{}
	for _, res := range all {
		var hidden []string
		users := []Use{}
		for _, u := range res.Users {
			if listable(u.Owner.Namespace) {
				users = append(users, u)
				continue
			}
			hidden = append(hidden, u.Owner.Namespace, u.Owner.Name)
		}
		if len(users) == 0 {
			continue
		}
		for range len(hidden) / 2 {
			users = append(users, Use{Owner: stack.Owner{Name: Unnamed}})
		}
		res.Users = users
		if containsAny(res.Key.Name, hidden) {
			res.Key.Name = ""
		}
		if containsAny(res.ID, hidden) {
			res.ID = ""
		}
		out = append(out, res)
	}
	return out
}

// HideInGraph does the same in the graph of a Service that may be listed.
func HideInGraph(g graph.Graph, listable func(namespace string) bool) graph.Graph {
	var hidden []string
	for _, n := range g.Nodes {
		if n.Role == graph.Service && !listable(namespaceOf(n)) {
			hidden = append(hidden, strings.Split(n.Label, "/")...)
		}
	}
	if len(hidden) == 0 {
		return g
	}
	renamed := map[string]string{}
	out := graph.Graph{Owner: g.Owner, Nodes: slices.Clone(g.Nodes), Edges: slices.Clone(g.Edges)}
	for i := range out.Nodes {
		n := &out.Nodes[i]
		id := n.ID
		switch {
		case n.Role == graph.Service && !listable(namespaceOf(*n)):
			n.ID, n.Label = fmt.Sprintf("service %d", i), Unnamed
		case n.Shared && containsAny(id, hidden):
			n.ID, n.Label = fmt.Sprintf("resource %d", i), "shared resource"
		}
		renamed[id] = n.ID
	}
	for i, e := range out.Edges {
		out.Edges[i] = graph.Edge{From: renamed[e.From], To: renamed[e.To]}
	}
	return out
}

// namespaceOf returns the namespace of the Service that a node stands for.
func namespaceOf(n graph.Node) string {
	namespace, _, _ := strings.Cut(n.Label, "/")
	return namespace
}

// containsAny reports whether a text contains one of some names.
func containsAny(text string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return name != "" && strings.Contains(text, name) })
}
