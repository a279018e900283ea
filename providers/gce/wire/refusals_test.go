package wire

import (
	"testing"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/refusals"
)

// TestRefusalTexts: the condition of a refusal has the quota with its limit, and the next step that
// the code calls for. The messages are those of kubernetes/kubernetes 42361 and 17464,
// kyma-project/test-infra 677, and of the pages on errors of Compute Engine.
func TestRefusalTexts(t *testing.T) {
	refusals.Check(t, "testdata/refusals.golden", func(r kit.Refusal) error { return answerErrors().Refused(r, kit.Sent) },
		kit.Refusal{Status: 403, Code: "quotaExceeded", Text: "Quota 'FORWARDING_RULES' exceeded. Limit: 15.0"},
		kit.Refusal{Status: 403, Code: "QUOTA_EXCEEDED", Text: "Quota 'STATIC_ADDRESSES' exceeded.  Limit: 8.0 in region us-central1."},
		kit.Refusal{Status: 403, Code: "quotaExceeded", Text: "Quota 'FIREWALLS' exceeded. Limit: 500.0 globally."},
		kit.Refusal{Status: 403, Code: "limitExceeded", Text: "Exceeded limit 'MAX_INSTANCES_IN_INSTANCE_GROUP' on resource 'k8s-ig--a'. Limit: 1000.0"},
		kit.Refusal{Status: 403, Code: "IP_SPACE_EXHAUSTED", Text: "Instance provisioning failed because IP space of 'projects/p/regions/r/subnetworks/default' is exhausted."},
		kit.Refusal{Status: 503, Code: "ZONE_RESOURCE_POOL_EXHAUSTED", Text: "The zone does not have enough resources available to fulfill the request."},
		kit.Refusal{Status: 412, Code: "conditionNotMet", Text: "Constraint constraints/compute.restrictLoadBalancerCreationForTypes violated for projects/p."},
		kit.Refusal{Status: 403, Code: "forbidden", Text: "Required 'compute.forwardingRules.create' permission for 'projects/p/regions/r/forwardingRules/a1'"},
		kit.Refusal{Status: 401, Code: "authError", Text: "Request had invalid authentication credentials."},
		kit.Refusal{Status: 403, Code: "accessNotConfigured", Text: "Compute Engine API has not been used in project 1 before or it is disabled."},
		kit.Refusal{Status: 400, Code: "invalid", Text: "Invalid value for field 'resource.IPAddress': '10.9.9.9'. Specified IP address does not belong to the range of the subnetwork."},
		kit.Refusal{Status: 400, Code: "resourceInUseByAnotherResource", Text: "The backend_service resource 'projects/p/regions/r/backendServices/a1' is already being used by 'projects/p/regions/r/forwardingRules/a1'"},
		kit.Refusal{Status: 400, Code: "IP_IN_USE_BY_ANOTHER_RESOURCE", Text: "IP '10.0.0.7' is already being used by another resource."},
		kit.Refusal{Status: 412, Code: "conditionNotMet", Text: "IP_IN_USE_BY_ANOTHER_RESOURCE: IP '10.0.0.7' is already being used by another resource: 'projects/p/regions/r/forwardingRules/a1'."},
		kit.Refusal{Status: 409, Code: "alreadyExists", Text: "The resource 'projects/p/global/firewalls/k8s-fw-a1' already exists"},
	)
}
