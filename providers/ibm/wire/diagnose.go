package wire

import (
	"context"
	"net/http"
	"net/url"
	"regexp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm/model"
)

const roleFile = "ibm.txt"

// absentID is an identifier of no resource, in the form of those of VPC.
const absentID = "r000-00000000-0000-4000-8000-000000000000"

// grantPattern finds the role and the kind of resources in a command of the role.
var grantPattern = regexp.MustCompile(`--roles (\w+) (?:.*--attributes "(\w+)=|--resource-type (resource-group))`)

// Diagnose makes a list call, and a write about what does not exist, for each kind of resources of the role, and compares the
// quotas. IAM evaluates no role before it is used.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	return append(s.trials().Diagnose(ctx, roles), s.diagnoseQuotas(ctx)...)
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
		"loadBalancerId: Editor":  {list("load_balancers"), remove("load_balancers", absentID)},
		"securityGroupId: Editor": {list("security_groups"), remove("security_groups", absentID, "targets", absentID), remove("security_groups", absentID, "rules", absentID)},
		"subnetId: Viewer":        {list("subnets")},
		"vpcId: Viewer":           {list("vpcs")},
		"resource-group: Viewer":  {group},
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

// defaultBalancers is the number of load balancers of each family that a new account may have in a region.
// Source: ibm-cloud-docs/vpc, quotas.md.
const defaultBalancers = 50

// diagnoseQuotas compares the number of load balancers of each family with the default quota. VPC has no call that answers
// with the quotas of the account.
func (s *Session) diagnoseQuotas(ctx context.Context) []providers.Diagnosis {
	found, err := listAll[balancerDoc](ctx, s, "load_balancers")
	if err != nil {
		return []providers.Diagnosis{providers.Unchecked(providers.CheckQuota, "load balancers", err.Error(), "See the results of BRT502.")}
	}
	network := 0
	for _, d := range found {
		if balancerSpec(d).Kind != model.ALB {
			network++
		}
	}
	return []providers.Diagnosis{
		providers.WithinDefault("application load balancers", len(found)-network, defaultBalancers),
		providers.WithinDefault("network load balancers", network, defaultBalancers),
	}
}
