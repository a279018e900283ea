package permissions

import "encoding/json"

// Tencent is an account of Tencent Cloud. What is granted are the actions of a policy of CAM, which
// have the names of the calls.
// Source: Tencent Cloud, "CAM-Enabled API" of CLB.
func Tencent() Cloud {
	return Cloud{
		File: "tencent.json",
		verb: func(service, _, operation string) (string, bool) { return service + ":" + operation, service == "clb" },
		implied: map[string]implied{
			"clb.CreateLoadBalancer": {
				[]string{"tag:AddResourceTag", "tag:DescribeResourceTagsByResourceIds", "tag:GetTags"},
				"drsaluml/k3s-tencent-clb-controller:README.md",
			},
		},
		file: camPolicy,
	}
}

// camPolicy writes a policy as `tccli cam CreatePolicy` reads it.
func camPolicy(needs []string) ([]byte, error) {
	type statement struct {
		Effect   string   `json:"effect"`
		Action   []string `json:"action"`
		Resource []string `json:"resource"`
	}
	body, err := json.MarshalIndent(struct {
		Version   string      `json:"version"`
		Statement []statement `json:"statement"`
	}{"2.0", []statement{{"allow", needs, []string{"*"}}}}, "", "  ")
	return append(body, '\n'), err
}
