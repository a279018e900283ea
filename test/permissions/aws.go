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

// clusterTag is the tag on all resources that are created for a cluster; the operator fills
// in the cluster's id.
const clusterTag = "aws:ResourceTag/kubernetes.io/cluster/CLUSTER_ID"

// controllerTag is the tag on all resources that are created in place of the AWS Load
// Balancer Controller, with the name of the cluster as its value.
const controllerTag = "aws:ResourceTag/elbv2.k8s.aws/cluster"

// AWSController is AWS for load balancers of the AWS Load Balancer Controller.
func AWSController() Cloud {
	c := AWS()
	c.File = "aws-controller.json"
	c.rare = nil
	delete(c.implied, "elb.CreateLoadBalancer")
	delete(c.implied, "elb.RegisterInstancesWithLoadBalancer")
	c.file = func(needs []string) ([]byte, error) { return awsPolicy(needs, controllerTag) }
	return c
}

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
			"ec2.CreateSecurityGroup":               {[]string{ec2Actions + "CreateTags" + atCreation}, tagged},
			"elb.CreateLoadBalancer":                {firstBalancer(), tagged + "; Elastic Load Balancing user guide, service-linked role; kubernetes-sigs/aws-load-balancer-controller, IAM policy"},
			"elbv2.CreateLoadBalancer":              {firstBalancer(), tagged + "; the same"},
			"elbv2.CreateListener":                  {[]string{elbActions + "AddTags" + atCreation}, tagged},
			"elb.RegisterInstancesWithLoadBalancer": {quotaActions(), "providers/aws/wire/read_limits.go: clusters of more than 500 nodes"},
			"elbv2.RegisterTargets":                 {quotaActions(), "the same"},
			"elbv2.CreateTargetGroup":               {[]string{elbActions + "AddTags" + atCreation}, tagged},
		},
		rare: map[string]string{
			"elb.DeleteLoadBalancerPolicy": "a policy that no listener has any more",
		},
		file: func(needs []string) ([]byte, error) { return awsPolicy(needs, clusterTag) },
	}
}

// linkedRole is the right to make the role that load balancing acts with, which the
// first load balancer of an account takes.
const linkedRole = "iam:CreateServiceLinkedRole"

// firstBalancer lists the permissions that creating a load balancer requires besides its own
// action: for its tags, and for the reads of Elastic Load Balancing on behalf of the caller.
func firstBalancer() []string {
	return []string{
		ec2Actions + "DescribeAccountAttributes", ec2Actions + "DescribeAddresses", ec2Actions + "DescribeInternetGateways",
		elbActions + "AddTags" + atCreation, linkedRole,
	}
}

// quotaActions returns the right to read how many members a load balancer may have.
func quotaActions() []string { return []string{elbActions + "DescribeAccountLimits"} }

// awsStatement is one of an IAM policy, with its fields in the usual order.
type awsStatement struct {
	Sid      string   `json:"Sid"`
	Effect   string   `json:"Effect"`
	Action   []string `json:"Action"`
	Resource string   `json:"Resource"`
	When     any      `json:"Condition,omitempty"`
}

// unlimitedActions lists the writing actions that cannot be limited to what carries the
// cluster's tag: what is about to be made has none yet, listeners that were taken over
// have none either, and the rules of groups are also written in the nodes' groups, which are the
// user's.
func unlimitedActions() []string {
	return []string{
		ec2Actions + "AuthorizeSecurityGroupIngress", ec2Actions + "CreateSecurityGroup", ec2Actions + "RevokeSecurityGroupIngress",
		elbActions + "CreateLoadBalancer", elbActions + "CreateTargetGroup", elbActions + "DeleteListener", elbActions + "ModifyListener",
	}
}

// awsPolicy sorts the actions into statements by how far they can be limited. Every resource
// that the program creates has the tag.
func awsPolicy(needs []string, tag string) ([]byte, error) {
	read := awsStatement{Sid: "Read"}
	free := awsStatement{Sid: "CreateAndShare"}
	own := awsStatement{Sid: "ChangeWhatTheClusterOwns", When: map[string]any{"Null": map[string]string{tag: "false"}}}
	groups := awsStatement{Sid: "TagNewSecurityGroups", When: map[string]any{"StringEquals": map[string]string{"ec2:CreateAction": "CreateSecurityGroup"}}}
	balancers := awsStatement{Sid: "TagNewLoadBalancers", When: map[string]any{
		"StringEquals": map[string][]string{"elasticloadbalancing:CreateAction": {"CreateListener", "CreateLoadBalancer", "CreateTargetGroup"}}}}
	linked := awsStatement{Sid: "CreateServiceLinkedRole", When: map[string]any{"StringEquals": map[string]string{"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}}}
	for _, need := range needs {
		action, creation := strings.CutSuffix(need, atCreation)
		_, name, _ := strings.Cut(action, ":")
		at := &own
		switch {
		case action == linkedRole:
			at = &linked
		case creation && strings.HasPrefix(action, ec2Actions):
			at = &groups
		case creation:
			at = &balancers
		case strings.HasPrefix(name, "Describe"):
			at = &read
		case slices.Contains(unlimitedActions(), action):
			at = &free
		}
		at.Action = append(at.Action, action)
	}
	var all []awsStatement
	for _, s := range []awsStatement{read, free, own, groups, balancers, linked} {
		s.Effect, s.Resource = "Allow", "*"
		if len(s.Action) > 0 {
			all = append(all, s)
		}
	}
	return indentJSON(struct {
		Version   string         `json:"Version"`
		Statement []awsStatement `json:"Statement"`
	}{"2012-10-17", all})
}

// indentJSON returns JSON for readers.
func indentJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return out.Bytes(), err
}
