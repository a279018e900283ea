package wire

import (
	"net"
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestFaultsOfCreation lets one call of a creation fail, in every way. The outcome
// reports how far the call got, and the next run succeeds without leftovers.
func TestFaultsOfCreation(t *testing.T) {
	for _, tc := range []struct {
		service, operation string
		network            bool
		once               bool // the SDK must not repeat it
	}{
		{"ec2", "CreateSecurityGroup", false, false},
		{"ec2", "AuthorizeSecurityGroupIngress", false, false},
		{"elb", "CreateLoadBalancer", false, true},
		{"elb", "RegisterInstancesWithLoadBalancer", false, false},
		{"elb", "ConfigureHealthCheck", false, false},
		{"elbv2", "CreateLoadBalancer", true, true},
		{"elbv2", "CreateTargetGroup", true, true},
		{"elbv2", "RegisterTargets", true, false},
		{"elbv2", "CreateListener", true, false},
	} {
		for _, f := range []sim.Fault{
			{Kind: sim.FaultCutBefore, Count: 1},
			{Kind: sim.FaultCutAfter, Count: 1},
			{Kind: sim.FaultError, Count: 1, Code: "InternalFailure"},
			{Kind: sim.FaultError, Count: 1, Code: "Throttling", Status: 400},
		} {
			virtual.Run(t, tc.service+"/"+tc.operation+"/"+string(f.Kind)+f.Code, func(t *testing.T) {
				r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
				o := ownerOf(1)
				var want *stack.Stack
				if tc.network {
					want = r.networkWish(o).stack()
				} else {
					want = r.classicWish(o).stack()
				}
				f.Service, f.Operation = tc.service, tc.operation
				r.fault(f)
				report := r.walk(o, want)
				checkFault(t, report, f, tc.once)
				if calls := r.calls()[tc.service+"."+tc.operation]; tc.once && f.Code != "Throttling" && calls != 1 {
					t.Errorf("calls in the first run: got %d, want 1", calls)
				}
				r.arrive(o, want)
				r.arrive(o, nil)
				if left := ownedKeys(r.read(o)); len(left) > 0 {
					t.Errorf("left after the release: %v", left)
				}
			})
		}
	}
}

func checkFault(t *testing.T, report engine.Report, f sim.Fault, once bool) {
	t.Helper()
	var failed []engine.Result
	for _, res := range report.Results {
		if res.State == engine.Failed {
			failed = append(failed, res)
		}
	}
	switch {
	case f.Code == "Throttling":
		if len(failed) > 0 || report.Stale() {
			t.Errorf("a throttled call: got %+v, want none to fail, since it is made again", failed)
		}
	case once:
		if len(failed) != 1 || !fault.Is(failed[0].Outcome.Err, fault.Ambiguous) || failed[0].Outcome.Sent != plan.MaybeSent || !report.Stale() {
			t.Errorf("a lost creation: got %+v, want one failure, Ambiguous and maybe sent", failed)
		}
	default:
		for _, res := range failed {
			if !report.Stale() {
				t.Errorf("a call that was repeated: %s: %v leaves a stale picture that counts as good", res.Step.ID, res.Outcome.Err)
			}
		}
	}
}

// TestNotSent: a write that cannot even be sent changed nothing for certain.
func TestNotSent(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		unusedURL := "http://" + listener.Addr().String()
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		c := r.config
		c.Overrides = slices.Clone(c.Overrides)
		for i := range c.Overrides {
			c.Overrides[i].URL = unusedURL
		}
		session, _, err := Open(t.Context(), c, providers.Env{})
		if err != nil {
			t.Fatal(err)
		}
		want := r.networkWish(ownerOf(1)).stack()
		lb, _ := want.Get(stack.Key{Kind: model.KindNetwork})
		step := plan.Step{ID: plan.StepID{Owner: ownerOf(1), Key: lb.Key, Action: plan.Create}, Target: lb}
		o := session.Apply(t.Context(), plan.Batch{Steps: []plan.Step{step}})[0]
		if !fault.Is(o.Err, fault.Unavailable) || o.Sent != plan.NotSent {
			t.Errorf("got %v, sent %v, want Unavailable and not sent", o.Err, o.Sent)
		}
	})
}

// TestDenied: what may not be listed is blind, and the rest is read.
func TestDenied(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		w := r.networkWish(ownerOf(1))
		r.arrive(w.owner, w.stack())
		r.fault(sim.Fault{Service: "elb", Operation: "DescribeLoadBalancers", Kind: sim.FaultError, Code: "AccessDenied", Status: 403})
		found := r.session.Read(t.Context(), []providers.Scope{r.scope(w.owner)})[0]
		if found.Err != nil || found.Blind[model.KindClassic] == nil || found.Blind[model.KindNetwork] != nil {
			t.Errorf("got error %v, blind %v, want Classic Load Balancers blind and no error", found.Err, found.Blind)
		}
		if _, ok := found.Have.Get(stack.Key{Kind: model.KindListener, Name: "tcp-80"}); !ok {
			t.Error("what is allowed was not read")
		}
		r.fault(sim.Fault{Service: "ec2", Operation: "DescribeSecurityGroups", Kind: sim.FaultError, Code: "UnauthorizedOperation", Status: 403})
		found = r.session.Read(t.Context(), []providers.Scope{r.scope(w.owner)})[0]
		if !fault.Is(found.Err, fault.Denied) {
			t.Errorf("facts are denied: got %v, want Denied", found.Err)
		}
	})
}

// TestGroupInUse: a group that interfaces of a deleted load balancer still have is
// waited for, and is deleted in the end.
func TestGroupInUse(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}, Clock: clock, ReleaseDelay: time.Minute})
		w := r.classicWish(ownerOf(1))
		r.arrive(w.owner, w.stack())
		report := r.walk(w.owner, nil)
		if err := report.Err(); err != nil {
			t.Fatalf("a wait counts as a failure: %v", err)
		}
		if _, waits := report.Wait(); !waits || report.Stale() {
			t.Errorf("got %+v, want a wait", report.Results)
		}
		clock.SetTime(clock.Now().Add(2 * time.Minute))
		r.arrive(w.owner, nil)
	})
}

// TestBusy: the cloud is still at an earlier change.
func TestBusy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		w := r.networkWish(ownerOf(1))
		r.fault(sim.Fault{Operation: "CreateListener", Kind: sim.FaultError, Code: "PriorRequestNotComplete", Status: 400, Count: 1})
		report := r.walk(w.owner, w.stack())
		if _, waits := report.Wait(); !waits || report.Err() != nil {
			t.Errorf("got %v, want a wait", report.Err())
		}
		r.arrive(w.owner, w.stack())
	})
}

// TestForeign: a load balancer under the Service's name with another's marks is
// seen and left alone.
func TestForeign(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		for n, tags := range []model.Tags{
			{model.TagServiceName: "shop/another"},
			{model.TagServiceName: model.ServiceName(ownerOf(1)), model.TagClusterPrefix + "another": "owned"},
		} {
			w := r.networkWish(ownerOf(n))
			w.lb.Tags = tags
			if err := r.walk(w.owner, w.stack()).Err(); err != nil {
				t.Fatal(err)
			}
			have := r.read(w.owner)
			lb, ok := have.Get(stack.Key{Kind: model.KindNetwork})
			if !ok || lb.Proof != stack.None {
				t.Errorf("tags %v: got %+v, want a load balancer without proof", tags, lb)
			}
			r.reset()
			if err := r.walk(w.owner, nil).Err(); err != nil {
				t.Fatal(err)
			}
			if deletes := r.calls()["elbv2.DeleteLoadBalancer"]; deletes > 0 {
				t.Errorf("tags %v: another owner's load balancer was deleted", tags)
			}
		}
	})
}

// TestOtherController: the AWS Load Balancer Controller names the group of a
// Service's load balancer as the official controller does. When a Service moves
// to it, its group and what it has in the groups of the nodes stay.
func TestOtherController(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		for name, tags := range map[string]model.Tags{
			"its tag alone":          {model.TagLBCCluster: "kubernetes"},
			"and the cluster's tags": {r.config.Cluster.Key(): "owned", model.TagLBCCluster: "kubernetes"},
		} {
			w := r.networkWish(ownerOf(len(tags)))
			r.arrive(w.owner, w.stack())
			theirs := r.theirGroup(model.ManagedGroupName("kubernetes", w.owner), tags)
			have := r.read(w.owner)
			group, ok := have.Get(stack.Key{Kind: model.KindGroup, Name: model.ManagedNLBName})
			if !ok || group.Proof != stack.None {
				t.Errorf("%s: got %+v, want a group without proof", name, group)
			}
			r.reset()
			report := r.walk(w.owner, nil)
			if _, waits := report.Wait(); report.Err() != nil || waits {
				t.Errorf("%s: got %+v, want a release that leaves the group", name, report.Results)
			}
			if deletes := r.calls()["ec2.DeleteSecurityGroup"]; deletes > 0 {
				t.Errorf("%s: another owner's group was deleted", name)
			}
			rules, err := r.session.ec2.DescribeSecurityGroupRules(t.Context(), &ec2.DescribeSecurityGroupRulesInput{
				Filters: []ec2types.Filter{{Name: awssdk.String("group-id"), Values: []string{r.seed.NodeGroup}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			kept := slices.ContainsFunc(rules.SecurityGroupRules, func(rule ec2types.SecurityGroupRule) bool {
				return rule.ReferencedGroupInfo != nil && awssdk.ToString(rule.ReferencedGroupInfo.GroupId) == theirs
			})
			if !kept {
				t.Errorf("%s: the rule that admits another owner's group was revoked", name)
			}
		}
		orphans, err := r.session.Orphans(t.Context(), providers.Live{})
		if err != nil || len(orphans) > 0 {
			t.Errorf("orphans: got %v, %v, want none", orphans, err)
		}
	})
}

// theirGroup makes a group, and lets it into the group of the nodes.
func (r *rig) theirGroup(name string, tags model.Tags) string {
	r.Helper()
	made, err := r.session.ec2.CreateSecurityGroup(r.Context(), &ec2.CreateSecurityGroupInput{
		GroupName: &name, Description: awssdk.String(model.ManagedGroupDescription), VpcId: &r.seed.VPC,
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeSecurityGroup, Tags: tagList(tags, ec2Tag)}},
	})
	if err != nil {
		r.Fatal(err)
	}
	_, err = r.session.ec2.AuthorizeSecurityGroupIngress(r.Context(), &ec2.AuthorizeSecurityGroupIngressInput{
		GroupId: &r.seed.NodeGroup,
		IpPermissions: []ec2types.IpPermission{{
			IpProtocol: awssdk.String("tcp"), FromPort: awssdk.Int32(30080), ToPort: awssdk.Int32(30080),
			UserIdGroupPairs: []ec2types.UserIdGroupPair{{GroupId: made.GroupId}},
		}},
	})
	if err != nil {
		r.Fatal(err)
	}
	return awssdk.ToString(made.GroupId)
}
