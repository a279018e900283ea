package offline

import (
	"context"
	"fmt"

	"github.com/berth-lb/berth/service/graph"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Topology is the graph of one Service.
type Topology struct {
	FormatVersion string `json:"formatVersion"`
	Provider      string `json:"provider"`
	graph.Graph
	Notes []string `json:"-"`
}

// Graph returns the topology of one Service. It reads the cloud once, as a plan does, and writes
// nothing.
func Graph(ctx context.Context, in Input, t Target) (Topology, error) {
	run, err := draftAll(ctx, in, t)
	if err != nil {
		return Topology{}, err
	}
	asked, err := run.onlyTask()
	if err != nil {
		return Topology{}, err
	}
	return Topology{
		FormatVersion: plan.FormatVersion, Provider: t.Cloud.Name, Notes: run.world.Notes,
		Graph: run.topology(asked),
	}, nil
}

// topology returns the graph of a Service that was planned.
func (p *planning) topology(t *task) graph.Graph {
	return graph.Build(graph.Source{
		Service: t.item.Service, Have: t.draft.Have, Want: t.draft.Want,
		Flows:  p.reconciler.Flows(t.draft),
		Others: func(res stack.Resource) []stack.Owner { return p.reconciler.Others(t.draft.Owner, res) },
	})
}

// Formats lists the legal values of Render's format.
func (Topology) Formats() []string { return []string{"dot", "mermaid", "svg", "json"} }

// Render shows the graph in one of the Formats.
func (t Topology) Render(format string) (string, error) {
	switch format {
	case "dot":
		return t.DOT(), nil
	case "mermaid":
		return t.Mermaid(), nil
	case "svg":
		return t.SVG(), nil
	case "json":
		return encodeJSON(t)
	}
	return "", fmt.Errorf("graph: %w", unknownFormat(format, t.Formats()))
}
