package model

import (
	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// Judge returns the problems of a new Service that follow from its annotations and fields alone: those of a build with a
// whole configuration, and with the load balancer that it names.
func Judge(in Input) annotations.Problems {
	have := &stack.Stack{Owner: in.Owner}
	if _, id := (&builder{in: in}).named(); id != "" {
		spec := Balancer{Type: typeKey.Or(in.Values, AppBLB), VPC: "any"}
		have.Put(stack.Resource{Key: ExistingKey(id), ID: id, Ownership: stack.External, Spec: spec})
	}
	in.Config = Config{Region: "any", ClusterID: "any", VPC: "any", Subnet: "any"}
	_, problems, err := Build(in, &Facts{}, have)
	if err != nil {
		return nil // a fault of the cloud
	}
	return problems
}
