package ibm

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// policyLine is the form of one command that grants a role on resources of VPC infrastructure,
// or on a resource group.
// Source: IBM Cloud CLI reference, "ibmcloud iam service-policy-create".
var policyLine = regexp.MustCompile(`^ibmcloud iam service-policy-create \S+ --roles (Viewer|Operator|Editor) (?:--service-name is --attributes "(\w+)=\*"|(--resource-type resource-group) --resource \S+)$`)

// SetPolicies judges all calls by the roles of the commands, one in each line; nil admits every
// call. The error reports a line that is no such command.
func (c *Cloud) SetPolicies(text []byte) error {
	granted := map[string]int{}
	for line := range bytes.Lines(text) {
		line := strings.TrimSpace(string(line))
		if line == "" {
			continue
		}
		m := policyLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("policies: %q is not a command that grants a role", line)
		}
		what := m[2] + strings.TrimPrefix(m[3], "--resource-type ")
		granted[what] = max(granted[what], rankOf(m[1]))
	}
	c.Locked(func() { c.granted, c.judged = granted, text != nil })
	return nil
}

// rankOf returns the rank of a platform role. A role includes those below it.
// Source: IBM Cloud IAM documentation, "Platform management roles".
func rankOf(role string) int { return map[string]int{"Viewer": 1, "Operator": 2, "Editor": 3}[role] }

// mayCall refuses a call for which a role is missing.
// Source: ibm-cloud-docs/vpc, api-auth-correlation.md.
func (v *visit) mayCall() error {
	if !v.cloud.judged || v.Open {
		return nil
	}
	for what, role := range v.needs() {
		if v.cloud.granted[what] < rankOf(role) {
			return rest.Refuse(http.StatusForbidden, "not_authorized", "The request is not authorized: it needs the role %s on %s", role, what)
		}
	}
	return nil
}

// needs returns the roles that a call needs, by the attribute of the resources.
func (v *visit) needs() map[string]string {
	path, write := v.HTTP.URL.Path, v.HTTP.Method != http.MethodGet
	switch {
	case strings.HasPrefix(path, "/v2/resource_groups"):
		return map[string]string{"resource-group": "Viewer"}
	case strings.HasPrefix(path, "/v1/subnets"):
		return map[string]string{"subnetId": "Viewer"}
	case strings.HasPrefix(path, "/v1/vpcs"):
		return map[string]string{"vpcId": "Viewer"}
	case strings.HasPrefix(path, "/v1/security_groups") && strings.Contains(path, "/rules"):
		return map[string]string{"securityGroupId": "Editor"}
	case strings.HasPrefix(path, "/v1/security_groups") && write:
		return map[string]string{"securityGroupId": "Operator", "loadBalancerId": "Editor"}
	case strings.HasPrefix(path, "/v1/security_groups"):
		return map[string]string{"securityGroupId": "Viewer"}
	case strings.HasPrefix(path, "/v1/load_balancers") && !write:
		return map[string]string{"loadBalancerId": "Viewer"}
	case path == "/v1/load_balancers":
		return map[string]string{"loadBalancerId": "Editor", "securityGroupId": "Operator", "vpcId": "Viewer"}
	case strings.HasPrefix(path, "/v1/load_balancers/") && v.HTTP.Method == http.MethodDelete && strings.Count(path, "/") == 3:
		return map[string]string{"loadBalancerId": "Editor", "securityGroupId": "Operator"}
	case strings.HasPrefix(path, "/v1/load_balancers"):
		return map[string]string{"loadBalancerId": "Editor"}
	}
	return nil
}
