package model

import (
	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// Judge returns the problems of a new Service that follow from its annotations and fields alone: those of a build in
// which everything that it names exists. Of an existing load balancer the listeners decide.
func Judge(in Input) annotations.Problems {
	if idKey.Get(in.Values) != "" {
		b := &builder{in: in, have: &stack.Stack{Owner: in.Owner}}
		if in.Kind == CLB {
			b.checkRanges()
		}
		return b.problems
	}
	// Without pods as backends a range of ports would be refused, and the configuration may have them.
	in.Config = Config{Region: "any", ClusterID: "any", VPC: "any", VSwitches: []string{"any"}, TypeKey: true, PodBackends: len(rangesKey.Get(in.Values)) > 0}
	facts := &Facts{Lists: map[string]List{}, Interfaces: map[string]string{}}
	for _, id := range SplitIDs(listsKey.Get(in.Values)) {
		facts.Lists[id] = List{Entries: []string{"192.0.2.0/24"}}
	}
	_, problems, err := Build(in, facts, &stack.Stack{Owner: in.Owner})
	if err != nil {
		return nil // a fault of the cloud
	}
	return problems
}
