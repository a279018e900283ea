package permissions

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Parts of the names of AWS's actions.
const (
	elbActions = "elasticloadbalancing:"
	ec2Actions = "ec2:"
	// atCreation marks a right to tag that is needed only in the call that makes
	// something.
	atCreation = "@creation"
)

// clusterTag is the tag on all that is made for a cluster; whoever uses the file
// puts in the cluster's id.
const clusterTag = "aws:ResourceTag/kubernetes.io/cluster/CLUSTER_ID"

// AWS is Amazon Web Services. An action is called like its operation, and both
// generations of load balancers share theirs.
// Source: AWS Service Authorization Reference, Elastic Load Balancing, Elastic Load Balancing V2, Amazon EC2.
func AWS() Cloud {
	tagged := "Service Authorization Reference, dependent actions and condition key CreateAction"
	return Cloud{
		File: "aws.json",
		verb: func(service, _, operation string) (string, bool) {
			switch service {
			case "elb", "elbv2":
				return elbActions + operation, true
			case "ec2":
				return ec2Actions + operation, true
			}
			return "", false
		},
		implied: map[string]implied{
			"ec2.CreateSecurityGroup":  {[]string{ec2Actions + "CreateTags" + atCreation}, tagged},
			"elb.CreateLoadBalancer":   {[]string{elbActions + "AddTags" + atCreation}, tagged},
			"elbv2.CreateLoadBalancer": {[]string{elbActions + "AddTags" + atCreation}, tagged},
			"elbv2.CreateTargetGroup":  {[]string{elbActions + "AddTags" + atCreation}, tagged},
		},
		rare: map[string]string{
			"elb.DeleteLoadBalancerPolicy": "a policy that no listener has any more",
			"elbv2.ModifyTargetGroup":      "a health check that was changed by hand, or a new value of a field that can change in place",
		},
		file: awsPolicy,
	}
}

// awsStatement is one of an IAM policy, with its fields in the usual order.
type awsStatement struct {
	Sid      string   `json:"Sid"`
	Effect   string   `json:"Effect"`
	Action   []string `json:"Action"`
	Resource string   `json:"Resource"`
	When     any      `json:"Condition,omitempty"`
}

// anywhere lists the writing actions that cannot be limited to what carries the
// cluster's tag: what is about to be made has none yet, listeners are not tagged,
// and the rules of groups are also written in the nodes' groups, which are the
// user's.
func anywhere() []string {
	return []string{
		ec2Actions + "AuthorizeSecurityGroupIngress", ec2Actions + "CreateSecurityGroup", ec2Actions + "RevokeSecurityGroupIngress",
		elbActions + "CreateLoadBalancer", elbActions + "CreateTargetGroup", elbActions + "DeleteListener", elbActions + "ModifyListener",
	}
}

// awsPolicy sorts the actions into statements by how far they can be limited.
func awsPolicy(needs []string) ([]byte, error) {
	read := awsStatement{Sid: "Read"}
	free := awsStatement{Sid: "CreateAndShare"}
	own := awsStatement{Sid: "ChangeWhatTheClusterOwns", When: map[string]any{"Null": map[string]string{clusterTag: "false"}}}
	groups := awsStatement{Sid: "TagNewSecurityGroups", When: map[string]any{"StringEquals": map[string]string{"ec2:CreateAction": "CreateSecurityGroup"}}}
	balancers := awsStatement{Sid: "TagNewLoadBalancers", When: map[string]any{
		"StringEquals": map[string][]string{"elasticloadbalancing:CreateAction": {"CreateLoadBalancer", "CreateTargetGroup"}}}}
	for _, need := range needs {
		action, creation := strings.CutSuffix(need, atCreation)
		_, name, _ := strings.Cut(action, ":")
		at := &own
		switch {
		case creation && strings.HasPrefix(action, ec2Actions):
			at = &groups
		case creation:
			at = &balancers
		case strings.HasPrefix(name, "Describe"):
			at = &read
		case slices.Contains(anywhere(), action):
			at = &free
		}
		at.Action = append(at.Action, action)
	}
	var all []awsStatement
	for _, s := range []awsStatement{read, free, own, groups, balancers} {
		s.Effect, s.Resource = "Allow", "*"
		if len(s.Action) > 0 {
			all = append(all, s)
		}
	}
	return indented(struct {
		Version   string         `json:"Version"`
		Statement []awsStatement `json:"Statement"`
	}{"2012-10-17", all})
}

// indented is JSON for people.
func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return out.Bytes(), err
}
