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
		lb, ok := c.state.LoadBalancers[name]
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
	merged := make([][]lbkit.Tag, len(lbs))
	for i, lb := range lbs {
		if merged[i], err = lbkit.MergeTags(lb.Tags, tags, c.opt.Limits.Tags); err != nil {
			return nil, err
		}
	}
	for i, lb := range lbs {
		lb.Tags = merged[i]
	}
	return nil, nil
}

func removeTags(c *call) (any, error) {
	c.Required("Tags")
	var keys []string
	c.Each("Tags", func(e *lbkit.Reader) { keys = append(keys, e.Need("Key", lbkit.TagKey()...)) })
	if c.Has("Tags") && len(keys) == 0 {
		c.Fault("Tags", "'[]'", "have length greater than or equal to 1")
	}
	lbs, err := c.named()
	if err != nil {
		return nil, err
	}
	for _, lb := range lbs {
		lb.Tags = lbkit.DropTags(lb.Tags, keys)
	}
	return nil, nil
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

type limit struct{ Name, Max string }

func describeAccountLimits(c *call) (any, error) {
	marker, size := c.Paging()
	if err := c.Err(); err != nil {
		return nil, err
	}
	all := []limit{
		{"classic-listeners", strconv.Itoa(c.opt.Limits.Listeners)},
		{"classic-load-balancers", strconv.Itoa(c.opt.Limits.LoadBalancers)},
		{"classic-registered-instances", strconv.Itoa(c.opt.Limits.Instances)},
	}
	page, next, err := lbkit.Page(all, func(l limit) string { return l.Name }, marker, size)
	if err != nil {
		return nil, err
	}
	return struct {
		Limits     query.Members[limit]
		NextMarker string `xml:",omitempty"`
	}{query.Members[limit]{Member: page}, next}, nil
}
