package elbv2

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// newRule makes a rule and puts it into the state.
func (c *call) newRule(l *listener, priority int) *rule {
	r := &rule{Listener: l.ARN, Priority: priority}
	var id string
	r.Seq, id = c.next("rule")
	r.ARN = strings.Replace(l.ARN, ":listener/", ":listener-rule/", 1) + "/" + id
	c.state.Rules[r.ARN] = r
	return r
}

// sameActions compares by the form in which actions are answered.
func sameActions(a, b []action) bool {
	x, xerr := xml.Marshal(query.Members[action]{Member: a})
	y, yerr := xml.Marshal(query.Members[action]{Member: b})
	return xerr == nil && yerr == nil && string(x) == string(y)
}

func createRule(c *call) (any, error) {
	c.Required("Conditions", "Priority", "Actions")
	priority := c.Number("Priority", 1, 50000)
	conditions, actions, transforms := c.readConditions(), c.readActions("Actions"), c.readTransforms()
	tags := c.Tags("Tags")
	l, lb, err := c.listener()
	if err != nil {
		return nil, err
	}
	if lb.Type != typeApplication {
		return nil, query.Errorf("UnsupportedProtocol", "Rules are not supported for listeners with the %s protocol", l.Protocol)
	}
	if err := checkConditions(conditions); err != nil {
		return nil, err
	}
	if err := checkTransforms(transforms); err != nil {
		return nil, err
	}
	rules := c.state.rulesOf(l.ARN)
	if slices.ContainsFunc(rules, func(r *rule) bool { return r.Priority == *priority }) {
		return nil, query.Errorf("PriorityInUse", "Priority '%d' is currently in use", *priority)
	}
	if err := c.checkActions(l, lb, actions); err != nil {
		return nil, err
	}
	merged, err := lbkit.MergeTags(nil, tags, c.opt.Limits.Tags)
	if err != nil {
		return nil, err
	}
	count := 0
	for _, o := range c.state.listenersOf(lb.ARN) {
		count += len(c.state.rulesOf(o.ARN)) - 1
	}
	if count >= c.opt.Limits.Rules {
		return nil, query.Errorf("TooManyRules", "The maximum number of rules has been reached on load balancer '%s'", lb.ARN)
	}
	r := c.newRule(l, *priority)
	r.Conditions, r.Actions, r.Transforms, r.Tags = conditions, actions, transforms, merged
	if err := c.afterRules(l, lb); err != nil {
		delete(c.state.Rules, r.ARN)
		c.state.rulesChanged()
		return nil, err
	}
	return rulesView(r), nil
}

// ruleAt gives a rule with its listener and load balancer.
func (c *call) ruleAt(arn string) (*rule, *listener, *loadBalancer, error) {
	if err := malformed(arn, "listener-rule", "listener rule"); err != nil {
		return nil, nil, nil, err
	}
	r, ok := c.state.Rules[arn]
	if !ok {
		return nil, nil, nil, query.Errorf("RuleNotFound", "Rule '%s' not found", arn)
	}
	l := c.state.Listeners[r.Listener]
	return r, l, c.state.LoadBalancers[l.LoadBalancer], nil
}

func modifyRule(c *call) (any, error) {
	arn := c.Need("RuleArn")
	conditions, actions, transforms := c.readConditions(), c.readActions("Actions"), c.readTransforms()
	reset := c.Flag("ResetTransforms")
	if err := c.Err(); err != nil {
		return nil, err
	}
	r, l, lb, err := c.ruleAt(arn)
	if err != nil {
		return nil, err
	}
	if r.Priority == 0 {
		return nil, query.Errorf("OperationNotPermitted", "Default rule '%s' cannot be modified", arn)
	}
	if conditions == nil && actions == nil && transforms == nil && reset == nil {
		return nil, query.Errorf("ValidationError", "Either conditions or actions must be specified")
	}
	changed := *r
	if err := c.change(&changed, l, lb, ruleWish{conditions, actions, transforms, reset != nil && *reset}); err != nil {
		return nil, err
	}
	before := *r
	*r = changed
	if err := c.afterRules(l, lb); err != nil {
		*r = before
		c.state.rulesChanged()
		return nil, err
	}
	return rulesView(r), nil
}

// ruleWish is what a call says of a rule; nil means nothing.
type ruleWish struct {
	conditions []condition
	actions    []action
	transforms []transform
	reset      bool
}

// change applies a wish to a copy of a rule and checks it.
func (c *call) change(r *rule, l *listener, lb *loadBalancer, w ruleWish) error {
	if w.conditions != nil {
		if err := checkConditions(w.conditions); err != nil {
			return err
		}
		r.Conditions = w.conditions
	}
	if w.actions != nil {
		if err := c.checkActions(l, lb, w.actions); err != nil {
			return err
		}
		r.Actions = w.actions
	}
	if w.reset {
		r.Transforms = nil
	}
	if w.transforms != nil {
		if err := checkTransforms(w.transforms); err != nil {
			return err
		}
		r.Transforms = w.transforms
	}
	return nil
}

func deleteRule(c *call) (any, error) {
	arn := c.Need("RuleArn")
	if err := c.Err(); err != nil {
		return nil, err
	}
	r, _, _, err := c.ruleAt(arn)
	if err != nil {
		return nil, err
	}
	if r.Priority == 0 {
		return nil, query.Errorf("OperationNotPermitted", "Default rule '%s' cannot be deleted", arn)
	}
	delete(c.state.Rules, arn)
	c.state.markUse(c.now)
	return nil, nil
}

func setRulePriorities(c *call) (any, error) {
	c.Required("RulePriorities")
	type pair struct {
		arn      string
		priority int
	}
	var pairs []pair
	c.Each("RulePriorities", func(e *lbkit.Reader) {
		p := pair{arn: e.Str("RuleArn")}
		if n := e.Number("Priority", 1, 50000); n != nil {
			p.priority = *n
		}
		pairs = append(pairs, p)
	})
	if err := c.Err(); err != nil {
		return nil, err
	}
	wanted := map[string]int{}
	var rules []*rule
	for i, p := range pairs {
		r, _, _, err := c.ruleAt(p.arn)
		if err != nil {
			return nil, err
		}
		if r.Priority == 0 {
			return nil, query.Errorf("OperationNotPermitted", "The priority of default rule '%s' cannot be changed", p.arn)
		}
		for _, o := range pairs[:i] {
			if o.priority == p.priority {
				return nil, query.Errorf("ValidationError", "Priority '%d' was provided multiple times", p.priority)
			}
			if o.arn == p.arn {
				return nil, query.Errorf("ValidationError", "Rule '%s' was provided multiple times", p.arn)
			}
		}
		wanted[p.arn] = p.priority
		rules = append(rules, r)
	}
	for _, r := range rules {
		for _, o := range c.state.rulesOf(r.Listener) {
			if _, moved := wanted[o.ARN]; !moved && o.Priority == wanted[r.ARN] {
				return nil, query.Errorf("PriorityInUse", "Priority '%d' is currently in use", o.Priority)
			}
		}
	}
	for _, r := range rules {
		r.Priority = wanted[r.ARN]
	}
	return rulesView(rules...), nil
}

func describeRules(c *call) (any, error) {
	arns, listenerARN := c.Strs("RuleArns"), c.Str("ListenerArn")
	marker, size := c.Paging()
	if err := c.Err(); err != nil {
		return nil, err
	}
	switch {
	case len(arns) == 0 && listenerARN == "":
		return nil, query.Errorf("ValidationError", "You must specify either listener rule ARNs or a listener ARN")
	case len(arns) > 0 && listenerARN != "":
		return nil, query.Errorf("ValidationError", "Listener rule ARNs and a listener ARN cannot be specified at the same time")
	}
	var all []*rule
	if listenerARN != "" {
		l, _, err := c.listener()
		if err != nil {
			return nil, err
		}
		all = c.state.rulesOf(l.ARN)
	}
	for _, arn := range arns {
		if err := malformed(arn, "listener-rule", "listener rule"); err != nil {
			return nil, err
		}
		r, ok := c.state.Rules[arn]
		if !ok {
			return nil, query.Errorf("RuleNotFound", "One or more rules not found")
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b *rule) int { return strings.Compare(ruleKey(a), ruleKey(b)) })
	page, next, err := lbkit.Page(all, ruleKey, marker, size)
	if err != nil {
		return nil, err
	}
	out := rulesView(page...)
	out.NextMarker = next
	return out, nil
}

func ruleKey(r *rule) string { return sequence(r.order()) + "/" + sequence(r.Seq) }

type ruleView struct {
	RuleArn    string
	Priority   string
	Conditions query.Members[condition]
	Actions    query.Members[action]
	IsDefault  bool
	Transforms query.Members[transform]
}

type rulesAnswer struct {
	Rules      query.Members[ruleView]
	NextMarker string `xml:",omitempty"`
}

func rulesView(rules ...*rule) rulesAnswer {
	var out rulesAnswer
	for _, r := range rules {
		v := ruleView{RuleArn: r.ARN, Priority: "default", IsDefault: r.Priority == 0}
		if r.Priority > 0 {
			v.Priority = strconv.Itoa(r.Priority)
		}
		v.Conditions.Member, v.Actions.Member, v.Transforms.Member = r.Conditions, r.Actions, r.Transforms
		out.Rules.Member = append(out.Rules.Member, v)
	}
	return out
}
