package permissions

import "encoding/json"

// Alibaba is an account of Alibaba Cloud. What is granted are the actions of a policy of RAM, which
// have the names of the calls.
// Source: Alibaba Cloud, "RAM authorization" of the APIs of CLB, ECS and VPC.
func Alibaba() Cloud {
	return Cloud{
		File: "alibaba.json",
		verb: func(service, _, operation string) (string, bool) { return service + ":" + operation, true },
		rare: map[string]string{
			"slb.UntagResources":               "a load balancer that is kept when its Service is deleted",
			"slb.DescribeHealthStatus":         "pods with readiness gates behind a Classic Load Balancer",
			"nlb.GetListenerHealthStatus":      "pods with readiness gates behind a network load balancer",
			"nlb.StartListener":                "a listener that was stopped by hand",
			"nlb.UntagResources":               "a network load balancer that is kept when its Service is deleted",
			"ecs.ModifySecurityGroupAttribute": "a security group that was renamed by hand",
		},
		file: ramPolicy,
	}
}

// ramPolicy writes a policy as `aliyun ram CreatePolicy` reads it.
func ramPolicy(needs []string) ([]byte, error) {
	type statement struct {
		Effect   string   `json:"Effect"`
		Action   []string `json:"Action"`
		Resource string   `json:"Resource"`
	}
	body, err := json.MarshalIndent(struct {
		Version   string      `json:"Version"`
		Statement []statement `json:"Statement"`
	}{"1", []statement{{"Allow", needs, "*"}}}, "", "  ")
	return append(body, '\n'), err
}
