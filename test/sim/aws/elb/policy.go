package elb

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

func createPolicy(c *call) (any, error) {
	p := policy{Name: c.Need("PolicyName"), Type: c.Need("PolicyTypeName")}
	c.Each("PolicyAttributes", func(e *lbkit.Reader) {
		p.Attributes.Member = append(p.Attributes.Member, policyAttribute{e.Str("AttributeName"), e.Str("AttributeValue")})
	})
	return nil, c.addPolicy(p)
}

// addPolicy adds a policy. An equal one with the same name is passed over, which
// kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go relies on.
func (c *call) addPolicy(p policy) error {
	lb, err := c.target()
	if err != nil {
		return err
	}
	if !namePattern.MatchString(p.Name) {
		return query.Errorf("ValidationError", "Policy name '%s' must contain only alphanumeric characters or hyphens", p.Name)
	}
	if err := p.complete(); err != nil {
		return err
	}
	if old, ok := lb.policy(p.Name); ok {
		if old.Type != p.Type || !slices.Equal(old.Attributes.Member, p.Attributes.Member) {
			return query.Errorf("DuplicatePolicyName", "There is already a policy with name %s for load balancer %s", p.Name, lb.Name)
		}
		return nil
	}
	if len(lb.Policies) >= c.opt.Limits.Policies {
		return query.Errorf("TooManyPolicies", "The quota for the number of policies for load balancer %s has been reached", lb.Name)
	}
	lb.Policies = append(lb.Policies, p)
	return nil
}

func deletePolicy(c *call) (any, error) {
	name := c.Need("PolicyName")
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	used := slices.ContainsFunc(lb.Listeners, func(l *listener) bool { return slices.Contains(l.Policies.Member, name) }) ||
		slices.ContainsFunc(lb.Backends, func(b backend) bool { return slices.Contains(b.Policies.Member, name) })
	if used {
		return nil, configurationConflict("Policy %s is in use and cannot be deleted", name)
	}
	lb.Policies = slices.DeleteFunc(slices.Clone(lb.Policies), func(p policy) bool { return p.Name == name })
	return nil, nil
}

// adopt gives the load balancer a predefined policy, if it has none of that name.
func (lb *loadBalancer) adopt(name string) {
	if _, ok := lb.policy(name); ok {
		return
	}
	if p, ok := predefinedPolicy(name); ok {
		lb.Policies = append(lb.Policies, p)
	}
}

// chosen gives the policies with these names, predefined ones included.
func (lb *loadBalancer) chosen(names []string) ([]policy, error) {
	var out []policy
	for _, name := range names {
		p, ok := lb.policy(name)
		if !ok {
			p, ok = predefinedPolicy(name)
		}
		if !ok {
			return nil, query.Errorf("PolicyNotFound", "There is no policy with name %s for load balancer %s", name, lb.Name)
		}
		out = append(out, p)
	}
	return out, nil
}

func setListenerPolicies(c *call) (any, error) {
	c.Required("LoadBalancerPort", "PolicyNames")
	port := c.Number("LoadBalancerPort", 1, 65535)
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	l := lb.listener(*port)
	if l == nil {
		return nil, noListener(lb.Name, *port)
	}
	names := c.Strs("PolicyNames")
	found, err := lb.chosen(names)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, configurationConflict("Only one policy of type %s can be set on a listener", sslType)
	}
	for _, p := range found {
		if p.Type != sslType || !usesTLS(l.Protocol) {
			return nil, configurationConflict("A policy of type %s cannot be set on a listener of protocol %s", p.Type, l.Protocol)
		}
	}
	for _, name := range names {
		lb.adopt(name)
	}
	l.Policies.Member = names
	return nil, nil
}

func setBackendPolicies(c *call) (any, error) {
	c.Required("InstancePort", "PolicyNames")
	port := c.Number("InstancePort", 1, 65535)
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	names := c.Strs("PolicyNames")
	found, err := lb.chosen(names)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if p.Type != proxyType {
			return nil, configurationConflict("A policy of type %s cannot be set on an instance port", p.Type)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(lb.Backends), func(b backend) bool { return b.Port == *port })
	if len(names) > 0 {
		rest = append(rest, backend{*port, query.Members[string]{Member: names}})
	}
	slices.SortFunc(rest, func(a, b backend) int { return a.Port - b.Port })
	lb.Backends = rest
	return nil, nil
}

type policyDescriptions struct {
	PolicyDescriptions query.Members[policy]
}

func describePolicies(c *call) (any, error) {
	names := c.Strs("PolicyNames")
	var all []policy
	if c.Str("LoadBalancerName") == "" {
		all = allPredefined()
	} else {
		lb, err := c.target()
		if err != nil {
			return nil, err
		}
		all = lb.Policies
	}
	if len(names) == 0 {
		return policyDescriptions{query.Members[policy]{Member: all}}, nil
	}
	var out policyDescriptions
	for _, name := range names {
		i := slices.IndexFunc(all, func(p policy) bool { return p.Name == name })
		if i < 0 {
			return nil, query.Errorf("PolicyNotFound", "There is no policy with name %s for load balancer %s", name, c.Str("LoadBalancerName"))
		}
		out.PolicyDescriptions.Member = append(out.PolicyDescriptions.Member, all[i])
	}
	return out, nil
}
