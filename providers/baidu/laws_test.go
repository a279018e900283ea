package baidu_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/baidu"
	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

const configText = `{"Region": "bj", "VpcId": "vpc-1", "SubnetId": "sbn-1", "ClusterId": "cce-1"}`

// lawsSubject returns the cloud as the laws see it.
func lawsSubject(t testing.TB) *laws.Subject { return subjectOf(t, allCases()[:7]) }

// subjectOf returns the cloud with some Services.
func subjectOf(t testing.TB, list []props.Case) *laws.Subject {
	cloud := baidu.Cloud()
	services := laws.Services[model.Config, *model.Facts]{
		Cloud: &cloud, Config: common.Config(t, model.ReadConfig, configText), Cluster: "kubernetes", Nodes: machinesOf,
		Facts: func(*laws.World, model.Input) *model.Facts { return &model.Facts{} },
	}
	s := &laws.Subject{Name: "baidu", Rules: cloud.Rules, Flows: cloud.Flows, Created: giveAddress, Known: knownViolations()}
	for _, c := range list {
		s.Cases = append(s.Cases, services.Case(t, c.Name, c.Service))
	}
	return s
}

// machinesOf returns nodes in two zones.
func machinesOf(day laws.Day) []corev1.Node {
	return laws.NodesOf(func(n int, node *corev1.Node) {
		node.Labels = map[string]string{corev1.LabelTopologyZone: fmt.Sprintf("cn-bj-%c", 'a'+n%2)}
		node.Spec.ProviderID = fmt.Sprintf("cce://i-%d", n)
	})(day)
}

// giveAddress gives load balancers the address that the cloud chooses.
func giveAddress(_ *laws.World, _ stack.Owner, r stack.Resource) stack.Resource {
	if spec, ok := r.Spec.(model.Balancer); ok && spec.Address == "" {
		spec.Address = "192.168.0." + r.ID[len(r.ID)-1:]
		r.Spec = spec
	}
	return r
}

// TestLaws holds the rules against the laws about traffic.
func TestLaws(t *testing.T) {
	laws.Check(t, lawsSubject(t), laws.Bounds{Moves: 49, Pairs: 6})
}

// knownViolations lists what the rules do not guarantee today.
func knownViolations() []laws.Known {
	return []laws.Known{{
		Law: laws.NothingLost, Refused: []laws.Match{{Action: plan.Create, Kind: model.KindPolicy}}, Only: laws.Unrestored,
		Reason: "a policy is restored only after a definite refusal of the new one",
	}}
}
