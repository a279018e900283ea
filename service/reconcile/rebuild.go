package reconcile

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// Variation is a change of the inputs of a draft.
type Variation struct {
	Service      *corev1.Service // replaces that of the draft
	NoNodes      bool            // no node receives traffic
	NoPods       bool            // the Service has no EndpointSlices
	NothingFound bool            // no load balancer exists
}

// Rebuild returns the desired stack of a draft with other inputs, from the facts of the draft. It
// has no effect on the draft, on the ledger or on the cloud. A stack of nil means that the
// Service would not be served.
func (r *Reconciler) Rebuild(d *Draft, v Variation) (*stack.Stack, annotations.Problems, error) {
	svc := v.Service
	if r.cloud.Choose(svc).Elsewhere != "" {
		return nil, nil, nil
	}
	req, problems := r.parseRequest(svc, d.Request.NamespaceLabels)
	req.Objects, req.Over = d.Request.Objects, r.startDeadline(context.Background())
	if problems.Errors() {
		return nil, problems, nil
	}
	nodes, slices := r.nodes.Select(r.cloud.Select(req)), d.Job.Slices
	if v.NoNodes {
		nodes = nodeports.NodeSet{}
	}
	virtual := r.virtualNodes(req)
	switch {
	case v.NoPods:
		slices = nil
	case !r.followsPods(svc, r.lastSnapshot(OwnerOf(svc)).Have):
		slices = nodeports.OnNodes(slices, virtual)
	}
	req.Backends = nodeports.BackendsOf(svc, nodes, slices, nodeports.FallbackOf(svc))
	req.Backends.Virtual = virtual
	have := d.Have
	if v.NothingFound || have == nil {
		have = &stack.Stack{Owner: req.Owner}
	}
	want, built, err := r.cloud.Build(req, d.Facts, have)
	return want, append(problems, built...), err
}
