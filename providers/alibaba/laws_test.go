package alibaba_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/account"
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

// lawsSubject returns the cloud as the laws see it, with load balancers of its own.
func lawsSubject(t testing.TB) *laws.Subject {
	s := subjectOf(t, lawCases(), lawList("acl-1", "203.0.113.0/24"), lawList("acl-2", "10.0.0.0/8"))
	s.Known = unansweredCreations()
	return s
}

// subjectOf returns the cloud with some Services and with what exists before them.
func subjectOf(t testing.TB, list []props.Case, existing ...stack.Resource) *laws.Subject {
	cloud := alibaba.Cloud()
	services := laws.Services[model.Config, *model.Facts]{
		Cloud: &cloud, Config: common.Config(t, model.ReadConfig, configText), Cluster: "kubernetes", Nodes: machinesOf, Slices: podsOf,
		Facts: func(_ *laws.World, in model.Input) *model.Facts {
			facts := &model.Facts{Lists: map[string]model.List{"acl-1": {Entries: []string{"203.0.113.0/24"}}, "acl-2": {Entries: []string{"10.0.0.0/8"}}}, Interfaces: map[string]string{}}
			for _, p := range in.Backends.Endpoints.ByPort {
				for _, e := range p.List {
					facts.Interfaces[model.InterfaceKey(e.Pod, e.Addr)] = "eni-" + e.Addr.String()
				}
			}
			return facts
		},
	}
	s := &laws.Subject{Name: "alibaba", Rules: cloud.Rules, Flows: cloud.Flows, Created: giveAddress, Existing: existing}
	for _, c := range list {
		s.Cases = append(s.Cases, services.Case(t, c.Name, c.Service))
	}
	return s
}

// podsOf returns two pods of a Service on a day; on the second day another one has replaced the second.
func podsOf(svc *corev1.Service, day laws.Day) common.Around {
	node := corev1.Node{}
	node.Name = "node-1"
	slice := account.PodSlice(svc, props.Project([]corev1.Node{node}), "10.1.0.1", fmt.Sprint("10.1.0.", 2+int(day)))
	return common.Around{Slices: []*discoveryv1.EndpointSlice{slice}}
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
	if spec, ok := r.Spec.(model.NetBalancer); ok && spec.Host == "" {
		spec.Host = r.ID + ".cn-hangzhou.nlb.aliyuncs.com"
		r.Spec = spec
	}
	return r
}

// TestLaws holds the rules against the laws about traffic.
func TestLaws(t *testing.T) {
	laws.Check(t, lawsSubject(t), laws.Bounds{Moves: 60, Pairs: 6})
}

// TestLawsReused holds the rules against the laws about traffic for a load balancer of the user.
func TestLawsReused(t *testing.T) {
	const id = "lb-users"
	reused := func(pairs ...string) map[string]string {
		return withKeys(append([]string{"id", id, "force-override-listeners", "true"}, pairs...)...)
	}
	s := subjectOf(t, append(props.PortChanges(reused()), props.Service("tuned", reused("scheduler", "wlc")), props.Service("by http", reused("protocol-port", "http:80"))),
		stack.Resource{Key: stack.Key{Kind: model.KindBalancer}, ID: id, Ownership: stack.External, Spec: model.Balancer{Name: "users", AddressType: "internet", IPVersion: "ipv4", Address: "47.97.0.1"}})
	s.Known = append(unansweredCreations(), laws.Known{Law: laws.Settles, To: "(none)", Reason: "what a Service has set on a load balancer of the user stays"})
	laws.Check(t, s, laws.Bounds{Moves: 30, Pairs: 6})
}

// TestLawsPods holds the rules against the laws about traffic for pods as backends, and for moves from nodes to pods.
func TestLawsPods(t *testing.T) {
	laws.Check(t, subjectOf(t, append(props.PortChanges(podKeys()), props.Service("nodes", nil), props.Service("light", podKeys("default-weight", "20")))), laws.Bounds{Moves: 30, Pairs: 6})
}

// unansweredCreations are what the rules do not guarantee today.
func unansweredCreations() []laws.Known {
	return []laws.Known{{
		Law: laws.NothingLost, Refused: []laws.Match{{Action: plan.Create, Kind: model.KindListener}}, Only: laws.Unrestored,
		Reason: "a listener is restored after a definite refusal of the new one, by the process that has deleted it",
	}}
}
