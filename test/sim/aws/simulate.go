package aws

import (
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
		Ops: map[string]query.Op{"SimulatePrincipalPolicy": c.simulate},
	}
}

// simulate decides on each action for all resources, with the condition keys of the call.
func (c *Cloud) simulate(r *query.Request) (any, error) {
	var in struct {
		PolicySourceArn string `required:"true" length:"20..2048"`
		ActionNames     []string
		ContextEntries  []struct {
			ContextKeyName   string
			ContextKeyValues []string
		}
	}
	if err := query.Decode(r.Params, &in); err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, entry := range in.ContextEntries {
		if len(entry.ContextKeyValues) > 0 {
			keys[entry.ContextKeyName] = entry.ContextKeyValues[0]
		}
	}
	var out struct {
		Results   []evaluationXML `xml:"EvaluationResults"`
		Truncated bool            `xml:"IsTruncated"`
	}
	for _, action := range in.ActionNames {
		decision := "implicitDeny"
		if c.role == nil || c.role.Allows(iam.Ask{Action: action, Resource: "*", Keys: keys}) {
			decision = "allowed"
		}
		out.Results = append(out.Results, evaluationXML{action, "*", decision})
	}
	return out, nil
}
