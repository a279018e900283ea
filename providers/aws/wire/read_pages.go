package wire

import (
	"cmp"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

const (
	// pageMachines is how many machines the load balancers of one page may name
	// together. A description lists every machine, so that a whole page of a large
	// cluster would be hundreds of megabytes.
	pageMachines = 400_000
	// smallestPage keeps the number of calls bearable in a very large cluster.
	smallestPage = 20
	// pageWorth is how many load balancers are rather asked for by name than a page
	// listed that is so full of machines: it is some thirty megabytes.
	pageWorth = 8
)

// listClassic finds the load balancers, by name where that is cheaper than to list all
// of the account.
func (r *classicRead) listClassic() error {
	names := r.values(model.KindClassic, model.ByName)
	if len(names) == 0 {
		return nil
	}
	page := r.classicPage()
	there, others, calls := r.facts.classicKnown(names)
	named, list, full := len(others)+(len(there)+page-1)/page, calls, page < balancerPage
	if full {
		list *= pageWorth
	}
	switch {
	case len(names) == 1, calls > 1 && named < list:
		return r.namedClassic(there, others)
	case calls > 1 && full:
		return r.leanClassic(names)
	case len(r.detailed) > 0:
		return r.allClassic(names)
	}
	return r.allClassic(names, withoutMachines)
}

func (r *classicRead) isDetailed(name string) bool { return containsSorted(r.detailed, name) }

// foundDetailed lists the load balancers of which a scope wants details.
func (r *classicRead) foundDetailed() []string {
	return slices.DeleteFunc(slices.Clone(r.detailed), func(name string) bool { _, ok := r.found[name]; return !ok })
}

// leanClassic lists the account without machines, and asks for those whose
// machines are wanted by name.
func (r *classicRead) leanClassic(names []string) error {
	if err := r.allClassic(names, withoutMachines); err != nil {
		return err
	}
	return r.namedClassic(r.foundDetailed(), nil)
}

// namedClassic asks for load balancers by name: many at once where they existed at the
// last read, the others one by one, since AWS refuses a call for several names if one of
// them is absent.
func (r *classicRead) namedClassic(there, others []string) error {
	for chunk := range slices.Chunk(there, r.classicPage()) {
		err := r.askClassic(chunk...)
		if fault.Is(err, fault.NotFound) {
			others = append(slices.Clone(others), chunk...)
			continue
		}
		if err != nil {
			return err
		}
	}
	var failed error
	kit.ForEach(others, func(name string) {
		err := r.askClassic(name)
		if fault.Is(err, fault.NotFound) {
			r.facts.forgetClassic(name)
			r.Keep(func() { delete(r.found, name) })
			return
		}
		r.Keep(func() { failed = cmp.Or(failed, err) })
	})
	return failed
}

func (r *classicRead) askClassic(names ...string) error {
	var options []func(*elb.Options)
	if !slices.ContainsFunc(names, r.isDetailed) {
		options = append(options, withoutMachines)
	}
	out, err := readCall(r.ctx, r.classic.DescribeLoadBalancers, &elb.DescribeLoadBalancersInput{LoadBalancerNames: names}, options...)
	if err != nil {
		return err
	}
	r.facts.learnClassic(names)
	r.Keep(func() {
		for _, d := range out.LoadBalancerDescriptions {
			r.keepClassic(awssdk.ToString(d.LoadBalancerName), d)
		}
	})
	return nil
}

// allClassic lists the load balancers of the account and keeps those with the
// names, which are sorted.
func (r *classicRead) allClassic(names []string, options ...func(*elb.Options)) error {
	var there []string
	in, calls := &elb.DescribeLoadBalancersInput{PageSize: awssdk.Int32(int32(r.classicPage()))}, 0
	err := readPages(r.ctx, r.classic.DescribeLoadBalancers, in, func(o *elb.DescribeLoadBalancersOutput) {
		for _, d := range o.LoadBalancerDescriptions {
			name := awssdk.ToString(d.LoadBalancerName)
			there = append(there, name)
			if containsSorted(names, name) {
				r.keepClassic(name, d)
			}
		}
		calls++
	}, options...)
	if err == nil {
		r.facts.listedClassic(there, calls)
	}
	return err
}

// classicPage is how many Classic Load Balancers to ask for at a time.
func (r *classicRead) classicPage() int {
	machines := len(r.facts.remembered())
	for _, s := range r.scopes {
		machines = max(machines, s.Nodes.Len())
	}
	return max(smallestPage, min(balancerPage, pageMachines/max(machines, 1)))
}

// keepClassic remembers a load balancer, its machines as a list that many of them share.
// A presence check needs no machines.
func (r *classicRead) keepClassic(name string, d elbtypes.LoadBalancerDescription) {
	found := classicFound{LoadBalancerDescription: d}
	found.Instances = nil
	if r.isDetailed(name) {
		if found.machines = instancesOfClassic(d.Instances); slices.Equal(found.machines, r.lastMachines) {
			found.machines = r.lastMachines
		}
		r.lastMachines = found.machines
	}
	r.found[name] = found
}

func instancesOfClassic(list []elbtypes.Instance) []string {
	out := make([]string, 0, len(list))
	for _, i := range list {
		out = append(out, awssdk.ToString(i.InstanceId))
	}
	slices.Sort(out)
	return out
}

// eachOnce returns values sorted, each once. It changes the list that it is given.
func eachOnce(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
