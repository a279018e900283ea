package wire

import (
	"context"
	"net/http"
	"net/url"
	"regexp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

const roleFile = "ibm.txt"

// absentID is an identifier of no resource, in the form of those of VPC.
const absentID = "r000-00000000-0000-4000-8000-000000000000"

// grantPattern finds the role and the kind of resources in a command of the role.
var grantPattern = regexp.MustCompile(`--roles (\w+) (?:.*--attributes "(\w+)=|--resource-type (resource-group))`)

// Diagnose makes a list call, and a write about what does not exist, for each kind of resources of the role. IAM evaluates no
// role before it is used.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	quotas := providers.Unchecked(providers.CheckQuota, "quotas", "VPC has no call that answers with quotas", "Compare the number of load balancers with \"Quotas and service limits for VPC\" in the documentation of IBM Cloud.")
	return append(s.trials().Diagnose(ctx, roles), quotas)
}

// trials declares the calls without effect of each kind of resources.
func (s *Session) trials() providers.Trials {
	return providers.Trials{
		About: "IBM Cloud credentials", Role: roleFile, Permissions: providers.RoleLines(grantsOf), Calls: s.buildTrials(),
		Login: "Correct the API key or the trusted profile in the cloud configuration file; see docs/providers/ibm.md.",
	}
}

// grantsOf returns the kind of resources and the role of a command; none: the line is no such command.
func grantsOf(line string) []string {
	m := grantPattern.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	return []string{m[2] + m[3] + ": " + m[1]}
}

// buildTrials returns the calls without effect, by kind of resources and role.
func (s *Session) buildTrials() map[string][]providers.Trial {
	list := func(collection string) providers.Trial {
		r := s.vpc(http.MethodGet, nil, collection)
		r.query.Set("limit", "1")
		return providers.Trial{Call: func(ctx context.Context) error {
			_, err := s.read(ctx, r, nil)
			return err
		}}
	}
	remove := func(path ...string) providers.Trial {
		r := s.vpc(http.MethodDelete, nil, path...)
		return providers.Trial{Absent: true, Call: func(ctx context.Context) error { return s.write(ctx, r, nil) }}
	}
	group := providers.Trial{Call: s.tryGroup}
	return map[string][]providers.Trial{
		"loadBalancerId: Editor":    {list("load_balancers"), remove("load_balancers", absentID)},
		"securityGroupId: Operator": {list("security_groups"), remove("security_groups", absentID, "targets", absentID)},
		"subnetId: Viewer":          {list("subnets")},
		"vpcId: Viewer":             {list("vpcs")},
		"resource-group: Viewer":    {group},
	}
}

// tryGroup reads the resource groups. A caller that may see none gets an empty list.
func (s *Session) tryGroup(ctx context.Context) error {
	var found struct {
		Resources []nameDoc `json:"resources"`
	}
	r := request{method: http.MethodGet, url: s.manager + "/v2/resource_groups", query: url.Values{"account_id": {s.config.Account}}}
	if _, err := s.read(ctx, r, &found); err != nil {
		return err
	}
	if len(found.Resources) == 0 {
		return fault.New(fault.Denied, "no resource group is visible to the API key")
	}
	return nil
}
