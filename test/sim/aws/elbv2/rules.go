package elbv2

import "strings"

type ruleView struct {
	RuleArn   string
	Priority  string
	Actions   []action
	IsDefault bool
}

// describeRules shows the default rule, the only one that a listener of a network
// load balancer has. The AWS Load Balancer Controller asks for it.
func describeRules(_ *call, l *listener, _ ofListener) (any, error) {
	return struct{ Rules []ruleView }{[]ruleView{{ruleARN(l), "default", l.Actions, true}}}, nil
}

// ruleARN is that of the default rule of a listener.
func ruleARN(l *listener) string {
	return strings.Replace(l.ARN, ":listener/", ":listener-rule/", 1) + "/" + l.Rule
}
