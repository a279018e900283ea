package view

import (
	"errors"

	"github.com/berth-lb/berth/service/explain"
	"github.com/berth-lb/berth/service/graph"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Service describes one Service of type LoadBalancer.
type Service struct {
	Standing
	Message string  `json:"message,omitempty"` // the state in one sentence
	Kind    string  `json:"kind,omitempty"`    // of load balancer; empty: not known without a provider
	Impact  Impact  `json:"impact,omitempty"`  // of its plan; empty: it was not planned
	Detail  *Detail `json:"detail,omitempty"`
}

// ErrNotFound means that a Service is not among the ones that are shown.
var ErrNotFound = errors.New("no Service of type LoadBalancer with this name is shown")

// Detail is what a plan of one Service has read and computed.
type Detail struct {
	Provider string         `json:"provider"`
	Problems []plan.Problem `json:"problems,omitempty"`
	Plan     *plan.Doc      `json:"plan,omitempty"`
	// Have are the existing resources, with the fields that are compared.
	Have []plan.ResourceDoc `json:"have,omitempty"`
	// Want are the desired resources, with the origin of each field.
	Want     []explain.Resource `json:"want,omitempty"`
	Required []explain.Required `json:"required,omitempty"`
	Graph    *graph.Graph       `json:"graph,omitempty"`
	// Unplanned is the reason why there is no plan; empty: there is one.
	Unplanned string   `json:"unplanned,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// Fleet is all Services of a cluster, or a part of them.
type Fleet struct {
	FormatVersion string      `json:"formatVersion"`
	Provider      string      `json:"provider,omitempty"` // empty: only the cluster is read
	Total         int         `json:"total"`
	Offset        int         `json:"offset"`   // of the first Service in the whole list
	Services      []Service   `json:"services"` // by namespace and name, without Detail; never nil
	Controller    *Controller `json:"controller,omitempty"`
	Notes         []string    `json:"notes,omitempty"`
}

// Cut returns a part of a fleet.
func (f Fleet) Cut(offset, limit int) Fleet {
	f.Offset = min(max(offset, 0), len(f.Services))
	f.Services = f.Services[f.Offset:min(f.Offset+max(limit, 0), len(f.Services))]
	return f
}

// Impact is the most serious effect of a plan.
type Impact string

// The impacts in the order of their seriousness.
const (
	NoChanges  Impact = "no changes"
	Forgets    Impact = "forgets"
	Updates    Impact = "updates"
	Creates    Impact = "creates"
	Deletes    Impact = "deletes"
	Briefly    Impact = "brief interruption"
	Interrupts Impact = "interrupts traffic"
	Refused    Impact = "refused"
	Alone      Impact = "left alone"
)

// Shared is every resource that several Services use, or may use.
type Shared struct {
	FormatVersion string           `json:"formatVersion"`
	Provider      string           `json:"provider"`
	Resources     []SharedResource `json:"resources"` // by key; never nil
}

// SharedResource is one resource with the Services that use it.
type SharedResource struct {
	Key   stack.Key `json:"key"`
	ID    string    `json:"id,omitempty"`
	Users []Use     `json:"users"` // by owner
}

// Use is the use of a shared resource by one Service.
type Use struct {
	Owner stack.Owner `json:"owner"`
	// Parts are the resources of the Service that are a part of the shared one or refer to it.
	Parts []string `json:"parts,omitempty"`
}
