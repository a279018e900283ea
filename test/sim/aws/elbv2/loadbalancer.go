package elbv2

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9-]+$`)

// checkName checks the name of a load balancer or a target group; noun begins the message.
func checkName(noun, name string) error {
	switch {
	case name == "":
		return query.Errorf("ValidationError", "%s name cannot be empty", noun)
	case len(name) > 32:
		return query.Errorf("ValidationError", "%s name '%s' cannot be longer than '32' characters", noun, name)
	case !namePattern.MatchString(name):
		return query.Errorf("ValidationError", "%s name '%s' can only contain characters that are alphanumeric characters or hyphens(-)", noun, name)
	case strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"):
		return query.Errorf("ValidationError", "%s name '%s' cannot begin or end with '-'", noun, name)
	}
	return nil
}

// invalidConfiguration returns an InvalidConfigurationRequest.
func invalidConfiguration(format string, args ...any) error {
	return query.Errorf("InvalidConfigurationRequest", format, args...)
}

// checkARN returns an error for a text that is no ARN of this kind; an ARN of a missing
// resource is answered with NotFound instead.
func checkARN(arn, kind, word string) error {
	if strings.HasPrefix(arn, "arn:") && strings.Contains(arn, ":"+kind+"/") {
		return nil
	}
	return query.Errorf("ValidationError", "'%s' is not a valid %s ARN", arn, word)
}

// findByARN finds the resource of an ARN of one kind.
func findByARN[T any](all map[string]*T, arn, kind, word, missing string) (*T, error) {
	if err := checkARN(arn, kind, word); err != nil {
		return nil, err
	}
	found, ok := all[arn]
	if !ok {
		return nil, query.Errorf(missing, "%s '%s' not found", strings.ToUpper(word[:1])+word[1:], arn)
	}
	return found, nil
}

// findEach finds the resources of a listing that names their ARNs.
func findEach[T any](all map[string]*T, arns []string, kind, word, missing string) ([]*T, error) {
	var out []*T
	for _, arn := range arns {
		if err := checkARN(arn, kind, word); err != nil {
			return nil, err
		}
		found, ok := all[arn]
		if !ok {
			return nil, query.Errorf(missing, "One or more %ss not found", word)
		}
		out = append(out, found)
	}
	return out, nil
}

// ofBalancer is the member of a request that names a load balancer.
type ofBalancer struct {
	LoadBalancerArn string `required:"true"`
}

// Find gives the load balancer.
func (of ofBalancer) Find(c *call) (*loadBalancer, error) {
	return c.loadBalancerAt(of.LoadBalancerArn)
}

func (c *call) loadBalancerAt(arn string) (*loadBalancer, error) {
	return findByARN(c.State.LoadBalancers, arn, "loadbalancer", "load balancer", "LoadBalancerNotFound")
}

type createLoadBalancerInput struct {
	Name   string `required:"true"`
	Type   string `enum:"application|network|gateway"`
	Scheme string `enum:"internet-facing|internal"`
	addressing
	lbkit.Tagged
	places
	SecurityGroups []string
}

func createLoadBalancer(c *call, in createLoadBalancerInput) (_ any, err error) {
	lb := &loadBalancer{Created: c.now, balancerView: balancerView{
		Name: in.Name, Type: cmp.Or(in.Type, "application"), Scheme: cmp.Or(in.Scheme, internetFacing), IPType: cmp.Or(in.IPType, ipv4), SourceNAT: cmp.Or(in.SourceNAT, "off"),
	}}
	if err := checkName("Load balancer", lb.Name); err != nil {
		return nil, err
	}
	if strings.HasPrefix(lb.Name, "internal-") {
		return nil, query.Errorf("ValidationError", "Load balancer name '%s' cannot begin with 'internal-'", lb.Name)
	}
	if lb.Type != "network" {
		// The account of this simulator may have network load balancers only.
		return nil, query.Errorf("OperationNotPermitted", "This AWS account currently does not support creating load balancers. For more information, please contact AWS Support.")
	}
	old := c.State.byName(lb.Name)
	if err := c.settle(lb, old, in.places, in.zones()); err != nil {
		return nil, err
	}
	if err := c.setGroups(lb, in.SecurityGroups); err != nil {
		return nil, err
	}
	if lb.Tags, err = lbkit.MergeTags(nil, in.Tags, c.opt.Limits.Tags); err != nil {
		return nil, err
	}
	if old != nil {
		if !old.sameCreation(lb) {
			return nil, query.Errorf("DuplicateLoadBalancerName", "A load balancer with the same name '%s' exists, but with different settings", lb.Name)
		}
		return c.loadBalancers(old), nil
	}
	if err := c.room(lb); err != nil {
		return nil, err
	}
	c.register(lb)
	return c.loadBalancers(lb), nil
}

// register gives a checked load balancer its names and puts it into the state.
func (c *call) register(lb *loadBalancer) {
	lb.Seq, lb.ID = c.next("load balancer")
	lb.ARN = c.arn("loadbalancer/net/" + lb.Name + "/" + lb.ID)
	lb.DNSName = lb.Name + "-" + lb.ID + ".elb." + c.opt.Region + "." + lbkit.Suffix(c.opt.Region)
	lb.Attributes = defaultValues(lb.settings())
	lb.HostedZone, lb.CreatedTime = lbkit.NetworkZone(c.opt.Region), formatTime(lb.Created)
	c.State.LoadBalancers[lb.ARN] = lb
	c.hold(lb)
}

func (c *call) hold(lb *loadBalancer) {
	h := lbkit.Holding{User: "load balancer " + lb.Name, Groups: slices.Clone(lb.Groups)}
	for _, z := range lb.Zones {
		if z.AllocationID != "" {
			h.Addresses = append(h.Addresses, z.AllocationID)
		}
	}
	c.Hold(lb.ARN, h)
	c.Dir.Attach(lb.ARN, lb.interfaces())
}

// interfaces are the network interfaces of a load balancer, one in each subnet.
func (lb *loadBalancer) interfaces() []network.Interface {
	_, name, _ := strings.Cut(lb.ARN, ":loadbalancer/")
	var out []network.Interface
	for _, z := range lb.Zones {
		out = append(out, network.Interface{Subnet: z.Subnet, Description: "ELB " + name, Type: "network_load_balancer", PrivateIP: z.PrivateIP, Groups: lb.Groups})
	}
	return out
}

// room checks the quotas of the account.
func (c *call) room(lb *loadBalancer) error {
	count, interfaces := 0, len(lb.Zones)
	for _, o := range c.State.LoadBalancers {
		count++
		if o.VPC == lb.VPC {
			interfaces += len(o.Zones)
		}
	}
	if count >= c.opt.Limits.NetworkLoadBalancers {
		return query.Errorf("TooManyLoadBalancers", "The maximum number of load balancers has been reached")
	}
	if interfaces > c.opt.Limits.Interfaces {
		return invalidConfiguration("The maximum number of network interfaces of Network Load Balancers in VPC '%s' has been reached", lb.VPC)
	}
	return nil
}

// sameCreation compares what CreateLoadBalancer can say.
func (lb *loadBalancer) sameCreation(o *loadBalancer) bool {
	sorted := func(z []zone) []zone {
		return slices.SortedFunc(slices.Values(z), func(a, b zone) int { return strings.Compare(a.Subnet, b.Subnet) })
	}
	return lb.Scheme == o.Scheme && lb.IPType == o.IPType && lb.SourceNAT == o.SourceNAT &&
		slices.Equal(sorted(lb.Zones), sorted(o.Zones)) &&
		slices.Equal(slices.Sorted(slices.Values(lb.Groups)), slices.Sorted(slices.Values(o.Groups))) &&
		lbkit.SameTags(lb.Tags, o.Tags)
}

func deleteLoadBalancer(c *call, of ofBalancer) (any, error) {
	arn := of.LoadBalancerArn
	if err := checkARN(arn, "loadbalancer", "load balancer"); err != nil {
		return nil, err
	}
	lb, ok := c.State.LoadBalancers[arn]
	if !ok {
		return nil, nil
	}
	if lb.Attributes["deletion_protection.enabled"] == "true" {
		return nil, query.Errorf("OperationNotPermitted", "Load balancer '%s' cannot be deleted because deletion protection is enabled", arn)
	}
	for _, l := range c.State.listenersOf(arn) {
		c.dropListener(l)
	}
	delete(c.State.LoadBalancers, arn)
	c.Release(arn, c.opt.Delays.Release)
	c.Dir.Detach(arn, c.opt.Delays.Release)
	c.State.markUse(c.now)
	return nil, nil
}

type describeLoadBalancersInput struct {
	LoadBalancerArns, Names []string
	lbkit.Paging
}

func describeLoadBalancers(c *call, in describeLoadBalancersInput) (any, error) {
	if len(in.LoadBalancerArns) > 0 && len(in.Names) > 0 {
		return nil, query.Errorf("ValidationError", "Load balancer names and load balancer ARNs cannot be specified at the same time")
	}
	if len(in.LoadBalancerArns) > maxIdentifiers || len(in.Names) > maxIdentifiers {
		return nil, query.Errorf("ValidationError", "Up to '%d' load balancers can be described in a single call", maxIdentifiers)
	}
	all, err := findEach(c.State.LoadBalancers, in.LoadBalancerArns, "loadbalancer", "load balancer", "LoadBalancerNotFound")
	if err != nil {
		return nil, err
	}
	for _, name := range in.Names {
		lb := c.State.byName(name)
		if lb == nil {
			return nil, query.Errorf("LoadBalancerNotFound", "Load balancers '[%s]' not found", name)
		}
		all = append(all, lb)
	}
	if len(in.LoadBalancerArns) == 0 && len(in.Names) == 0 {
		all = slices.Collect(maps.Values(c.State.LoadBalancers))
	}
	slices.SortFunc(all, func(a, b *loadBalancer) int { return a.Seq - b.Seq })
	page, next, err := lbkit.Page(slices.Compact(all), func(lb *loadBalancer) string { return sortKey(lb.Seq) }, in.Paging)
	out := c.loadBalancers(page...)
	out.NextMarker = next
	return out, err
}

// maxIdentifiers is how many ARNs or names describe calls take.
// Source: Elastic Load Balancing API reference.
const maxIdentifiers = 20
