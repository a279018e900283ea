package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// IBM is VPC infrastructure of IBM Cloud. What is granted are platform roles on kinds of
// resources, each by a command for a service ID; a role includes those below it.
// Source: ibm-cloud-docs/vpc, api-auth-correlation.md.
func IBM() Cloud {
	documented := func(needs ...string) implied { return implied{needs, "ibm-cloud-docs/vpc, api-auth-correlation.md"} }
	return Cloud{
		File: "ibm.txt",
		verb: ibmRole,
		implied: map[string]implied{
			"vpc.create_load_balancer": documented("securityGroupId Operator", "vpcId Viewer"),
			"vpc.delete_load_balancer": documented("securityGroupId Operator"),
		},
		rare: map[string]string{},
		free: map[string]string{"iam": "issues the tokens that carry the roles"},
		file: ibmPolicies,
	}
}

// ibmRoles lists the platform roles, each of which includes those before it.
func ibmRoles() []string { return []string{"Viewer", "Operator", "Editor"} }

// ibmRole returns the kind of resource and the role that an operation needs.
func ibmRole(service, _, operation string) (string, bool) {
	verb, thing, _ := strings.Cut(operation, "_")
	read := verb == "get" || verb == "list"
	switch {
	case service == "resource-controller":
		return "resource-group Viewer", read
	case strings.HasPrefix(thing, "load_balancer") && read:
		return "loadBalancerId Viewer", true
	case strings.HasPrefix(thing, "load_balancer"):
		return "loadBalancerId Editor", true
	case strings.HasPrefix(thing, "security_group") && read:
		return "securityGroupId Viewer", true
	case strings.HasPrefix(thing, "security_group_rule"):
		return "securityGroupId Editor", true
	case strings.HasPrefix(thing, "security_group_target"):
		return "securityGroupId Operator", true
	case strings.HasPrefix(thing, "subnet"):
		return "subnetId Viewer", read
	case strings.HasPrefix(thing, "vpc"):
		return "vpcId Viewer", read
	}
	return "", false
}

// ibmPolicies writes one command for each kind of resource, with the highest role.
func ibmPolicies(needs []string) ([]byte, error) {
	highest := map[string]string{}
	var kinds []string
	for _, need := range needs {
		kind, role, _ := strings.Cut(need, " ")
		if slices.Index(ibmRoles(), role) > slices.Index(ibmRoles(), highest[kind]) {
			highest[kind] = role
		}
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	var text strings.Builder
	for _, kind := range slices.Compact(kinds) {
		on := `--service-name is --attributes "` + kind + `=*"`
		if kind == "resource-group" {
			on = "--resource-type resource-group --resource RESOURCE_GROUP"
		}
		fmt.Fprintf(&text, "ibmcloud iam service-policy-create SERVICE_ID --roles %s %s\n", highest[kind], on)
	}
	return []byte(text.String()), nil
}
