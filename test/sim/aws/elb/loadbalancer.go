package elb

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

const (
	internal       = "internal"
	internetFacing = "internet-facing"
)

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9-]+$`)

func checkName(name string) error {
	switch {
	case len(name) > 32:
		return query.Errorf("ValidationError", "LoadBalancer name cannot be longer than 32 characters")
	case !namePattern.MatchString(name):
		return query.Errorf("ValidationError", "LoadBalancer name must contain only alphanumeric characters or hyphens")
	case strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"):
		return query.Errorf("ValidationError", "LoadBalancer name cannot begin or end with a hyphen")
	case strings.HasPrefix(name, "internal-"):
		return query.Errorf("ValidationError", "LoadBalancer name cannot begin with 'internal-'")
	}
	return nil
}

func notFound(name string) error {
	return query.Errorf("LoadBalancerNotFound", "There is no ACTIVE Load Balancer named '%s'", name)
}

// ofBalancer is the member of a request that names a load balancer.
type ofBalancer struct {
	LoadBalancerName string `required:"true"`
}

// Find gives the load balancer.
func (of ofBalancer) Find(c *call) (*loadBalancer, error) {
	lb, ok := c.State.LoadBalancers[of.LoadBalancerName]
	if !ok {
		return nil, notFound(of.LoadBalancerName)
	}
	return lb, nil
}

// place checks subnets and sets those of a load balancer, with its zones and its VPC.
func (c *call) place(lb *loadBalancer, ids []string) error {
	found, err := lbkit.Subnets(c.Dir, ids, lb.Subnets)
	if err != nil {
		return withStatus(err)
	}
	lb.VPC, lb.Subnets, lb.Zones = found[0].VPC, nil, nil
	for _, s := range found {
		lb.Subnets, lb.Zones = append(lb.Subnets, s.ID), append(lb.Zones, s.Zone)
	}
	return nil
}

// withStatus gives InvalidConfigurationRequest the status 409 of this API.
func withStatus(err error) error {
	var e *query.Error
	if errors.As(err, &e) && e.Code == "InvalidConfigurationRequest" {
		return configurationConflict("%s", e.Message)
	}
	return err
}

type createLoadBalancerInput struct {
	Listeners []listenerSettings `required:"true"`
	lbkit.Tagged
	ofBalancer
	Scheme         string
	Subnets        []string
	SecurityGroups []string
}

func createLoadBalancer(c *call, in createLoadBalancerInput) (any, error) {
	name, scheme := in.LoadBalancerName, cmp.Or(in.Scheme, internetFacing)
	if err := checkName(name); err != nil {
		return nil, err
	}
	if scheme != internal && scheme != internetFacing {
		return nil, query.Errorf("InvalidScheme", "Invalid scheme '%s'. Valid values are internal and internet-facing", scheme)
	}
	if len(in.Subnets) == 0 {
		return nil, query.Errorf("ValidationError", "Either AvailabilityZones or SubnetIds must be specified")
	}
	lb := &loadBalancer{balancerView: balancerView{Name: name, Scheme: scheme, HostedZone: lbkit.ClassicZone(c.opt.Region), CreatedTime: c.now.UTC().Format("2006-01-02T15:04:05.000Z")}}
	if err := c.place(lb, in.Subnets); err != nil {
		return nil, err
	}
	if err := c.furnish(lb, in); err != nil {
		return nil, err
	}
	if old, ok := c.State.LoadBalancers[name]; ok {
		if !sameCreation(old, lb) {
			return nil, query.Errorf("DuplicateLoadBalancerName", "Load Balancer named %s already exists and it is configured with different parameters.", name)
		}
		return created{old.DNSName}, nil
	}
	if len(c.State.LoadBalancers) >= c.opt.Limits.LoadBalancers {
		return nil, query.Errorf("TooManyLoadBalancers", "Exceeded quota of account %s", c.opt.Account)
	}
	c.State.Seq++
	lb.Seq = c.State.Seq
	lb.DNSName = c.dnsName(lb)
	c.State.LoadBalancers[name] = lb
	c.hold(lb)
	return created{lb.DNSName}, nil
}

type created struct{ DNSName string }

// furnish checks and sets groups, listeners, tags and all defaults of a new load balancer.
func (c *call) furnish(lb *loadBalancer, in createLoadBalancerInput) (err error) {
	if len(in.Listeners) == 0 {
		return query.Errorf("ValidationError", "Listeners cannot be empty")
	}
	if err := c.setGroups(lb, in.SecurityGroups); err != nil {
		return err
	}
	if err := c.addListeners(lb, newListeners(in.Listeners)); err != nil {
		return err
	}
	if lb.Tags, err = lbkit.MergeTags(nil, in.Tags, c.opt.Limits.Tags); err != nil {
		return err
	}
	lb.Health = defaultHealth(in.Listeners[0].InstancePort)
	lb.Attributes = defaultAttributes()
	return nil
}

func (c *call) dnsName(lb *loadBalancer) string {
	prefix := ""
	if lb.Scheme == internal {
		prefix = "internal-"
	}
	digits := lbkit.Digits(c.opt.Account, c.opt.Region, lb.Name, lb.key())
	return prefix + lb.Name + "-" + digits + "." + c.opt.Region + ".elb." + lbkit.Suffix(c.opt.Region)
}

func sameCreation(a, b *loadBalancer) bool {
	same := func(x, y []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y)))
	}
	if a.Scheme != b.Scheme || len(a.Listeners) != len(b.Listeners) ||
		!same(a.Zones, b.Zones) || !same(a.Subnets, b.Subnets) || !same(a.Groups, b.Groups) {
		return false
	}
	return !slices.ContainsFunc(b.Listeners, func(l *listener) bool {
		old := a.listener(l.Port)
		return old == nil || old.listenerSettings != l.listenerSettings
	})
}

func (c *call) hold(lb *loadBalancer) {
	c.Hold(lb.key(), lbkit.Holding{User: "load balancer " + lb.Name, Groups: slices.Clone(lb.Groups)})
	var want []network.Interface
	for _, id := range lb.Subnets {
		want = append(want, network.Interface{Subnet: id, Description: "ELB " + lb.Name, Type: "interface", Groups: lb.Groups})
	}
	c.Dir.Attach(lb.key(), want)
}

func deleteLoadBalancer(c *call, of ofBalancer) (any, error) {
	if lb, ok := c.State.LoadBalancers[of.LoadBalancerName]; ok {
		delete(c.State.LoadBalancers, lb.Name)
		c.Release(lb.key(), c.opt.ReleaseDelay)
		c.Dir.Detach(lb.key(), c.opt.ReleaseDelay)
	}
	return nil, nil
}

type describeLoadBalancersInput struct {
	LoadBalancerNames []string
	lbkit.Paging
}

func describeLoadBalancers(c *call, in describeLoadBalancersInput) (any, error) {
	names := in.LoadBalancerNames
	var all []*loadBalancer
	if len(names) == 0 {
		all = slices.SortedFunc(maps.Values(c.State.LoadBalancers), func(a, b *loadBalancer) int { return a.Seq - b.Seq })
	}
	for i, name := range names {
		lb, ok := c.State.LoadBalancers[name]
		if !ok {
			return nil, notFound(name)
		}
		if !slices.Contains(names[:i], name) {
			all = append(all, lb)
		}
	}
	page, next, err := lbkit.Page(all, (*loadBalancer).key, in.Paging)
	out := struct {
		LoadBalancerDescriptions []balancerView
		NextMarker               string `xml:",omitempty"`
	}{NextMarker: next}
	for _, lb := range page {
		out.LoadBalancerDescriptions = append(out.LoadBalancerDescriptions, lb.view())
	}
	return out, err
}
