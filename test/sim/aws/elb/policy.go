package elb

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type createPolicyInput struct {
	PolicyName       string `required:"true"`
	PolicyTypeName   string `required:"true"`
	PolicyAttributes []policyAttribute
	ofBalancer
}

// createPolicy adds a policy. An equal one with the same name is passed over, which
// kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go relies on.
func createPolicy(c *call, lb *loadBalancer, in createPolicyInput) (any, error) {
	p := policy{in.PolicyName, in.PolicyTypeName, in.PolicyAttributes}
	if !namePattern.MatchString(p.Name) {
		return nil, query.Errorf("ValidationError", "Policy name '%s' must contain only alphanumeric characters or hyphens", p.Name)
	}
	if err := p.complete(); err != nil {
		return nil, err
	}
	if old, ok := lb.policy(p.Name); ok {
		if old.Type != p.Type || !slices.Equal(old.Attributes, p.Attributes) {
			return nil, query.Errorf("DuplicatePolicyName", "There is already a policy with name %s for load balancer %s", p.Name, lb.Name)
		}
		return nil, nil
	}
	if len(lb.Policies) >= c.opt.Limits.Policies {
		return nil, query.Errorf("TooManyPolicies", "The quota for the number of policies for load balancer %s has been reached", lb.Name)
	}
	lb.Policies = append(lb.Policies, p)
	return nil, nil
}

type deletePolicyInput struct {
	PolicyName string `required:"true"`
	ofBalancer
}

func deletePolicy(_ *call, lb *loadBalancer, in deletePolicyInput) (any, error) {
	name := in.PolicyName
	used := slices.ContainsFunc(lb.Listeners, func(l *listener) bool { return slices.Contains(l.Policies, name) }) ||
		slices.ContainsFunc(lb.Backends, func(b backend) bool { return slices.Contains(b.Policies, name) })
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

type setListenerPoliciesInput struct {
	ofListener
	PolicyNames []string `required:"true"`
	ofBalancer
}

func setListenerPolicies(_ *call, lb *loadBalancer, in setListenerPoliciesInput) (any, error) {
	l, err := in.listener(lb)
	if err != nil {
		return nil, err
	}
	names := in.PolicyNames
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
	l.Policies = names
	return nil, nil
}

type setBackendPoliciesInput struct {
	InstancePort int      `required:"true" range:"1..65535"`
	PolicyNames  []string `required:"true"`
	ofBalancer
}

func setBackendPolicies(_ *call, lb *loadBalancer, in setBackendPoliciesInput) (any, error) {
	names := in.PolicyNames
	found, err := lb.chosen(names)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if p.Type != proxyType {
			return nil, configurationConflict("A policy of type %s cannot be set on an instance port", p.Type)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(lb.Backends), func(b backend) bool { return b.Port == in.InstancePort })
	if len(names) > 0 {
		rest = append(rest, backend{in.InstancePort, names})
	}
	slices.SortFunc(rest, func(a, b backend) int { return a.Port - b.Port })
	lb.Backends = rest
	return nil, nil
}

type describePoliciesInput struct {
	LoadBalancerName string
	PolicyNames      []string
}

func describePolicies(c *call, in describePoliciesInput) (any, error) {
	all := allPredefined()
	if in.LoadBalancerName != "" {
		lb, err := ofBalancer{in.LoadBalancerName}.Find(c)
		if err != nil {
			return nil, err
		}
		all = lb.Policies
	}
	var out struct{ PolicyDescriptions []policy }
	if len(in.PolicyNames) == 0 {
		out.PolicyDescriptions = all
	}
	for _, name := range in.PolicyNames {
		i := slices.IndexFunc(all, func(p policy) bool { return p.Name == name })
		if i < 0 {
			return nil, query.Errorf("PolicyNotFound", "There is no policy with name %s for load balancer %s", name, in.LoadBalancerName)
		}
		out.PolicyDescriptions = append(out.PolicyDescriptions, all[i])
	}
	return out, nil
}
