package elbv2

import (
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

// ofTagged is the member of a request that names tagged resources.
type ofTagged struct {
	ResourceArns []string `required:"true"`
}

// Find gives the tags of all the resources; one that is missing fails the call.
func (of ofTagged) Find(c *call) ([]*[]lbkit.Tag, error) {
	if len(of.ResourceArns) == 0 {
		return nil, query.Errorf("ValidationError", "At least one resource ARN must be specified")
	}
	if len(of.ResourceArns) > maxIdentifiers {
		return nil, query.Errorf("ValidationError", "Up to '%d' resource ARNs can be specified in a single call", maxIdentifiers)
	}
	var tags []*[]lbkit.Tag
	for _, arn := range of.ResourceArns {
		at, err := c.tagsAt(arn)
		if err != nil {
			return nil, err
		}
		tags = append(tags, at)
	}
	return tags, nil
}

type addTagsInput struct {
	Tags []lbkit.Tag `required:"true" count:"1.."`
	ofTagged
}

func addTags(c *call, have []*[]lbkit.Tag, in addTagsInput) (any, error) {
	return nil, lbkit.AddTags(have, in.Tags, c.opt.Limits.Tags)
}

type removeTagsInput struct {
	TagKeys []string `required:"true" length:"1..128" pattern:"^([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)$"`
	ofTagged
}

func removeTags(_ *call, have []*[]lbkit.Tag, in removeTagsInput) (any, error) {
	for _, at := range have {
		*at = lbkit.DropTags(*at, in.TagKeys)
	}
	return nil, nil
}

type tagDescription struct {
	ResourceArn string
	Tags        []lbkit.Tag
}

func describeTags(_ *call, have []*[]lbkit.Tag, of ofTagged) (any, error) {
	var out struct{ TagDescriptions []tagDescription }
	for i, at := range have {
		out.TagDescriptions = append(out.TagDescriptions, tagDescription{of.ResourceArns[i], *at})
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
