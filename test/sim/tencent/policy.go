package tencent

import (
	"encoding/json"
	"slices"
)

// Policy is a policy of CAM. Resources are not judged.
type Policy struct {
	Statement []struct {
		Effect string   `json:"effect"`
		Action []string `json:"action"`
	} `json:"statement"`
}

// ParsePolicy reads a policy.
func ParsePolicy(body []byte) (*Policy, error) {
	var out Policy
	err := json.Unmarshal(body, &out)
	return &out, err
}

// allows reports whether a statement allows an action, such as clb:CreateListener.
func (p *Policy) allows(action string) bool {
	for _, s := range p.Statement {
		if s.Effect == "allow" && slices.Contains(s.Action, action) {
			return true
		}
	}
	return false
}

// SetPolicy judges calls by a policy; nil: every call is allowed.
func (c *Cloud) SetPolicy(p *Policy) { c.Locked(func() { c.policy = p }) }

// authorize refuses a call that the policy does not allow. A creation with tags needs rights to tags
// as well. Source: drsaluml/k3s-tencent-clb-controller:README.md.
func (v *visit) authorize() error {
	needs := []string{v.Service + ":" + v.Operation}
	if v.Operation == "CreateLoadBalancer" && len(v.Body.List("Tags")) > 0 {
		needs = append(needs, "tag:AddResourceTag", "tag:DescribeResourceTagsByResourceIds", "tag:GetTags")
	}
	for _, action := range needs {
		if v.cloud.policy != nil && !v.cloud.policy.allows(action) {
			return refuseCall("UnauthorizedOperation", "You are not authorized to perform operation (%s).", action)
		}
	}
	return nil
}
