package wire

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// otherCertificate is another one than that of the wishes.
const otherCertificate = "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000-4000-8000-000000000002"

// writes counts the calls since the last reset that change something.
func (r *rig) writes() map[string]int {
	out := r.calls()
	maps.DeleteFunc(out, func(call string, _ int) bool { return slices.Contains(readingCalls(), call) })
	return out
}

func readingCalls() []string {
	return []string{
		"ec2.DescribeAvailabilityZones", "ec2.DescribeInstances", "ec2.DescribeRouteTables", "ec2.DescribeSecurityGroups", "ec2.DescribeSubnets",
		"elb.DescribeLoadBalancerAttributes", "elb.DescribeLoadBalancers", "elb.DescribeTags",
		"elbv2.DescribeListeners", "elbv2.DescribeLoadBalancerAttributes", "elbv2.DescribeLoadBalancers", "elbv2.DescribeTags",
		"elbv2.DescribeTargetGroupAttributes", "elbv2.DescribeTargetGroups", "elbv2.DescribeTargetHealth",
	}
}

// TestInPlace: what AWS can change in place is changed there, with these writes and no
// others.
func TestInPlace(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		classic, network := r.classicWish(ownerOf(1)), r.networkWish(ownerOf(2))
		classic.ports = append(classic.ports, model.ClassicPort{Balancer: classic.lb.Name, Port: 443, Protocol: "SSL", InstancePort: 30443, InstanceProtocol: "TCP", Certificate: certificate})
		r.arrive(classic.owner, classic.stack())
		r.arrive(network.owner, network.stack())
		public := r.seed.PublicSubnets()
		for _, tc := range []struct {
			name   string
			change func()
			want   map[string]int
		}{
			{"certificate of a classic listener", func() { classic.ports[1].Certificate = otherCertificate }, map[string]int{"elb.SetLoadBalancerListenerSSLCertificate": 1}},
			{"check of a target group", func() {
				g := &network.ports[0].group
				g.CheckProtocol, g.CheckPath, g.CheckInterval, g.CheckTimeout = "HTTP", "/healthz", 10, new(int32(4))
			}, map[string]int{"elbv2.ModifyTargetGroup": 1}},
			{"a subnet more", func() {
				network.lb.Mappings = mappingsIn(public[:3])
			}, map[string]int{"elbv2.SetSubnets": 1}},
			{"a subnet less", func() {
				network.lb.Mappings = mappingsIn(public[1:3])
			}, map[string]int{"elbv2.SetSubnets": 1}},
			{"tags", func() {
				network.lb.Tags = model.Over(network.lb.Tags, model.Tags{"team": "web"})
			}, map[string]int{"elbv2.AddTags": 1}},
		} {
			virtual.Step(t, tc.name, func() {
				r.TB = t
				tc.change()
				r.reset()
				r.arrive(classic.owner, classic.stack())
				r.arrive(network.owner, network.stack())
				if d := cmp.Diff(tc.want, r.writes()); d != "" {
					t.Errorf("writes (-want +got):\n%s", d)
				}
			})
		}
	})
}

func mappingsIn(subnets []string) []model.Mapping {
	var out []model.Mapping
	for _, s := range slices.Sorted(slices.Values(subnets)) {
		out = append(out, model.Mapping{Subnet: s})
	}
	return out
}

// TestSubnetMoves: a Classic Load Balancer that moves from all of its subnets to others
// of the same zones is in a subnet all the time, and never in two of one zone.
func TestSubnetMoves(t *testing.T) {
	zones := map[string]string{"a1": "a", "a2": "a", "b1": "b", "b2": "b", "c1": "c"}
	for _, tc := range []struct{ name, from, to string }{
		{"same zones", "a1 b1", "a2 b2"},
		{"one zone changes", "a1 b1", "a2 b1"},
		{"a zone more", "a1", "a1 b1"},
		{"other zones", "a1 b1", "c1"},
		{"all of it", "a1 b1", "a2 c1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			from, to := strings.Fields(tc.from), strings.Fields(tc.to)
			now := slices.Clone(from)
			for _, m := range subnetMoves(from, to, zones) {
				if m.attach {
					now = append(now, m.subnets...)
				} else {
					now = subtractList(now, m.subnets)
				}
				seen := map[string]bool{}
				for _, s := range now {
					if seen[zones[s]] {
						t.Errorf("after %+v: %v has two subnets in %s", m, now, zones[s])
					}
					seen[zones[s]] = true
				}
				if len(now) == 0 {
					t.Errorf("after %+v it is in no subnet", m)
				}
			}
			slices.Sort(now)
			if d := cmp.Diff(to, now); d != "" {
				t.Errorf("subnets (-want +got):\n%s", d)
			}
		})
	}
}

// TestTagsOfOneThatWent: a load balancer that is deleted between list and tags does not
// affect the others.
func TestTagsOfOneThatWent(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		var scopes []providers.Scope
		for n := range 3 {
			r.arrive(ownerOf(n), r.classicWish(ownerOf(n)).stack())
			scopes = append(scopes, r.scope(ownerOf(n)))
		}
		r.fault(sim.Fault{Service: "elb", Operation: "DescribeTags", Kind: sim.FaultError, Code: "LoadBalancerNotFound", Status: 400, Count: 1})
		noFaults(t, r.session.Read(t.Context(), scopes))
	})
}

// TestStoppedInstance: EC2 says which instances do not run, and one that has just
// stopped keeps no other target out.
func TestStoppedInstance(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		w := r.networkWish(ownerOf(1))
		r.read(ownerOf(1)) // knows the instances as they run
		stopped := r.seed.InstanceIDs()[0]
		if _, err := r.session.ec2.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{stopped}}); err != nil {
			t.Fatal(err)
		}
		r.reset()
		report := r.walk(w.owner, w.stack())
		var refused []plan.Refusal
		for _, res := range report.Results {
			refused = append(refused, res.Outcome.Refused...)
		}
		if len(refused) != 1 || refused[0].Member != (model.Target{ID: stopped, Port: 30080}) || !fault.Is(refused[0].Err, fault.Invalid) {
			t.Errorf("refused: got %+v, want %s alone", refused, stopped)
		}
		if got := r.calls()["elbv2.RegisterTargets"]; got != 2 {
			t.Errorf("calls that register: got %d, want 2", got)
		}
		found := r.session.Read(t.Context(), []providers.Scope{r.scope(ownerOf(1))})[0]
		if !found.Facts.Instances[stopped].Stopped {
			t.Errorf("facts: %+v, want that it does not run", found.Facts.Instances[stopped])
		}
	})
}

// TestTargetsBeyondTheQuota: the listener is created although AWS takes only some of the
// targets, and the next plan uses the accepted number.
func TestTargetsBeyondTheQuota(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 1100}})
		w := r.networkWish(ownerOf(1))
		w.targets = slices.Sorted(slices.Values(r.seed.InstanceIDs()))
		report := r.walk(w.owner, w.stack())
		if err := report.Err(); !fault.Is(err, fault.Quota) {
			t.Errorf("run: got %v, want the quota", err)
		}
		found := r.session.Read(t.Context(), []providers.Scope{r.scope(ownerOf(1))})[0]
		if _, ok := found.Have.Get(stack.Key{Kind: model.KindListener, Name: model.PortKey("tcp", 80)}); !ok {
			t.Error("there is no listener")
		}
		targets, _ := found.Have.Get(stack.Key{Kind: model.KindTargets, Name: model.PortKey("tcp", 80)})
		if got := len(targets.Spec.(model.Targets).Targets); got < 200 || got > 1000 {
			t.Errorf("targets: got %d", got)
		}
		if got := found.Facts.Quota.Group; got != model.DefaultGroupTargets {
			t.Errorf("quota of a group: got %d, want %d", got, model.DefaultGroupTargets)
		}
	})
}

// TestGroupBeyondTheQuota: a group of our own that cannot have all rules has the rules
// that let clients in, after a few calls.
func TestGroupBeyondTheQuota(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		w := r.classicWish(ownerOf(1))
		w.ingress = nil
		for n := range 35 {
			cidr := "10." + model.Decimal(int32(n)) + ".0.0/16"
			w.ingress = append(w.ingress, model.Permission{Protocol: "tcp", FromPort: 80, ToPort: 80, CIDR: cidr}, model.Permission{Protocol: "icmp", FromPort: 3, ToPort: 4, CIDR: cidr})
		}
		slices.SortFunc(w.ingress, model.Permission.Compare)
		r.walk(w.owner, w.stack())
		ingress, _ := r.read(w.owner).Get(stack.Key{Kind: model.KindIngress})
		got := map[string]int{}
		for _, p := range ingress.Spec.(model.Ingress).Rules {
			got[p.Protocol]++
		}
		if d := cmp.Diff(map[string]int{"tcp": 35, "icmp": 25}, got); d != "" {
			t.Errorf("rules (-want +got):\n%s", d)
		}
		if n := r.calls()["ec2.AuthorizeSecurityGroupIngress"]; n > 5 { // one is for the group of the nodes
			t.Errorf("%d calls", n)
		}
	})
}
