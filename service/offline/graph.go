package offline

import (
	"context"
	"fmt"

	"github.com/berth-lb/berth/service/graph"
	"github.com/berth-lb/berth/service/reconcile"
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
		Graph: graph.Build(graph.Source{
			Service: asked.item.Service, Have: asked.draft.Have, Want: asked.draft.Want,
			Flows: run.reconciler.Flows(asked.draft), Others: run.others(asked.draft),
		}),
	}, nil
}

func (p *planning) others(d *reconcile.Draft) func(stack.Resource) []stack.Owner {
	return func(res stack.Resource) []stack.Owner { return p.reconciler.Others(d, res) }
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
