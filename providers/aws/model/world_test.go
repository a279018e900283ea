package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// suite are the cases; making it once saves thousands of runs the making of the set.
var suite = sync.OnceValue(func() cases.Suite[Config, *Facts] {
	cloud := Cloud()
	return cases.Suite[Config, *Facts]{
		Cloud: &cloud, Least: 60, Field: fieldText, Loose: KindClassicCheck, Follows: movesListener,
		Found: func(want, _ *stack.Stack) *stack.Stack { return asFound(want) },
		Specs: map[stack.Kind]stack.Spec{
			KindTargetGroup: TargetGroup{}, KindTargets: Targets{}, KindNetwork: Network{}, KindSharedNetwork: Network{},
			KindClassic: Classic{}, KindNodeRule: NodeRule{}, KindListener: Listener{},
		},
	}
})

func parseConfig(t testing.TB, text string) Config { return suite().Parse(t, text) }

// inputOf is what the loop hands to Build.
func inputOf(config Config, clusterName string, svc *corev1.Service, nodes []corev1.Node, pods ...*discoveryv1.EndpointSlice) (input, annotations.Problems) {
	return cases.Input(suite().Cloud, config, svc, cases.Around{Cluster: clusterName, Nodes: nodes, Slices: pods})
}

// asFound turns the desired state into what a read would return once it is created.
func asFound(want *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: want.Owner}
	for _, r := range want.Resources {
		if r.Ownership == stack.External {
			if r.Key.Kind == KindSharedNetwork {
				out.Put(r) // it is read, because others decide what it is like
			}
			continue
		}
		r.ID, r.Proof = "id-of-"+r.Key.String(), stack.Name
		switch spec := r.Spec.(type) {
		case Classic:
			spec.DNSName = spec.Name + "-1.eu-west-1.elb.amazonaws.com"
			r.Spec = spec
		case Network:
			spec.DNSName = spec.Name + "-0a1b.elb.eu-west-1.amazonaws.com"
			r.Spec = spec
		case ClassicPolicy:
			r.Proof = stack.None
		}
		out.Put(r)
	}
	return out
}

func fieldText(value any) string {
	switch v := value.(type) {
	case []Permission:
		lines := []string{""}
		for _, p := range v {
			lines = append(lines, permissionText(p))
		}
		return strings.Join(lines, "\n")
	case Permission:
		return permissionText(v)
	}
	raw, _ := json.Marshal(value)
	switch v := string(raw); v {
	case `""`, "null", "0", "[]", "{}":
		return ""
	default:
		return cases.Short(v)
	}
}

func permissionText(p Permission) string {
	return fmt.Sprintf("%s %s from %s%s", p.Protocol, portRange(p), p.CIDR, p.Source)
}
