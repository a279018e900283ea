package aws

import (
	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/iam"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// evaluationXML is the decision on one action.
type evaluationXML struct {
	Action   string `xml:"EvalActionName"`
	Resource string `xml:"EvalResourceName"`
	Decision string `xml:"EvalDecision"`
}

// policyService is the part of IAM that decides on actions without calls. Every caller has
// the role of the cloud.
// Source: IAM API reference, SimulatePrincipalPolicy.
func (c *Cloud) policyService() *query.Service {
	return &query.Service{
		Name: "iam", Version: "2010-05-08", Namespace: "https://iam.amazonaws.com/doc/2010-05-08/", Style: query.AWSQuery,
		Writes: func(string) bool { return false },
		Ops:    map[string]query.Op{"SimulatePrincipalPolicy": c.simulate},
	}
}

// simulate decides on each action for all resources, with the condition keys of the call.
func (c *Cloud) simulate(r *query.Request) (any, error) {
	in := lbkit.Read(r.Params)
	in.Need("PolicySourceArn", lbkit.Length(20, 2048))
	if err := in.Err(); err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, entry := range r.List("ContextEntries") {
		if values := entry.Strs("ContextKeyValues"); len(values) > 0 {
			keys[entry.Str("ContextKeyName")] = values[0]
		}
	}
	var out query.Members[evaluationXML]
	for _, action := range r.Strs("ActionNames") {
		decision := "implicitDeny"
		if c.role == nil || c.role.Allows(iam.Ask{Action: action, Resource: "*", Keys: keys}) {
			decision = "allowed"
		}
		out.Member = append(out.Member, evaluationXML{action, "*", decision})
	}
	return struct {
		Results   query.Members[evaluationXML] `xml:"EvaluationResults"`
		Truncated bool                         `xml:"IsTruncated"`
	}{out, false}, nil
}
