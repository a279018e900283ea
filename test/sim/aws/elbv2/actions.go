package elbv2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// action is what is taken, kept and answered. A network load balancer only forwards.
type action struct {
	Type           string   `required:"true" enum:"forward|authenticate-oidc|authenticate-cognito|redirect|fixed-response|jwt-validation"`
	TargetGroupArn string   `xml:",omitempty"`
	Order          int      `xml:",omitempty" range:"1..50000"`
	ForwardConfig  *forward `xml:",omitempty"`
}

type forward struct {
	TargetGroups                []groupWeight
	TargetGroupStickinessConfig *stickiness `xml:",omitempty"`
}

type groupWeight struct {
	TargetGroupArn string
	Weight         *int `xml:",omitempty" range:"0..999"`
}

type stickiness struct {
	Enabled         bool
	DurationSeconds *int `xml:",omitempty" range:"1..604800"`
}

// groupsOf lists the target groups that actions forward to.
func groupsOf(actions []action) []string {
	var out []string
	for _, a := range actions {
		for _, g := range a.ForwardConfig.TargetGroups {
			out = append(out, g.TargetGroupArn)
		}
	}
	return out
}

// checkActions checks the actions of a listener, of which there is one, and fills both forms
// of a forward action to one group, as the API answers both.
func (c *call) checkActions(l *listener, lb *loadBalancer, actions []action) error {
	if len(actions) != 1 {
		return query.Errorf("ValidationError", "One action must be specified")
	}
	a := &actions[0]
	if a.Type != "forward" {
		return query.Errorf("InvalidLoadBalancerAction", "Actions with type '%s' are not supported for load balancers with type '%s'", a.Type, lb.Type)
	}
	tuples, err := a.tuples(c.opt.Limits.GroupsPerAction)
	if err != nil {
		return err
	}
	for i, t := range tuples {
		if slices.ContainsFunc(tuples[:i], func(o groupWeight) bool { return o.TargetGroupArn == t.TargetGroupArn }) {
			return query.Errorf("InvalidLoadBalancerAction", "Target group '%s' was specified more than once in an action", t.TargetGroupArn)
		}
		if err := c.checkAssociation(l, lb, t.TargetGroupArn); err != nil {
			return err
		}
	}
	s := &stickiness{}
	if f := a.ForwardConfig; f != nil && f.TargetGroupStickinessConfig != nil {
		s = f.TargetGroupStickinessConfig
	}
	a.TargetGroupArn = ""
	if len(tuples) == 1 {
		a.TargetGroupArn = tuples[0].TargetGroupArn
	}
	a.ForwardConfig = &forward{tuples, s}
	return nil
}

// tuples returns the target groups of a forward action, in either form.
func (a *action) tuples(limit int) ([]groupWeight, error) {
	var given []groupWeight
	if a.ForwardConfig != nil {
		given = a.ForwardConfig.TargetGroups
	}
	switch {
	case len(given) == 0 && a.TargetGroupArn == "":
		return nil, query.Errorf("ValidationError", "A target group ARN must be specified")
	case len(given) == 0:
		return []groupWeight{{TargetGroupArn: a.TargetGroupArn}}, nil
	case a.TargetGroupArn != "" && (len(given) != 1 || given[0].TargetGroupArn != a.TargetGroupArn):
		return nil, query.Errorf("InvalidLoadBalancerAction", "You cannot specify both a target group ARN and a different list of target groups in an action of type 'forward'")
	case len(given) > limit:
		return nil, query.Errorf("InvalidLoadBalancerAction", "A forward action can have at most '%d' target groups", limit)
	}
	return given, nil
}

// checkAssociation checks that a listener can forward to a target group.
func (c *call) checkAssociation(l *listener, lb *loadBalancer, arn string) error {
	tg, err := c.groupAt(arn)
	if err != nil {
		return err
	}
	if tg.VPC != lb.VPC {
		return invalidConfiguration("The target group '%s' and the load balancer '%s' are in different VPCs", arn, lb.ARN)
	}
	if !protocolsCompatible(l.Protocol, tg.Protocol) {
		return query.Errorf("IncompatibleProtocols", "The listener and its associated target group '%s' have incompatible protocols: '%s' and '%s'", arn, l.Protocol, tg.Protocol)
	}
	if tg.IPType == "ipv6" && lb.IPType == ipv4 {
		return invalidConfiguration("The target group '%s' has IP address type 'ipv6' and can be used only with dualstack load balancers", arn)
	}
	for _, other := range c.State.loadBalancersOf(arn) {
		if other != lb.ARN {
			return query.Errorf("TargetGroupAssociationLimit", "The following target groups cannot be associated with more than one load balancer: %s", arn)
		}
	}
	return nil
}

// protocolsCompatible reports whether a listener can send to a target group, by protocols.
// Source: target group pages of the load balancer guides.
func protocolsCompatible(front, back string) bool {
	switch front {
	case "TLS":
		return back == "TCP" || back == "TLS"
	case "TCP":
		return back == "TCP" || back == "TCP_UDP"
	case "UDP":
		return back == "UDP" || back == "TCP_UDP"
	}
	return front == back
}
