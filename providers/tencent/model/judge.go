package model

import (
	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Judge returns the problems of a new Service that follow from its annotations and fields alone: those of a build in
// which everything that it names exists.
func Judge(in Input) annotations.Problems {
	have := &stack.Stack{Owner: in.Owner}
	if id := existedKey.Get(in.Values); id != "" {
		have.Put(stack.Resource{Key: ExistingKey(id), ID: id, Ownership: stack.External, Spec: Balancer{Type: Open, IPVersion: ipv4, VPC: crossKey.Or(in.Values, "any")}})
	}
	in.Config = Config{Region: regionsKey.Or(in.Values, "any"), VPC: "any", ClusterID: "any"} // the region of the cluster is not known
	in.Objects = map[providers.Reference]providers.Object{}
	for _, ref := range Refers(in) {
		in.Objects[ref] = providers.Object{Data: map[string][]byte{certificateID: []byte("any")}, Spec: map[string]any{}}
	}
	_, problems, err := Build(in, &Facts{}, have)
	if err != nil {
		return nil // a fault of the cloud
	}
	return problems
}
