package elb

import (
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// maxTagNames is how many load balancers DescribeTags takes; source: service model.
const maxTagNames = 20

// named reads LoadBalancerNames and gives the load balancers; one that is
// missing fails the call.
func (c *call) named() ([]*loadBalancer, error) {
	c.Required("LoadBalancerNames")
	names := c.Strs("LoadBalancerNames")
	if err := c.Err(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, query.Errorf("ValidationError", "LoadBalancerNames cannot be empty")
	}
	var out []*loadBalancer
	for _, name := range names {
		lb, ok := c.State.LoadBalancers[name]
		if !ok {
			return nil, notFound(name)
		}
		out = append(out, lb)
	}
	return out, nil
}

func addTags(c *call) (any, error) {
	c.Required("Tags")
	tags := c.Tags("Tags")
	lbs, err := c.named()
	if err != nil {
		return nil, err
	}
	var have []*[]lbkit.Tag
	for _, lb := range lbs {
		have = append(have, &lb.Tags)
	}
	return nil, lbkit.AddTags(have, tags, c.opt.Limits.Tags)
}

type tagDescription struct {
	LoadBalancerName string
	Tags             query.Members[lbkit.Tag]
}

func describeTags(c *call) (any, error) {
	if n := len(c.Strs("LoadBalancerNames")); n > maxTagNames {
		c.Fault("LoadBalancerNames", "'"+strconv.Itoa(n)+" names'", "have length less than or equal to "+strconv.Itoa(maxTagNames))
	}
	lbs, err := c.named()
	if err != nil {
		return nil, err
	}
	var out struct {
		TagDescriptions query.Members[tagDescription]
	}
	for _, lb := range lbs {
		out.TagDescriptions.Member = append(out.TagDescriptions.Member, tagDescription{lb.Name, query.Members[lbkit.Tag]{Member: slices.Clone(lb.Tags)}})
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
