package model

import (
	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// Judge returns the problems of a new Service that follow from its annotations and fields alone: those of a build in
// which everything that it names exists.
func Judge(in Input) annotations.Problems {
	const vpc, own = "any", "of the cluster"
	in.Config = Config{Region: "any", ClusterID: "any", WorkerAccount: "any", VPC: vpc, Subnets: []string{own}}
	zone := zoneKey.Or(in.Values, "any")
	facts := &Facts{Subnets: []Subnet{{ID: own, Name: own, Zone: zone, VPC: vpc}}}
	for _, text := range subnetsKey.Get(in.Values) {
		facts.Subnets = append(facts.Subnets, Subnet{ID: text, Name: text, Zone: zone, VPC: vpc})
	}
	facts.Groups = append(facts.Groups, SecurityGroup{ID: "any", Name: WorkerGroup(in.Config.ClusterID), VPC: vpc})
	for _, name := range groupsKey.Get(in.Values) {
		facts.Groups = append(facts.Groups, SecurityGroup{ID: name, Name: name, VPC: vpc})
	}
	_, problems, err := Build(in, facts, &stack.Stack{Owner: in.Owner})
	if err != nil {
		return nil // a fault of the cloud
	}
	return problems
}
