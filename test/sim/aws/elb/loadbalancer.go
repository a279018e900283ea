package elb

import (
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

// target reads LoadBalancerName and gives the load balancer, after all other
// parameters were read: faults of shape come before what does not exist.
func (c *call) target() (*loadBalancer, error) {
	name := c.Need("LoadBalancerName")
	if err := c.Err(); err != nil {
		return nil, err
	}
	lb, ok := c.State.LoadBalancers[name]
	if !ok {
		return nil, notFound(name)
	}
	return lb, nil
}

// place is where a load balancer stands.
type place struct {
	vpc            string
	zones, subnets []string
}

func (c *call) subnets(ids, held []string) ([]network.Subnet, error) {
	found, err := lbkit.Subnets(c.Dir, ids, held)
	return found, withStatus(err)
}

// withStatus gives InvalidConfigurationRequest the status 409 of this API.
func withStatus(err error) error {
	var e *query.Error
	if errors.As(err, &e) && e.Code == "InvalidConfigurationRequest" {
		return configurationConflict("%s", e.Message)
	}
	return err
}

func (c *call) placed(found []network.Subnet) place {
	p := place{vpc: found[0].VPC}
	for _, s := range found {
		p.subnets = append(p.subnets, s.ID)
		p.zones = append(p.zones, s.Zone)
	}
	return p
}

func createLoadBalancer(c *call) (any, error) {
	c.Required("Listeners")
	listeners := c.readListeners()
	tags := c.Tags("Tags")
	name, scheme := c.Need("LoadBalancerName"), c.Str("Scheme")
	if err := c.Err(); err != nil {
		return nil, err
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	if scheme != "" && scheme != internal && scheme != internetFacing {
		return nil, query.Errorf("InvalidScheme", "Invalid scheme '%s'. Valid values are internal and internet-facing", scheme)
	}
	if scheme == "" {
		scheme = internetFacing
	}
	ids := c.Strs("Subnets")
	if len(ids) == 0 {
		return nil, query.Errorf("ValidationError", "Either AvailabilityZones or SubnetIds must be specified")
	}
	found, err := c.subnets(ids, nil)
	if err != nil {
		return nil, err
	}
	at := c.placed(found)
	lb := &loadBalancer{Name: name, Scheme: scheme, VPC: at.vpc, Zones: at.zones, Subnets: at.subnets, Created: c.now}
	if err := c.furnish(lb, listeners, tags); err != nil {
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
func (c *call) furnish(lb *loadBalancer, listeners []*listener, tags []lbkit.Tag) error {
	if len(listeners) == 0 {
		return query.Errorf("ValidationError", "Listeners cannot be empty")
	}
	if err := c.setGroups(lb, c.Strs("SecurityGroups")); err != nil {
		return err
	}
	if err := c.addListeners(lb, listeners); err != nil {
		return err
	}
	merged, err := lbkit.MergeTags(nil, tags, c.opt.Limits.Tags)
	if err != nil {
		return err
	}
	lb.Tags = merged
	lb.Health = defaultHealth(listeners[0].InstancePort)
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
		return old == nil || !old.same(l)
	})
}

func (c *call) hold(lb *loadBalancer) {
	c.Hold(lb.key(), lbkit.Holding{User: "load balancer " + lb.Name, Groups: slices.Clone(lb.Groups), Subnets: slices.Clone(lb.Subnets)})
	var want []network.Interface
	for _, id := range lb.Subnets {
		want = append(want, network.Interface{Subnet: id, Description: "ELB " + lb.Name, Type: "interface", Groups: lb.Groups})
	}
	lbkit.Attach(c.Dir, lb.key(), want)
}

func deleteLoadBalancer(c *call) (any, error) {
	name := c.Need("LoadBalancerName")
	if err := c.Err(); err != nil {
		return nil, err
	}
	if lb, ok := c.State.LoadBalancers[name]; ok {
		delete(c.State.LoadBalancers, name)
		c.Release(lb.key(), c.opt.ReleaseDelay)
		lbkit.Detach(c.Dir, lb.key(), c.opt.ReleaseDelay)
	}
	return nil, nil
}

type described struct {
	LoadBalancerDescriptions query.Members[description]
	NextMarker               string `xml:",omitempty"`
}

func describeLoadBalancers(c *call) (any, error) {
	names := c.Strs("LoadBalancerNames")
	marker, size := c.Paging()
	if err := c.Err(); err != nil {
		return nil, err
	}
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
	page, next, err := lbkit.Page(all, (*loadBalancer).key, marker, size)
	if err != nil {
		return nil, err
	}
	out := described{NextMarker: next}
	for _, lb := range page {
		out.LoadBalancerDescriptions.Member = append(out.LoadBalancerDescriptions.Member, lb.view(c.opt.Region))
	}
	return out, nil
}
