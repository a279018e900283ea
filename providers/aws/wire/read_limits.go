package wire

import (
	"context"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
)

const (
	// manyNodes is the number of nodes from which on the quota of targets is read: the
	// smallest of the quotas.
	manyNodes = model.DefaultZoneTargets
	// limitsAge is how long quotas are believed; they change by hand, and only up.
	limitsAge = time.Hour
)

// listLimits asks for the quotas of targets where there are so many nodes that they can
// matter. An account that does not let us ask is tried out.
func (r *vpcRead) listLimits() error {
	most := 0
	for _, scope := range r.scopes {
		most = max(most, scope.Nodes.Len())
	}
	if most <= manyNodes {
		return nil
	}
	_, err := r.facts.limits.Get(r.ctx, r.now(), limitsAge, func(ctx context.Context) (model.TargetQuota, error) {
		q, err := r.accountLimits(ctx)
		if fault.Is(err, fault.Denied) {
			return model.TargetQuota{}, nil // nor will it in the next minute
		}
		return q, err
	})
	return err
}

// accountLimits returns the quotas of targets.
func (s *Session) accountLimits(ctx context.Context) (model.TargetQuota, error) {
	var q model.TargetQuota
	to := map[string]*int{
		quotaGroupTargets:              &q.Group,
		quotaZoneTargets:               &q.Zone,
		quotaBalancerTargets:           &q.Balancer,
		"classic-registered-instances": &q.Classic,
	}
	return q, s.eachLimit(ctx, func(name, most string) {
		if n, err := strconv.Atoi(most); err == nil && to[name] != nil {
			*to[name] = n
		}
	})
}

// eachLimit reads the quotas of both APIs. Sources: API references of Elastic Load
// Balancing, 2012-06-01 and 2015-12-01, DescribeAccountLimits; AWS CLI reference,
// elbv2 describe-account-limits (names).
func (s *Session) eachLimit(ctx context.Context, note func(name, most string)) error {
	err := readPages(ctx, s.network.DescribeAccountLimits, &elbv2.DescribeAccountLimitsInput{}, func(o *elbv2.DescribeAccountLimitsOutput) {
		for _, l := range o.Limits {
			note(awssdk.ToString(l.Name), awssdk.ToString(l.Max))
		}
	})
	if err != nil {
		return err
	}
	return readPages(ctx, s.classic.DescribeAccountLimits, &elb.DescribeAccountLimitsInput{}, func(o *elb.DescribeAccountLimitsOutput) {
		for _, l := range o.Limits {
			note(awssdk.ToString(l.Name), awssdk.ToString(l.Max))
		}
	})
}
