package wire

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Names of quotas as DescribeAccountLimits has them.
const (
	quotaGroupTargets    = "targets-per-target-group"
	quotaZoneTargets     = "targets-per-availability-zone-per-network-load-balancer"
	quotaBalancerTargets = "targets-per-network-load-balancer"
)

// reportedAge is how long the quotas that refusals report are cached. It is short, because
// a refusal is what makes operators raise them.
const reportedAge = 5 * time.Minute

// nameQuotas adds to the refusals of a step which quota they are about, and its value: AWS
// sends neither. The values are read only after such a refusal. If that is not allowed, the
// report has the name alone.
func (s *Session) nameQuotas(ctx context.Context, step plan.Step, o plan.Outcome) {
	refused := []error{o.Err}
	for _, m := range o.Refused {
		refused = append(refused, m.Err)
	}
	for _, err := range refused {
		f, is := errors.AsType[*fault.Fault](err)
		if !is || f.Meaning != fault.Quota || f.Cause != fault.Unspecified || f.Limit != (fault.Limit{}) {
			continue
		}
		if f.Limit.Name = quotaOf(step.ID.Key.Kind, f); f.Limit.Name == "" || ofGroups(f.Code) {
			continue
		}
		limits, _ := s.facts.reported.Get(ctx, s.now(), reportedAge, func(ctx context.Context) (map[string]string, error) {
			all := map[string]string{}
			_ = s.eachLimit(ctx, func(name, most string) { all[name] = most }) // what was read until then is as true
			return all, nil
		})
		f.Limit.Most = limits[f.Limit.Name]
	}
}

// ofGroups reports whether a code is about security groups, whose quotas are in an API that
// the session does not use.
func ofGroups(code string) bool { return strings.Contains(code, "SecurityGroup") }

// quotaOf returns the name of the quota that a refused step exceeds; empty: unknown.
// Sources: API references of Elastic Load Balancing, errors; Amazon VPC quotas.
func quotaOf(kind stack.Kind, f *fault.Fault) string {
	classic := slices.Contains(blindsOf(familyClassic), kind)
	switch f.Code {
	case "TooManyLoadBalancers":
		if classic {
			return "classic-load-balancers"
		}
		return "network-load-balancers"
	case "TooManyListeners":
		return "listeners-per-network-load-balancer"
	case "TooManyCertificates":
		return "certificates-per-network-load-balancer"
	case "TooManyTargetGroups":
		return "target-groups"
	case "TooManyTargets":
		switch {
		case classic:
			return "classic-registered-instances"
		case strings.Contains(f.Text, "Availability Zone"):
			return quotaZoneTargets
		case strings.Contains(f.Text, "load balancer"):
			return quotaBalancerTargets
		}
		return quotaGroupTargets
	case "RulesPerSecurityGroupLimitExceeded":
		return model.QuotaGroupRules
	case "SecurityGroupLimitExceeded":
		return "VPC security groups per region"
	case "SecurityGroupsPerInterfaceLimitExceeded":
		return "security groups per network interface"
	}
	return ""
}
