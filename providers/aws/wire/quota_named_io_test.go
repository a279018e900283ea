package wire

import (
	"errors"
	"testing"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/refusals"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// refused returns the fault that the session makes of a refusal of a step of the kind.
func (r *rig) refused(kind stack.Kind, said kit.Refusal) error {
	err := kit.Errors{Read: refusalOf, Meaning: meaningOfAnswer, Cause: causeOf}.Refused(said, kit.Sent)
	r.session.nameQuotas(r.Context(), plan.Step{ID: plan.StepID{Key: stack.Key{Kind: kind}}}, plan.Failed(err))
	return err
}

// TestRefusalTexts: the condition of a refusal has the quota with its value, and the next step that
// the code calls for. The messages are those of the API references.
func TestRefusalTexts(t *testing.T) {
	r := newRig(t, simaws.Options{})
	kind := map[string]stack.Kind{"Exceeded quota of account 123456789012": model.KindClassic}
	refusals.Check(t, "testdata/refusals.golden", func(said kit.Refusal) error { return r.refused(kind[said.Text], said) },
		kit.Refusal{Status: 400, Code: "TooManyLoadBalancers", Text: "Exceeded quota of account 123456789012"},
		kit.Refusal{Status: 400, Code: "TooManyLoadBalancers", Text: "The maximum number of load balancers has been reached"},
		kit.Refusal{Status: 400, Code: "TooManyTargetGroups", Text: "The maximum number of target groups has been reached"},
		kit.Refusal{Status: 400, Code: "TooManyListeners", Text: "The maximum number of listeners has been reached on load balancer 'arn'"},
		kit.Refusal{Status: 400, Code: "TooManyCertificates", Text: "The maximum number of certificates has been reached on load balancer 'arn'"},
		kit.Refusal{Status: 400, Code: "TooManyTargets", Text: "The maximum number of targets of load balancer 'arn' in Availability Zone 'us-east-1a' has been reached"},
		kit.Refusal{Status: 400, Code: "RulesPerSecurityGroupLimitExceeded", Text: "The maximum number of rules per security group has been reached."},
		kit.Refusal{Status: 400, Code: "SecurityGroupLimitExceeded", Text: "The maximum number of security groups has been reached."},
		kit.Refusal{Status: 400, Code: "TagLimitExceeded", Text: "The maximum number of Tags has been reached."},
		kit.Refusal{Status: 400, Code: "InvalidSubnet", Text: "Not enough IP space available in subnet-1."},
		kit.Refusal{Status: 400, Code: "InsufficientFreeAddressesInSubnet", Text: "The specified subnet does not have enough free addresses to satisfy the request."},
		kit.Refusal{Status: 403, Code: "ExpiredToken", Text: "The security token included in the request is expired"},
		kit.Refusal{Status: 403, Code: "AccessDenied", Text: "User is not authorized to perform: elasticloadbalancing:CreateLoadBalancer"},
		kit.Refusal{Status: 400, Code: "OperationNotPermitted", Text: "Load balancer 'arn' cannot be deleted because deletion protection is enabled"},
		kit.Refusal{Status: 401, Code: "OptInRequired", Text: "You are not subscribed to this service."},
		kit.Refusal{Status: 400, Code: "DuplicateLoadBalancerName", Text: "A load balancer with the same name 'shop' exists, but with different settings"},
		kit.Refusal{Status: 400, Code: "ResourceInUse", Text: "Target group 'arn' is currently in use by a listener or a rule"},
		kit.Refusal{Status: 400, Code: "DependencyViolation", Text: "resource sg-1 has a dependent object"},
		kit.Refusal{Status: 400, Code: "Throttling", Text: "Rate exceeded"},
	)
}

// TestQuotasAreReadAfterRefusals: no other refusal reads the values of quotas, and many
// refusals read them once. Without the right to it, the quota is still named.
func TestQuotasAreReadAfterRefusals(t *testing.T) {
	for _, denied := range []bool{false, true} {
		r := newRig(t, simaws.Options{})
		calls := func() int { return r.calls()["elbv2.DescribeAccountLimits"] }
		if denied {
			r.fault(sim.Fault{Operation: "DescribeAccountLimits", Kind: sim.FaultError, Code: "AccessDenied"})
		}
		for _, code := range []string{"AccessDenied", "RulesPerSecurityGroupLimitExceeded", "InsufficientFreeAddressesInSubnet"} {
			if _ = r.refused(model.KindNetwork, kit.Refusal{Status: 400, Code: code}); calls() != 0 {
				t.Fatalf("denied %v: %s reads the quotas of load balancers", denied, code)
			}
		}
		want := fault.Limit{Name: "network-load-balancers", Most: "50"}
		if denied {
			want.Most = ""
		}
		for range 3 {
			f, _ := errors.AsType[*fault.Fault](r.refused(model.KindNetwork, kit.Refusal{Status: 400, Code: "TooManyLoadBalancers"}))
			if f.Limit != want {
				t.Errorf("denied %v: quota %+v, want %+v", denied, f.Limit, want)
			}
		}
		if calls() != 1 {
			t.Errorf("denied %v: %d reads of quotas", denied, calls())
		}
	}
}
