package wire

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000-4000-8000-000000000001"

// classicWish is a stack of a Classic Load Balancer that tests change piece by piece.
type classicWish struct {
	owner     stack.Owner
	group     model.Group
	ingress   []model.Permission
	lb        model.Classic
	ports     []model.ClassicPort
	ssl       string
	proxy     bool
	attrs     model.ClassicAttributes
	check     model.ClassicHealthCheck
	instances []string
	nodeGroup string
}

func (r *rig) classicWish(o stack.Owner) classicWish {
	lb := model.LoadBalancerName(o.UID)
	public := r.seed.PublicSubnets()
	return classicWish{
		owner: o,
		group: model.Group{Name: model.OwnGroupName(lb), Description: "Security group for Kubernetes ELB " + lb + " (" + model.ServiceName(o) + ")", VPC: r.seed.VPC, Tags: r.owned()},
		ingress: []model.Permission{
			{Protocol: "icmp", FromPort: 3, ToPort: 4, CIDR: "0.0.0.0/0"},
			{Protocol: "tcp", FromPort: 80, ToPort: 80, CIDR: "0.0.0.0/0"},
		},
		lb: model.Classic{
			Name: lb, Scheme: "internet-facing", Subnets: slices.Sorted(slices.Values(public[:2])), Tags: r.teamTags(o, "shop"),
			Groups: []stack.Ref{stack.RefTo(stack.Key{Kind: model.KindGroup})},
		},
		ports: []model.ClassicPort{{Balancer: lb, Port: 80, Protocol: "TCP", InstancePort: 30080, InstanceProtocol: "TCP"}},
		attrs: model.ClassicAttributes{
			CrossZone: new(false), DrainingEnabled: new(false), IdleTimeout: new(int32(60)), LogEnabled: new(false),
		},
		check:     model.ClassicHealthCheck{Target: "TCP:30080", Interval: 10, Timeout: 5, Healthy: 2, Unhealthy: 6},
		instances: slices.Sorted(slices.Values(r.seed.InstanceIDs()[:3])),
		nodeGroup: r.seed.NodeGroup,
	}
}

// teamTags are the tags of a load balancer with one of the user's.
func (r *rig) teamTags(o stack.Owner, team string) model.Tags {
	tags := r.ownedBy(o)
	tags["team"] = team
	return tags
}

func (w classicWish) stack() *stack.Stack {
	lb := stack.Key{Kind: model.KindClassic}
	group := stack.Key{Kind: model.KindGroup}
	s := &stack.Stack{Owner: w.owner}
	put := func(kind stack.Kind, name string, in stack.Key, spec stack.Spec) {
		s.Put(stack.Resource{Key: stack.Key{Kind: kind, Name: name}, In: in, Spec: spec})
	}
	put(model.KindGroup, "", stack.Key{}, w.group)
	put(model.KindIngress, "", group, model.Ingress{Rules: w.ingress})
	put(model.KindClassic, "", stack.Key{}, w.lb)
	back := map[int32][]stack.Ref{}
	for _, p := range w.ports {
		s.Put(stack.Resource{Key: stack.Key{Kind: model.KindClassicPort, Name: model.Decimal(p.Port)}, In: lb, Slot: model.PortSlot(p.Port), Spec: p})
		back[p.InstancePort] = nil
		if w.ssl != "" && p.Certificate != "" {
			name := model.SSLPolicyNamePrefix + w.ssl
			put(model.KindClassicPol, name, lb, model.ClassicPolicy{Name: name, Type: "SSLNegotiationPolicyType", Attributes: model.Tags{"Reference-Security-Policy": w.ssl}})
			put(model.KindClassicSSL, model.Decimal(p.Port), stack.Key{Kind: model.KindClassicPort, Name: model.Decimal(p.Port)},
				model.ClassicPolicies{Port: p.Port, Policies: []stack.Ref{stack.RefTo(stack.Key{Kind: model.KindClassicPol, Name: name})}})
		}
	}
	if w.proxy {
		put(model.KindClassicPol, model.ProxyPolicyName, lb, model.ClassicPolicy{Name: model.ProxyPolicyName, Type: "ProxyProtocolPolicyType", Attributes: model.Tags{"ProxyProtocol": "true"}})
	}
	for port := range back {
		spec := model.ClassicPolicies{Port: port}
		if w.proxy {
			spec.Policies = []stack.Ref{stack.RefTo(stack.Key{Kind: model.KindClassicPol, Name: model.ProxyPolicyName})}
		}
		put(model.KindClassicBack, model.Decimal(port), lb, spec)
	}
	put(model.KindClassicAttr, "", lb, w.attrs)
	put(model.KindClassicCheck, "", lb, w.check)
	put(model.KindClassicInst, "", lb, model.ClassicInstances{Instances: w.instances})
	if w.nodeGroup != "" {
		p := model.Permission{Protocol: "-1", Source: stack.RefTo(group)}
		s.Put(stack.Resource{
			Key: model.NodeRuleKey(w.nodeGroup, p, w.group.Name), In: stack.Key{Kind: model.KindNodeGroup, Name: w.nodeGroup}, Ownership: stack.Shared,
			Spec: model.NodeRule{Group: w.nodeGroup, Permission: p},
		})
	}
	s.Sort()
	return s
}

// TestClassicRoundTrips walks through every verb of every kind of a Classic Load
// Balancer; after each, the cloud shows what was wanted and what was reported.
func TestClassicRoundTrips(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 5}})
		w := r.classicWish(ownerOf(1))
		https := model.ClassicPort{Balancer: w.lb.Name, Port: 443, Protocol: "SSL", InstancePort: 30443, InstanceProtocol: "TCP", Certificate: certificate}
		for _, step := range []struct {
			name   string
			change func(*classicWish)
		}{
			{"create", func(*classicWish) {}},
			{"listener", func(w *classicWish) { w.ports = append(w.ports, https) }},
			{"two listeners at once", func(w *classicWish) {
				w.ports = append(w.ports,
					model.ClassicPort{Balancer: w.lb.Name, Port: 81, Protocol: "HTTP", InstancePort: 30081, InstanceProtocol: "HTTP"},
					model.ClassicPort{Balancer: w.lb.Name, Port: 82, Protocol: "TCP", InstancePort: 30082, InstanceProtocol: "TCP"})
			}},
			{"listeners go", func(w *classicWish) { w.ports = w.ports[:2] }},
			{"policy of a listener", func(w *classicWish) { w.ssl = "ELBSecurityPolicy-TLS-1-2-2017-01" }},
			{"another policy", func(w *classicWish) { w.ssl = "ELBSecurityPolicy-2016-08" }},
			{"replaced listener", func(w *classicWish) { w.ports[0].InstancePort = 30090; w.check.Target = "TCP:30090" }},
			{"PROXY protocol", func(w *classicWish) { w.proxy = true }},
			{"no PROXY protocol", func(w *classicWish) { w.proxy = false }},
			{"attributes", func(w *classicWish) {
				w.attrs.CrossZone, w.attrs.IdleTimeout = new(true), new(int32(120))
				w.attrs.DrainingEnabled, w.attrs.DrainingTimeout = new(true), new(int32(20))
			}},
			{"logs", func(w *classicWish) {
				w.attrs.LogEnabled, w.attrs.LogBucket, w.attrs.LogPrefix, w.attrs.LogEmitInterval = new(true), new("logs"), new("web"), new(int32(5))
			}},
			{"health check", func(w *classicWish) {
				w.check = model.ClassicHealthCheck{Target: "HTTP:30444/healthz", Interval: 30, Timeout: 6, Healthy: 3, Unhealthy: 4}
			}},
			{"instances come and go", func(w *classicWish) { w.instances = slices.Sorted(slices.Values(r.seed.InstanceIDs()[2:5])) }},
			{"no instances", func(w *classicWish) { w.instances = nil }},
			{"rules", func(w *classicWish) {
				w.ingress = []model.Permission{
					{Protocol: "tcp", FromPort: 80, ToPort: 80, CIDR: "10.0.0.0/8"},
					{Protocol: "tcp", FromPort: 443, ToPort: 443, CIDR: "2001:db8::/32"},
				}
			}},
			{"subnets", func(w *classicWish) { w.lb.Subnets = slices.Sorted(slices.Values(r.seed.PublicSubnets()[1:3])) }},
			{"groups", func(w *classicWish) { w.lb.Groups = append(w.lb.Groups, stack.RefID(r.seed.DefaultGroup)) }},
			{"tags", func(w *classicWish) { w.lb.Tags = r.teamTags(w.owner, "web") }},
			{"no node rule", func(w *classicWish) { w.nodeGroup = "" }},
		} {
			step.change(&w)
			virtual.Step(t, step.name, func() {
				r.TB = t
				r.arrive(w.owner, w.stack())
			})
		}
		virtual.Step(t, "release", func() {
			r.TB = t
			r.arrive(w.owner, nil)
			if left := ownedKeys(r.read(w.owner)); len(left) > 0 {
				t.Errorf("left after the release: %v", left)
			}
		})
	})
}

// ownedKeys returns the keys of resources that are proven to belong to the Service.
func ownedKeys(s *stack.Stack) []string {
	var out []string
	for _, res := range s.Resources {
		if res.Proof != stack.None {
			out = append(out, res.Key.String())
		}
	}
	return out
}
