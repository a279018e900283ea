package wire

import (
	"slices"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/elbv2"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// networkWish is a stack of a Network Load Balancer that tests change piece by piece.
type networkWish struct {
	owner   stack.Owner
	cluster string
	managed *model.Group
	ingress []model.Permission
	lb      model.Network
	attrs   model.Tags
	ports   []networkPort
	targets []string
	rules   []model.NodeRule
}

// networkPort is a listener with its target group.
type networkPort struct {
	model.Listener
	group model.TargetGroup
	attrs model.Tags
}

func (r *rig) networkWish(o stack.Owner) networkWish {
	tags := r.ownedBy(o)
	w := networkWish{
		owner: o, cluster: r.seed.ClusterID,
		lb: model.Network{Name: model.LoadBalancerName(o.UID), Scheme: "internet-facing", Tags: tags},
		attrs: model.Tags{
			"load_balancing.cross_zone.enabled": "false", "access_logs.s3.enabled": "false",
		},
		targets: slices.Sorted(slices.Values(r.seed.InstanceIDs()[:3])),
		ports:   []networkPort{r.networkPort(80, "TCP", 30080, tags)},
	}
	for _, s := range slices.Sorted(slices.Values(r.seed.PublicSubnets()[:2])) {
		w.lb.Mappings = append(w.lb.Mappings, model.Mapping{Subnet: s})
	}
	w.rules = []model.NodeRule{r.nodeRule("tcp", 30080, "0.0.0.0/0", model.ClientDescription(w.lb.Name))}
	return w
}

func (r *rig) networkPort(port int32, protocol string, nodePort int32, tags model.Tags) networkPort {
	return networkPort{
		Listener: model.Listener{Port: port, Protocol: protocol, Tags: tags},
		group: model.TargetGroup{
			Protocol: protocol, Port: nodePort, VPC: r.seed.VPC, TargetType: "instance",
			CheckProtocol: "TCP", CheckPort: "traffic-port", CheckInterval: 30, Healthy: 3, Unhealthy: 3, Tags: tags,
		},
	}
}

func (r *rig) nodeRule(protocol string, port int32, cidr, description string) model.NodeRule {
	return model.NodeRule{
		Group: r.seed.NodeGroup, Description: description,
		Permission: model.Permission{Protocol: protocol, FromPort: port, ToPort: port, CIDR: cidr},
	}
}

func sharedRule(rule model.NodeRule) stack.Resource {
	return stack.Resource{
		Key: model.NodeRuleKey(rule.Group, rule.Permission, ""), In: stack.Key{Kind: model.KindNodeGroup, Name: rule.Group},
		Ownership: stack.Shared, Spec: rule,
	}
}

func (w networkWish) stack() *stack.Stack {
	lb := stack.Key{Kind: model.KindNetwork}
	s := &stack.Stack{Owner: w.owner}
	put := func(kind stack.Kind, name string, in stack.Key, spec stack.Spec) {
		s.Put(stack.Resource{Key: stack.Key{Kind: kind, Name: name}, In: in, Spec: spec})
	}
	if w.managed != nil {
		group := stack.Key{Kind: model.KindGroup, Name: model.ManagedNLBName}
		put(model.KindGroup, model.ManagedNLBName, stack.Key{}, *w.managed)
		put(model.KindIngress, model.ManagedNLBName, group, model.Ingress{Rules: w.ingress})
		w.lb.Groups = append(slices.Clone(w.lb.Groups), stack.RefTo(group))
	}
	put(model.KindNetwork, "", stack.Key{}, w.lb)
	put(model.KindNetworkAttr, "", lb, model.Attributes{Values: w.attrs})
	for _, p := range w.ports {
		name := "tcp-" + model.Decimal(p.Port)
		if p.Protocol == "UDP" {
			name = "udp-" + model.Decimal(p.Port)
		}
		group := stack.Key{Kind: model.KindTargetGroup, Name: name}
		p.group.Name = model.TargetGroupName(w.cluster, w.owner, p.Port, p.group)
		put(model.KindTargetGroup, name, stack.Key{}, p.group)
		var targets []model.Target
		for _, id := range w.targets {
			targets = append(targets, model.Target{ID: id, Port: p.group.Port})
		}
		put(model.KindTargets, name, group, model.Targets{Targets: targets})
		if p.attrs != nil {
			put(model.KindTargetAttr, name, group, model.Attributes{Values: p.attrs})
		}
		p.TargetGroup = stack.RefTo(group)
		s.Put(stack.Resource{Key: stack.Key{Kind: model.KindListener, Name: name}, In: lb, Slot: model.PortSlot(p.Port), Spec: p.Listener})
	}
	for _, rule := range w.rules {
		s.Put(sharedRule(rule))
	}
	s.Sort()
	return s
}

// TestNetworkRoundTrips walks through every verb of every kind of a Network Load
// Balancer; after each, the cloud shows what was wanted and what was reported.
func TestNetworkRoundTrips(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 5}})
		w := r.networkWish(ownerOf(1))
		tags := w.lb.Tags
		for _, step := range []struct {
			name   string
			change func(*networkWish)
		}{
			{"create", func(*networkWish) {}},
			{"udp port", func(w *networkWish) { w.ports = append(w.ports, r.networkPort(53, "UDP", 30053, tags)) }},
			{"tls port", func(w *networkWish) {
				p := r.networkPort(443, "TLS", 30443, tags)
				p.Certificate = certificate
				w.ports = append(w.ports, p)
			}},
			{"tls policy", func(w *networkWish) { w.ports[2].SSLPolicy = "ELBSecurityPolicy-TLS13-1-2-2021-06" }},
			{"attributes", func(w *networkWish) {
				w.attrs = model.Tags{"load_balancing.cross_zone.enabled": "true", "access_logs.s3.enabled": "false"}
			}},
			{"logs", func(w *networkWish) {
				w.attrs = model.Tags{"load_balancing.cross_zone.enabled": "true", "access_logs.s3.enabled": "true", "access_logs.s3.bucket": "logs", "access_logs.s3.prefix": "web"}
			}},
			{"target group attributes", func(w *networkWish) { w.ports[0].attrs = model.Tags{"proxy_protocol_v2.enabled": "true"} }},
			{"health check in place", func(w *networkWish) { w.ports[0].group.CheckPort, w.ports[0].group.Unhealthy = "10256", 5 }},
			{"health check replaces", func(w *networkWish) {
				g := &w.ports[0].group
				g.CheckProtocol, g.CheckPath, g.CheckInterval = "HTTP", "/healthz", 10
			}},
			{"node port replaces", func(w *networkWish) { w.ports[0].group.Port = 30090 }},
			{"tcp turns tls", func(w *networkWish) {
				w.ports[0].Listener.Protocol, w.ports[0].group.Protocol, w.ports[0].Certificate = "TLS", "TLS", certificate
			}},
			{"and back", func(w *networkWish) {
				w.ports[0].Listener.Protocol, w.ports[0].group.Protocol, w.ports[0].Certificate = "TCP", "TCP", ""
			}},
			{"targets come and go", func(w *networkWish) { w.targets = slices.Sorted(slices.Values(r.seed.InstanceIDs()[2:5])) }},
			{"no targets", func(w *networkWish) { w.targets = nil }},
			{"port goes", func(w *networkWish) { w.ports = w.ports[:1] }},
			{"rules of nodes", func(w *networkWish) {
				w.rules = []model.NodeRule{
					r.nodeRule("tcp", 30090, "10.1.0.0/16", model.ClientDescription(w.lb.Name)),
					r.nodeRule("tcp", 10256, "10.0.0.0/20", model.HealthDescription(w.lb.Name)),
					{Group: r.seed.NodeGroup, Permission: model.Permission{Protocol: "icmp", FromPort: 3, ToPort: 4, CIDR: "10.1.0.0/16"}, Description: model.RuleMTU},
				}
			}},
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

// TestNetworkWithGroup has a security group of its own and addresses of the user's.
func TestNetworkWithGroup(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}, ELBV2: elbv2.Options{Delays: elbv2.Delays{Provisioning: time.Hour}}})
		w := r.networkWish(ownerOf(1))
		w.managed = &model.Group{
			Name: model.ManagedGroupName("kubernetes", w.owner), Description: model.ManagedGroupDescription, VPC: r.seed.VPC, Tags: r.owned(),
		}
		w.ingress = []model.Permission{{Protocol: "tcp", FromPort: 80, ToPort: 80, CIDR: "0.0.0.0/0"}}
		for i := range w.lb.Mappings {
			w.lb.Mappings[i].Allocation = r.seed.Addresses[i].AllocationID
		}
		w.targets = w.targets[:0]
		r.arrive(w.owner, w.stack())
		lb, _ := r.read(w.owner).Get(stack.Key{Kind: model.KindNetwork})
		if lb.State != stack.Pending {
			t.Errorf("state of a load balancer that is being provisioned: got %v, want Pending", lb.State)
		}
		w.lb.Groups = []stack.Ref{stack.RefID(r.seed.DefaultGroup)}
		r.arrive(w.owner, w.stack())
	})
}
