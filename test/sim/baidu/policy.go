package baidu

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// Policy holds the system policy of each product that a user has.
type Policy map[string]string

// ParsePolicy reads policies, one of a product in each line.
func ParsePolicy(body []byte) (Policy, error) {
	out := Policy{}
	for line := range strings.Lines(string(body)) {
		product, level, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			return nil, fmt.Errorf("%q is not a product with a policy", line)
		}
		out[strings.ToLower(product)] = level
	}
	return out, nil
}

// SetPolicy judges calls by policies; nil: every call is allowed.
func (c *Cloud) SetPolicy(p Policy) { c.Locked(func() { c.policy = p }) }

// authorize refuses a call that the policy of its product does not allow.
// Source: https://intl.cloud.baidu.com/en/doc/BLB/s/0jwvxnrvd-intl-en.
func (v *visit) authorize() error {
	paid := strings.HasSuffix(v.Operation, "LoadBalancer") || v.Operation == "CreateEip" || v.Operation == "DeleteEip" || v.Operation == "ResizeEip"
	level := v.cloud.policy[v.Service]
	allowed := level == "management" || level == "operation and maintenance" && !paid || level == "read-only" && !v.Write
	if v.cloud.policy == nil || allowed {
		return nil
	}
	return rest.Refuse(http.StatusForbidden, "AccessDenied", "Access denied: %s of %s.", v.Operation, v.Service)
}
