package alibaba

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// Policy is a policy of RAM. Resources are not judged.
type Policy struct {
	Statement []struct {
		Effect string
		Action []string
	}
}

// ParsePolicy reads a policy.
func ParsePolicy(body []byte) (*Policy, error) {
	var out Policy
	err := json.Unmarshal(body, &out)
	return &out, err
}

// allows reports whether a statement allows an action, such as slb:CreateLoadBalancer.
func (p *Policy) allows(action string) bool {
	for _, s := range p.Statement {
		if s.Effect == "Allow" && slices.Contains(s.Action, action) {
			return true
		}
	}
	return false
}

// SetPolicy judges calls by a policy; nil: every call is allowed.
func (c *Cloud) SetPolicy(p *Policy) { c.Locked(func() { c.policy = p }) }

// authorize refuses a call that the policy does not allow.
func (v *visit) authorize() error {
	if action := v.Service + ":" + v.Operation; v.cloud.policy != nil && !v.cloud.policy.allows(action) {
		return rest.Refuse(http.StatusForbidden, "Forbidden.RAM", "User not authorized to operate on the specified resource, or this API doesn't support RAM.")
	}
	return nil
}
