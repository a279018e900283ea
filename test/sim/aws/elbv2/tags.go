package elbv2

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// tagsAt finds the tags of any resource by its ARN. The AWS Load Balancer Controller asks
// for those of rules. Source: Elastic Load Balancing API reference, DescribeTags.
func (c *call) tagsAt(arn string) (*[]lbkit.Tag, error) {
	switch {
	case strings.Contains(arn, ":loadbalancer/"):
		lb, err := c.loadBalancerAt(arn)
		if err != nil {
			return nil, err
		}
		return &lb.Tags, nil
	case strings.Contains(arn, ":targetgroup/"):
		tg, err := c.groupAt(arn)
		if err != nil {
			return nil, err
		}
		return &tg.Tags, nil
	case strings.Contains(arn, ":listener/"):
		l, err := c.listenerAt(arn)
		if err != nil {
			return nil, err
		}
		return &l.Tags, nil
	case strings.Contains(arn, ":listener-rule/"):
		for _, l := range c.State.Listeners {
			if ruleARN(l) == arn {
				return &l.RuleTags, nil
			}
		}
		return nil, query.Errorf("RuleNotFound", "Rule '%s' not found", arn)
	}
	return nil, query.Errorf("ValidationError", "'%s' is not a valid resource ARN", arn)
}

// tagged reads ResourceArns and finds all their tags; one that is missing fails the call.
func (c *call) tagged() (arns []string, tags []*[]lbkit.Tag, err error) {
	c.Required("ResourceArns")
	arns = c.Strs("ResourceArns")
	if err := c.Err(); err != nil {
		return nil, nil, err
	}
	if len(arns) == 0 {
		return nil, nil, query.Errorf("ValidationError", "At least one resource ARN must be specified")
	}
	if len(arns) > maxIdentifiers {
		return nil, nil, query.Errorf("ValidationError", "Up to '%d' resource ARNs can be specified in a single call", maxIdentifiers)
	}
	for _, arn := range arns {
		at, err := c.tagsAt(arn)
		if err != nil {
			return nil, nil, err
		}
		tags = append(tags, at)
	}
	return arns, tags, nil
}

func addTags(c *call) (any, error) {
	c.Required("Tags")
	add := c.Tags("Tags")
	_, have, err := c.tagged()
	if err != nil {
		return nil, err
	}
	return nil, lbkit.AddTags(have, add, c.opt.Limits.Tags)
}

func removeTags(c *call) (any, error) {
	c.Required("TagKeys")
	keys := c.EachText("TagKeys", lbkit.TagKey()...)
	_, have, err := c.tagged()
	if err != nil {
		return nil, err
	}
	for _, at := range have {
		*at = lbkit.DropTags(*at, keys)
	}
	return nil, nil
}

type tagDescription struct {
	ResourceArn string
	Tags        query.Members[lbkit.Tag]
}

func describeTags(c *call) (any, error) {
	arns, have, err := c.tagged()
	if err != nil {
		return nil, err
	}
	var out struct {
		TagDescriptions query.Members[tagDescription]
	}
	for i, at := range have {
		out.TagDescriptions.Member = append(out.TagDescriptions.Member, tagDescription{arns[i], query.Members[lbkit.Tag]{Member: slices.Clone(*at)}})
	}
	return out, nil
}

// TagsOf returns the tags of a resource by its ARN, and whether it exists.
func (a *API) TagsOf(arn string) (tags map[string]string, there bool) {
	a.Locked(func() {
		if at, err := (&call{API: a}).tagsAt(arn); err == nil {
			tags, there = lbkit.TagMap(*at), true
		}
	})
	return tags, there
}
