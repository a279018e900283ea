package tencent_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/tencent"
	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

const configText = `{"region": "ap-guangzhou", "vpc_id": "vpc-1", "cluster_id": "cls-1"}`

// lawsSubject returns the cloud as the laws see it.
func lawsSubject(t testing.TB) *laws.Subject { return subjectOf(t, lawCases()) }

// subjectOf returns the cloud with some Services.
func subjectOf(t testing.TB, list []props.Case) *laws.Subject {
	cloud := tencent.Cloud()
	services := laws.Services[model.Config, *model.Facts]{
		Cloud: &cloud, Config: common.Config(t, model.ReadConfig, configText), Cluster: "kubernetes", Nodes: machinesOf,
		Facts: func(*laws.World, model.Input) *model.Facts { return &model.Facts{} },
	}
	s := &laws.Subject{Name: "tencent", Rules: cloud.Rules, Flows: cloud.Flows, Created: giveAddress, Known: knownViolations()}
	for _, c := range list {
		s.Cases = append(s.Cases, services.Case(t, c.Name, c.Service))
	}
	return s
}

// lawCases returns the Services that are changed into each other.
func lawCases() []props.Case { return allCases() }

// machinesOf returns nodes in two zones.
func machinesOf(day laws.Day) []corev1.Node {
	return laws.NodesOf(func(n int, node *corev1.Node) {
		node.Labels = map[string]string{corev1.LabelTopologyZone: fmt.Sprintf("ap-guangzhou-%d", n%2+3)}
		node.Spec.ProviderID = fmt.Sprintf("qcloud:///100003/ins-%d", n)
	})(day)
}

// giveAddress gives load balancers the address that the cloud chooses.
func giveAddress(_ *laws.World, _ stack.Owner, r stack.Resource) stack.Resource {
	if spec, ok := r.Spec.(model.Balancer); ok && len(spec.Addresses) == 0 {
		spec.Addresses = []string{"119.29.0." + r.ID[len(r.ID)-1:]}
		r.Spec = spec
	}
	return r
}

// TestLaws holds the rules against the laws about traffic, and those for load balancers of another region by their ports,
// protocols and settings.
func TestLaws(t *testing.T) {
	laws.Check(t, lawsSubject(t), laws.Bounds{Moves: 49, Pairs: 6})
	t.Run("another region", func(t *testing.T) {
		list := append(props.PortChanges(recordedAway()), props.Service("away tuned", recordedAway(kube+"service.listenerParameters", tuned)), props.Service("away mixed", recordedAway(), withUDP))
		subject := subjectOf(t, list)
		subject.Known = nil
		laws.Check(t, subject, laws.Bounds{Pairs: 6})
	})
}

// knownViolations lists what the rules do not guarantee today.
func knownViolations() []laws.Known {
	on := func(k stack.Kind) []laws.Match { return []laws.Match{{Action: plan.Create, Kind: k}} }
	const reason = "a listener is restored after a definite refusal of the new one or its rules, by the process that has deleted it"
	var out []laws.Known
	for _, only := range []laws.Circumstance{laws.WithoutAnswer, laws.AfterRestart} {
		out = append(out,
			laws.Known{Law: laws.NothingLost, Refused: on(model.KindListener), Only: only, Reason: reason},
			laws.Known{Law: laws.NothingLost, Refused: on(model.KindRule), Only: only, Reason: reason})
	}
	return out
}
