package oci

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// statement is the form of one line of a policy: whole verbs on a family, or single
// permissions, for a group or for the workloads of a ServiceAccount.
// Sources: IAM documentation, "Policy Syntax" and "Permissions"; Kubernetes Engine
// documentation, "Granting Workloads Access to OCI Resources".
var statement = regexp.MustCompile(`^Allow (?:(?:group|dynamic-group) \S+|(any-user)) to (?:\{([A-Z0-9_, ]+)\}|(\w+ [a-z-]+)) in compartment \S+` +
	`(?: where all \{ ?request\.principal\.type = 'workload', request\.principal\.namespace = '([^']+)', request\.principal\.service_account = '([^']+)'(?:, request\.principal\.cluster_id = '[^']+')? ?\})?$`)

// grant is a permission, or a verb on a family, of the workloads of a ServiceAccount, by
// namespace and name, or of all other callers.
type grant struct{ workload, what string }

// SetPolicy judges all calls by the statements of a policy, one in each line; nil lets
// everything be called. The error tells of a line that is none.
func (c *Cloud) SetPolicy(text []byte) error {
	granted := map[grant]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		m := statement.FindStringSubmatch(line)
		if len(m) == 0 || (m[1] == "any-user") != (m[4] != "") {
			return fmt.Errorf("policy: %q is no statement", line)
		}
		who := ""
		if m[4] != "" {
			who = m[4] + "/" + m[5]
		}
		for permission := range strings.SplitSeq(m[2], ",") {
			granted[grant{who, strings.TrimSpace(permission)}] = true
		}
		granted[grant{who, m[3]}] = true
	}
	c.Locked(func() { c.granted, c.judged = granted, text != nil })
	return nil
}

// mayCall refuses a call that the policy does not allow, with the error for a missing
// resource.
// Source: API reference, error 404 NotAuthorizedOrNotFound.
func (v *visit) mayCall() error {
	if !v.cloud.judged {
		return nil
	}
	for _, need := range v.needs() {
		if !v.cloud.granted[grant{v.workload, need}] {
			return notFound("permission", need)
		}
	}
	return nil
}

// useNetwork is the statement that creating load balancers requires for the networks that
// they are in.
// Source: Kubernetes Engine documentation, policies of the native ingress controller.
const useNetwork = "use virtual-network-family"

// needs are the permissions of a call, by what it does and what its body refers to.
// Sources: policy references of the Load Balancer service, the Network Load Balancer
// service and the Core Services, "Permissions Required for Each API Operation".
func (v *visit) needs() []string {
	name := v.Operation
	switch v.Service {
	case apiAuth:
		return nil
	case apiLimits:
		return []string{readAvailability}
	case apiCore:
		needs, known := coreNeeds()[name]
		if !known {
			return []string{"a permission that the simulator does not know, for " + name}
		}
		if slices.ContainsFunc(v.Body.Objects("securityRules"), namesGroup) {
			needs = append(needs, "NETWORK_SECURITY_GROUP_INSPECT")
		}
		return needs
	}
	service := "LOAD_BALANCER_"
	if v.Service == apiNLB {
		service = "NETWORK_LOAD_BALANCER_"
	}
	switch {
	case strings.HasPrefix(name, "List") && strings.HasSuffix(name, "LoadBalancers"):
		return []string{service + "INSPECT"}
	case !v.Write:
		return []string{service + "READ"}
	case strings.HasPrefix(name, "Create") && strings.HasSuffix(name, "LoadBalancer"):
		return []string{service + "CREATE", useNetwork}
	case strings.HasPrefix(name, "Delete") && strings.HasSuffix(name, "LoadBalancer"):
		return []string{service + "DELETE", useNetwork}
	case name == "UpdateNetworkSecurityGroups":
		return []string{service + "UPDATE", useNetwork}
	}
	return []string{service + "UPDATE"}
}

// coreNeeds are the permissions of the calls of the Core Services, of which lists need those
// of reads.
func coreNeeds() map[string][]string {
	const group = "NETWORK_SECURITY_GROUP_"
	return map[string][]string{
		"GetVcn": {"VCN_READ"}, "GetSubnet": {"SUBNET_READ"}, "ListSubnets": {"SUBNET_READ"}, "GetVnic": {"VNIC_READ"},
		"GetInstance": {"INSTANCE_READ"}, "ListInstances": {"INSTANCE_READ"}, "ListVnicAttachments": {"VNIC_ATTACHMENT_READ", "INSTANCE_INSPECT"},
		"GetPublicIp": {"PUBLIC_IP_READ"}, "GetPublicIpByIpAddress": {"PUBLIC_IP_READ"}, "GetPrivateIp": {"PRIVATE_IP_READ"}, "ListPrivateIps": {"PRIVATE_IP_READ"},
		"GetIpv6": {"IPV6_READ"}, "ListIpv6s": {"IPV6_READ"}, "GetSecurityList": {"SECURITY_LIST_READ"}, "UpdateSecurityList": {"SECURITY_LIST_UPDATE"},
		"GetNetworkSecurityGroup": {group + "READ"}, "ListNetworkSecurityGroups": {group + "READ"}, "UpdateNetworkSecurityGroup": {group + "UPDATE"},
		"CreateNetworkSecurityGroup": {group + "CREATE", "VCN_ATTACH"}, "DeleteNetworkSecurityGroup": {group + "DELETE", "VCN_DETACH"},
		"ListNetworkSecurityGroupSecurityRules":   {group + "LIST_SECURITY_RULES"},
		"AddNetworkSecurityGroupSecurityRules":    {group + "UPDATE_SECURITY_RULES"},
		"RemoveNetworkSecurityGroupSecurityRules": {group + "UPDATE_SECURITY_RULES"},
	}
}

// namesGroup reports whether the peer of a rule is a group.
func namesGroup(r rest.Object) bool {
	return r.Text("sourceType") == "NETWORK_SECURITY_GROUP" || r.Text("destinationType") == "NETWORK_SECURITY_GROUP"
}
