package elb

import (
	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// ofNames is the member of a request that names load balancers.
type ofNames struct {
	LoadBalancerNames []string `required:"true"`
}

// Find gives the load balancers; one that is missing fails the call.
func (of ofNames) Find(c *call) ([]*loadBalancer, error) {
	if len(of.LoadBalancerNames) == 0 {
		return nil, query.Errorf("ValidationError", "LoadBalancerNames cannot be empty")
	}
	var out []*loadBalancer
	for _, name := range of.LoadBalancerNames {
		lb, err := ofBalancer{name}.Find(c)
		if err != nil {
			return nil, err
		}
		out = append(out, lb)
	}
	return out, nil
}

type addTagsInput struct {
	Tags []lbkit.Tag `required:"true" count:"1.."`
	ofNames
}

func addTags(c *call, lbs []*loadBalancer, in addTagsInput) (any, error) {
	var have []*[]lbkit.Tag
	for _, lb := range lbs {
		have = append(have, &lb.Tags)
	}
	return nil, lbkit.AddTags(have, in.Tags, c.opt.Limits.Tags)
}

// describeTagsInput has the length of the service model.
type describeTagsInput struct {
	LoadBalancerNames []string `required:"true" count:"0..20"`
}

// Find gives the load balancers.
func (in describeTagsInput) Find(c *call) ([]*loadBalancer, error) { return ofNames(in).Find(c) }

type tagDescription struct {
	LoadBalancerName string
	Tags             []lbkit.Tag
}

func describeTags(_ *call, lbs []*loadBalancer, _ describeTagsInput) (any, error) {
	var out struct{ TagDescriptions []tagDescription }
	for _, lb := range lbs {
		out.TagDescriptions = append(out.TagDescriptions, tagDescription{lb.Name, lb.Tags})
	}
	return out, nil
}

// TagsOf returns the tags of a load balancer by its name, and whether it exists.
func (a *API) TagsOf(name string) (tags map[string]string, there bool) {
	a.Locked(func() {
		var lb *loadBalancer
		if lb, there = a.State.LoadBalancers[name]; there {
			tags = lbkit.TagMap(lb.Tags)
		}
	})
	return tags, there
}
