package elbv2

import (
	"encoding/xml"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// sameActions compares by the form in which actions are answered.
func sameActions(a, b []action) bool {
	x, xerr := xml.Marshal(query.Members[action]{Member: a})
	y, yerr := xml.Marshal(query.Members[action]{Member: b})
	return xerr == nil && yerr == nil && string(x) == string(y)
}

type ruleView struct {
	RuleArn   string
	Priority  string
	Actions   query.Members[action]
	IsDefault bool
}

// describeRules shows the default rule, the only one that a listener of a network
// load balancer has. The AWS Load Balancer Controller asks for it.
func describeRules(c *call) (any, error) {
	l, _, err := c.listener()
	if err != nil {
		return nil, err
	}
	return struct{ Rules query.Members[ruleView] }{query.Members[ruleView]{Member: []ruleView{
		{ruleARN(l), "default", query.Members[action]{Member: l.Actions}, true},
	}}}, nil
}

// ruleARN is that of the default rule of a listener.
func ruleARN(l *listener) string {
	return strings.Replace(l.ARN, ":listener/", ":listener-rule/", 1) + "/" + l.Rule
}
