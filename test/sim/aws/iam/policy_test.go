package iam_test

import (
	"testing"

	"github.com/berth-lb/berth/test/sim/aws/iam"
)

const document = `{"Version": "2012-10-17", "Statement": [
 {"Sid": "Read", "Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"},
 {"Sid": "Own", "Effect": "Allow", "Action": ["elasticloadbalancing:AddTags", "elasticloadbalancing:Delete?istener"], "Resource": "arn:aws:elasticloadbalancing:*:*:*/net/*",
  "Condition": {"Null": {"aws:ResourceTag/kubernetes.io/cluster/one": "false"}, "StringNotEquals": {"aws:ResourceTag/keep": "yes"}}},
 {"Sid": "New", "Effect": "Allow", "Action": "elasticloadbalancing:AddTags", "Resource": "*",
  "Condition": {"StringEquals": {"elasticloadbalancing:CreateAction": ["CreateLoadBalancer", "CreateTargetGroup"]}}},
 {"Sid": "Never", "Effect": "Deny", "Action": "ec2:DescribeHosts", "Resource": "*"}
]}`

func TestPolicy(t *testing.T) {
	p, err := iam.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	const own, net = "aws:ResourceTag/kubernetes.io/cluster/one", "arn:aws:elasticloadbalancing:us-east-1:1:listener/net/a/b/c"
	tests := []struct {
		name string
		ask  iam.Ask
		want bool
	}{
		{"wildcard", iam.Ask{Action: "ec2:DescribeVpcs", Resource: "*"}, true},
		{"letter case of actions", iam.Ask{Action: "EC2:describevpcs", Resource: "*"}, true},
		{"not named", iam.Ask{Action: "ec2:RunInstances", Resource: "*"}, false},
		{"denied", iam.Ask{Action: "ec2:DescribeHosts", Resource: "*"}, false},
		{"tagged", iam.Ask{Action: "elasticloadbalancing:DeleteListener", Resource: net, Keys: map[string]string{own: "owned"}}, true},
		{"not tagged", iam.Ask{Action: "elasticloadbalancing:DeleteListener", Resource: net}, false},
		{"tag in other letters", iam.Ask{Action: "elasticloadbalancing:DeleteListener", Resource: net, Keys: map[string]string{"aws:ResourceTag/Kubernetes.io/cluster/one": "owned"}}, false},
		{"tagged and to be kept", iam.Ask{Action: "elasticloadbalancing:DeleteListener", Resource: net, Keys: map[string]string{own: "owned", "aws:resourcetag/keep": "yes"}}, false},
		{"of another kind", iam.Ask{Action: "elasticloadbalancing:DeleteListener", Resource: "arn:aws:elasticloadbalancing:us-east-1:1:listener/app/a", Keys: map[string]string{own: "owned"}}, false},
		{"tags at creation", iam.Ask{Action: "elasticloadbalancing:AddTags", Resource: net, Keys: map[string]string{"elasticloadbalancing:CreateAction": "CreateTargetGroup"}}, true},
		{"tags at another creation", iam.Ask{Action: "elasticloadbalancing:AddTags", Resource: net, Keys: map[string]string{"elasticloadbalancing:CreateAction": "CreateListener"}}, false},
	}
	for _, tc := range tests {
		if got := p.Allows(tc.ask); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	if p.Without("ec2:Describe*").Allows(tests[0].ask) {
		t.Error("an action that was taken out is still allowed")
	}
	for _, bad := range []string{`{`, `{"Statement": [{"Effect": "Allow", "Action": "a:b", "Resource": "*", "Condition": {"DateLess": {}}}]}`, `{"Statement": [{"Effect": "Maybe", "Action": "a:b", "Resource": "*"}]}`, `{"Statement": [{"Effect": "Allow", "Action": "a:b"}]}`} {
		if _, err := iam.Parse([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
