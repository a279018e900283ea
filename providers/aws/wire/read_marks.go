package wire

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
)

// marks lists all load balancers, free target groups and security groups with the
// cluster's tag, and reads the tags of possible orphans.
func (s *Session) marks(ctx context.Context, w *sweep) (*marks, error) {
	r, m := newRead(ctx, s, nil), &marks{}
	for _, list := range []struct {
		name string
		run  func(*marks, *sweep) error
	}{
		{familyClassic, r.classics.markedClassic}, {familyNetwork, r.networks.markedNetwork}, {familyTargets, r.networks.markedTargets},
	} {
		if err := list.run(m, w); err != nil {
			return nil, fmt.Errorf("%s: %w", list.name, err)
		}
	}
	var err error
	if m.groups, err = s.taggedGroups(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", familyGroups, err)
	}
	if err := s.controlledMarks(ctx, r.networks, m); err != nil {
		return nil, fmt.Errorf("%s: %w", model.LBC, err)
	}
	m.sort()
	return m, nil
}

func (r *classicRead) markedClassic(m *marks, w *sweep) error {
	var found []markedBalancer
	in := &elb.DescribeLoadBalancersInput{PageSize: awssdk.Int32(balancerPage)}
	err := readPages(r.ctx, r.classic.DescribeLoadBalancers, in, func(o *elb.DescribeLoadBalancersOutput) {
		for _, d := range o.LoadBalancerDescriptions {
			found = append(found, markedBalancer{name: awssdk.ToString(d.LoadBalancerName), groups: d.SecurityGroups})
		}
	})
	if err != nil {
		return err
	}
	return m.keep(w, found, r.readClassicTags, r.tags)
}

func (r *networkRead) markedNetwork(m *marks, w *sweep) error {
	var found []markedBalancer
	err := r.eachBalancer(nil, func(lb elbv2types.LoadBalancer) {
		if lb.Type == elbv2types.LoadBalancerTypeEnumNetwork {
			found = append(found, markedBalancer{name: awssdk.ToString(lb.LoadBalancerName), arn: arnOf(lb), groups: lb.SecurityGroups})
		}
	})
	if err != nil {
		return err
	}
	return m.keep(w, found, r.readNetworkTags, r.tags)
}

// keep keeps load balancers, with the tags of possible orphans, which it reads. Classic ones are
// known by name, the others by ARN.
func (m *marks) keep(w *sweep, found []markedBalancer, readTags func([]string) error, tags map[string]model.Tags) error {
	var ids []string
	for _, lb := range found {
		if w.orphaned(lb.name) {
			ids = append(ids, cmp.Or(lb.arn, lb.name))
		}
	}
	if err := tagsOfAll(ids, readTags); err != nil {
		return err
	}
	for _, lb := range found {
		lb.tags = tags[cmp.Or(lb.arn, lb.name)]
		m.balancers = append(m.balancers, lb)
	}
	return nil
}

func (r *networkRead) markedTargets(m *marks, _ *sweep) error {
	var free []string
	in := &elbv2.DescribeTargetGroupsInput{PageSize: awssdk.Int32(balancerPage)}
	err := readPages(r.ctx, r.network.DescribeTargetGroups, in, func(o *elbv2.DescribeTargetGroupsOutput) {
		for _, t := range o.TargetGroups {
			if !strings.HasPrefix(awssdk.ToString(t.TargetGroupName), namePrefix) {
				continue
			}
			m.groupARNs = append(m.groupARNs, awssdk.ToString(t.TargetGroupArn))
			if len(existingOf(t.LoadBalancerArns, r.listed.all)) == 0 {
				free = append(free, awssdk.ToString(t.TargetGroupArn))
			}
		}
	})
	if err != nil {
		return err
	}
	if err := tagsOfAll(free, r.readNetworkTags); err != nil {
		return err
	}
	for _, arn := range free {
		m.targetGroups = append(m.targetGroups, r.tags[arn])
	}
	return nil
}

// tagsOfAll reads tags in as many calls as AWS requires.
func tagsOfAll(ids []string, readTags func([]string) error) error {
	for chunk := range slices.Chunk(ids, tagsPerCall) {
		if err := readTags(chunk); err != nil {
			return err
		}
	}
	return nil
}

// namePrefix begins the names of target groups and of managed security groups.
const namePrefix = "k8s-"
