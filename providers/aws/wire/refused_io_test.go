package wire

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestRefusedNames: a refusal counts for the one Service that got it, and for a while; a
// group that does not exist is known from a list, which is asked for once.
func TestRefusedNames(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		const nowhere, group = "arn:aws:acm:us-east-1:123456789012:certificate/nowhere", "sg-0123456789abcdef0"
		absent := func() map[string]bool {
			scope := r.scope(ownerOf(2))
			for _, id := range []string{group, r.seed.DefaultGroup, group} {
				scope.Facts = append(scope.Facts, providers.Lookup{Kind: model.KindGroup, By: model.ByWanted, Value: id})
			}
			found := r.session.Read(t.Context(), []providers.Scope{scope})
			noFaults(t, found)
			return found[0].Facts.Absent
		}
		want := r.classicWish(ownerOf(1))
		want.ports[0].Protocol, want.ports[0].Certificate = "SSL", nowhere
		report := r.walk(want.owner, want.stack())
		if !report.Learned() || !fault.Is(report.Err(), fault.Invalid) {
			t.Errorf("a certificate that is not there: %v", report.Err())
		}
		if diff := cmp.Diff(map[string]bool{group: true, model.RefusedTo(want.owner, nowhere): true}, absent()); diff != "" {
			t.Errorf("absent (-want +got):\n%s", diff)
		}
		time.Sleep(refusedAge)
		r.walk(want.owner, want.stack())
		time.Sleep(refusedAge)
		if !absent()[model.RefusedTo(want.owner, nowhere)] {
			t.Error("what was refused twice is tried as soon as the first time")
		}
		time.Sleep(refusedAge)
		r.reset()
		if diff := cmp.Diff(map[string]bool{group: true}, absent()); diff != "" {
			t.Errorf("absent after a while (-want +got):\n%s", diff)
		}
		if n := r.calls()["ec2.DescribeSecurityGroups"]; n != 3 {
			t.Errorf("%d lists of groups, want the two of every read and one of what is not there", n)
		}
	})
}

// TestNotYetIsNoRefusal: a group of the user's beside one that was just made, and that AWS
// does not show yet, is not the one that is missing.
func TestNotYetIsNoRefusal(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		want := r.classicWish(ownerOf(1))
		want.lb.Groups = append(want.lb.Groups, stack.RefID(r.seed.DefaultGroup))
		r.fault(sim.Fault{Kind: sim.FaultError, Count: 1, Status: 400, Service: "elb", Operation: "CreateLoadBalancer", Code: "InvalidSecurityGroup", Message: "Security group 'sg-new' does not exist"})
		if report := r.walk(want.owner, want.stack()); report.Learned() {
			t.Error("something was learned of a group that is not there yet")
		}
	})
}

// TestRefusedIn: a refusal is about the names that its text has, else about the only one.
func TestRefusedIn(t *testing.T) {
	listener := model.Listener{Certificate: "arn:aws:acm:r:1:certificate/a", SSLPolicy: "ELBSecurityPolicy-none"}
	mappings := model.Network{Mappings: []model.Mapping{{Subnet: "subnet-1", Allocation: "eipalloc-1"}, {Subnet: "subnet-2", Allocation: "eipalloc-2"}}}
	group := stack.RefID("sg-1")
	for _, tc := range []struct {
		sent       any
		code, text string
		want       []string
	}{
		{listener, "CertificateNotFound", "not found", []string{"arn:aws:acm:r:1:certificate/a"}},
		{listener, "SSLPolicyNotFound", "not found", []string{"ELBSecurityPolicy-none"}},
		{listener, "InvalidConfigurationRequest", "of another sort", nil},
		{mappings, "AllocationIdNotFound", "The allocation ID 'eipalloc-2' does not exist", []string{"eipalloc-2"}},
		{mappings, "AllocationIdNotFound", "one does not exist", nil},
		{model.Network{Groups: []stack.Ref{group}}, "InvalidSecurityGroup", "does not exist", []string{"sg-1"}},
		{model.Permission{CIDR: "pl-1"}, "InvalidPrefixListId.NotFound", "does not exist", []string{"pl-1"}},
		{model.ClassicPolicy{Attributes: model.Tags{"Reference-Security-Policy": "none"}}, "InvalidConfigurationRequest", "", []string{"none"}},
		{listener, "Throttling", "arn:aws:acm:r:1:certificate/a", nil},
	} {
		if diff := cmp.Diff(tc.want, refusedIn(tc.sent, &fault.Fault{Code: tc.code, Text: tc.text})); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tc.code, tc.text, diff)
		}
	}
}
