package model

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// TestMoreNodesThanAGroupTakes: the rest is named, and none of the first thousand moves.
func TestMoreNodesThanAGroupTakes(t *testing.T) {
	b := builderOf(1003)
	refs := b.groups()
	spec, _ := stack.SpecOf[Group](b.out, refs[0].To)
	if len(refs) != 1 || len(spec.Instances) != maxGroupMembers {
		t.Errorf("%d groups with %d members", len(refs), len(spec.Instances))
	}
	if len(b.problems) != 1 || !strings.Contains(b.problems[0].String(), "n-1000, n-1001, n-1002") {
		t.Errorf("problems %v", b.problems.Strings())
	}
}

// builderOf is a build with so many nodes of one zone.
func builderOf(nodes int) *builder {
	in := input{Service: &corev1.Service{}, Kind: InternalIG}
	in.Config.ClusterID = "c"
	b := newBuilder(in, &Facts{}, &stack.Stack{})
	for i := range nodes {
		name := fmt.Sprintf("n-%04d", i)
		b.nodes = append(b.nodes, member{node: name, Instance: name, Zone: "z-1-a"})
	}
	return b
}
