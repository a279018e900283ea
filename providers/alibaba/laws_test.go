package alibaba_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

const configText = `Global:
  region: cn-hangzhou
  clusterID: c
  vpcid: vpc-1
  vswitchid: "cn-hangzhou-h:vsw-1,cn-hangzhou-i:vsw-2"
`

// lawsSubject returns the cloud as the laws see it.
func lawsSubject(t testing.TB) *laws.Subject {
	cloud := alibaba.Cloud()
	services := laws.Services[model.Config, *model.Facts]{
		Cloud: &cloud, Config: common.Config(t, model.ReadConfig, configText), Cluster: "kubernetes", Nodes: machinesOf,
		Facts: func(*laws.World, model.Input) *model.Facts {
			return &model.Facts{Lists: map[string]model.List{"acl-1": {Entries: []string{"203.0.113.0/24"}}, "acl-2": {Entries: []string{"10.0.0.0/8"}}}}
		},
	}
	s := &laws.Subject{Name: "alibaba", Rules: cloud.Rules, Flows: cloud.Flows, Created: giveAddress, Known: knownViolations()}
	s.Existing = []stack.Resource{lawList("acl-1", "203.0.113.0/24"), lawList("acl-2", "10.0.0.0/8")}
	for _, c := range lawCases() {
		s.Cases = append(s.Cases, services.Case(t, c.Name, c.Service))
	}
	return s
}

// lawCases returns the Services that are changed into each other.
func lawCases() []props.Case {
	return append(props.PortChanges(nil),
		props.Service("plain", nil),
		props.Service("tuned", withKeys("scheduler", "wlc", "proxy-protocol", "on", "health-check-interval", "5")),
		props.Service("by http", withKeys("protocol-port", "http:80")),
		props.Service("mixed", nil, withUDP),
		props.Service("listed", withKeys("acl-status", "on", "acl-id", "acl-1", "acl-type", "white")),
		props.Service("denied", withKeys("acl-status", "on", "acl-id", "acl-1,acl-2", "acl-type", "black")),
		props.Service("redirected", withKeys("protocol-port", "http:80,https:443", "cert-id", "c-1", "forward-port", "80:443")),
	)
}

// machinesOf returns nodes in two zones.
func machinesOf(day laws.Day) []corev1.Node {
	return laws.NodesOf(func(n int, node *corev1.Node) {
		node.Labels = map[string]string{corev1.LabelTopologyZone: fmt.Sprintf("cn-hangzhou-%d", n%2+1)}
		node.Spec.ProviderID = fmt.Sprintf("cn-hangzhou.i-%d", n)
	})(day)
}

// lawList is an access control list of the user.
func lawList(id string, entries ...string) stack.Resource {
	return stack.Resource{Key: model.ListKey(id), ID: id, Ownership: stack.External, Spec: model.List{Entries: entries}}
}

// giveAddress gives load balancers the address that the cloud chooses.
func giveAddress(_ *laws.World, _ stack.Owner, r stack.Resource) stack.Resource {
	if spec, ok := r.Spec.(model.Balancer); ok && spec.Address == "" {
		spec.Address = "47.98.0." + r.ID[len(r.ID)-1:]
		r.Spec = spec
	}
	return r
}

// TestLaws holds the rules against the laws about traffic.
func TestLaws(t *testing.T) {
	laws.Check(t, lawsSubject(t), laws.Bounds{Moves: 60, Pairs: 6})
}

// knownViolations lists what the rules do not guarantee today.
func knownViolations() []laws.Known {
	on := func(a plan.Action, k stack.Kind) []laws.Match { return []laws.Match{{Action: a, Kind: k}} }
	return []laws.Known{
		{Law: laws.NothingLost, To: "redirected", Refused: on(plan.Create, model.KindListener), Quota: true, Reason: "deletions make room for a listener that a quota refuses, and the restored one needs the deleted server group"},
		{Law: laws.NothingLost, Refused: on(plan.Create, model.KindListener), Unanswered: true, Reason: "a listener is restored only after a definite refusal of the new one"},
	}
}
