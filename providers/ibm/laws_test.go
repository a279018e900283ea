package ibm_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/ibm"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

const configText = `[global]
version = 1.1.0
[provider]
cluster-default-provider = g2
accountID = a
g2workerServiceAccountID = a
clusterID = c
region = eu-de
g2Credentials = key
g2ResourceGroupName = g
g2VpcName = vpc
g2VpcSubnetNames = sub-1,sub-2
`

// lawsFacts are the subnets of a VPC in two zones.
func lawsFacts() *model.Facts {
	return &model.Facts{Groups: []model.SecurityGroup{{ID: "g", Name: model.WorkerGroup("c"), VPC: "vpc"}}, Subnets: []model.Subnet{
		{ID: "s-1", Name: "sub-1", CIDR: "10.0.0.0/24", Zone: "eu-de-1", VPC: "vpc"}, {ID: "s-2", Name: "sub-2", CIDR: "10.0.1.0/24", Zone: "eu-de-2", VPC: "vpc"},
	}}
}

// lawsSubject returns the cloud as the laws see it.
func lawsSubject(t testing.TB, cases []props.Case, known ...laws.Known) *laws.Subject {
	cloud := ibm.Cloud()
	services := laws.Services[model.Config, *model.Facts]{
		Cloud: &cloud, Config: common.Config(t, model.ReadConfig, configText), Cluster: "kubernetes", Nodes: machinesOf,
		Facts: func(*laws.World, model.Input) *model.Facts { return lawsFacts() },
	}
	s := &laws.Subject{Name: "ibm", Rules: cloud.Rules, Flows: cloud.Flows, Created: giveHostname, Known: known}
	for _, c := range cases {
		s.Cases = append(s.Cases, services.Case(t, c.Name, c.Service))
	}
	return s
}

// lawCases returns the Services that are changed into each other.
func lawCases() []props.Case {
	return append(props.PortChanges(nil),
		props.Service("plain", nil),
		props.Service("proxied", withKeys("enable-features", "proxy-protocol", "vpc-idle-connection-timeout", "120")),
		props.Service("local", nil, props.Local),
		props.Service("one zone", withKeys("zone", "eu-de-2")),
		props.Service("outbound", withKeys("vpc-allow-outbound-traffic", "80")),
	)
}

// machinesOf returns nodes in two zones.
func machinesOf(day laws.Day) []corev1.Node {
	return laws.NodesOf(func(n int, node *corev1.Node) {
		node.Labels = map[string]string{corev1.LabelTopologyZone: fmt.Sprintf("eu-de-%d", n%2+1), "ibm-cloud.kubernetes.io/instance-id": fmt.Sprintf("i-%d", n)}
		node.Spec.ProviderID = fmt.Sprintf("ibm://a///c/i-%d", n)
	})(day)
}

// giveHostname gives load balancers the host name and the address that the cloud chooses.
func giveHostname(_ *laws.World, _ stack.Owner, r stack.Resource) stack.Resource {
	if spec, ok := r.Spec.(model.Balancer); ok {
		spec.Hostname = r.ID + "-eu-de.lb.appdomain.cloud"
		if spec.Kind == model.ALB {
			spec.Addresses = []string{"203.0.113.7"}
		}
		r.Spec = spec
	}
	return r
}

// TestLaws holds the rules against the laws about traffic.
func TestLaws(t *testing.T) {
	t.Run("application", func(t *testing.T) { laws.Check(t, lawsSubject(t, lawCases()), laws.Bounds{Pairs: 20}) })
	t.Run("private path", func(t *testing.T) { laws.Check(t, lawsSubject(t, pathCases()), laws.Bounds{Pairs: 20}) })
	t.Run("network", func(t *testing.T) {
		laws.Check(t, lawsSubject(t, networkCases(), aloneViolations()...), laws.Bounds{Pairs: 20})
	})
}

// aloneViolations are those of ports that change their protocol.
func aloneViolations() []laws.Known {
	const alone = "ports that change their protocol are replaced one by one, and clients of one port have no use for another"
	return []laws.Known{
		{Law: laws.NothingLost, Refused: []laws.Match{{Action: plan.Delete, Kind: model.KindListener}}, Reason: alone},
		{Law: laws.NothingLost, Refused: []laws.Match{{Action: plan.Create, Kind: model.KindListener}}, Reason: alone},
	}
}

// mutationSubject returns load balancers of all families. Changes of the protocol of a port have
// known violations, and may be left out.
func mutationSubject(t *testing.T, protocols bool) *laws.Subject {
	list := slices.Concat(lawCases(), networkCases())
	if protocols {
		return lawsSubject(t, list, aloneViolations()...)
	}
	return lawsSubject(t, slices.DeleteFunc(list, func(c props.Case) bool { return c.Name == "nlb udp" || c.Name == "nlb mixed" }),
		laws.Known{Law: laws.NothingLost, Refused: []laws.Match{{Action: plan.Create, Kind: model.KindListener}}, Only: laws.Unrestored, Reason: "a listener is restored after a definite refusal of the new one, by the process that has deleted it"})
}

// TestLawsSeeEveryMechanism: without any one of them, a law is broken, or it is said why not.
func TestLawsSeeEveryMechanism(t *testing.T) {
	const (
		single = "a Service has one load balancer, which is deleted with it"
		closed = "it is deleted only for a port that is not desired any more"
	)
	bounds := laws.Bounds{Moves: 30, Pairs: 1}
	laws.Mutate(t, model.Rules(), nil,
		laws.MutationSet{
			Fresh: func() *laws.Subject { return mutationSubject(t, false) }, Bounds: bounds,
			Seen: map[string]string{
				"role: listener is no port":                        "web: nlb ranges -> nlb",
				"impact: listener does not mark replace":           "web: nlb ranges -> nlb wider range",
				"restore: listener is not restored":                "web: nlb ranges -> nlb wider range",
				"mechanism: backends do not follow a refused step": "web: other ports -> other node port",
			},
			Idle: map[string]string{
				"order: listener is created before it is deleted":            "the next plan does what the cloud refuses in another order",
				"order: security-group-rule is created before it is deleted": "it admits no clients, and its name has all that it is compared by",
				"role: load-balancer is no entry point":                      single,
				"impact: load-balancer does not mark delete":                 single,
				"impact: listener does not mark delete":                      closed,
				"impact: pool does not mark delete":                          closed,
			},
		},
		laws.MutationSet{
			Fresh: func() *laws.Subject { return mutationSubject(t, true) }, Bounds: bounds,
			Seen: map[string]string{"role: pool is no members": "web: nlb wider range -> nlb mixed"},
		})
}
