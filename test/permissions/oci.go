package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// useNetwork is the permission that Oracle requires for creating load balancers, on the
// networks that they are in.
// Source: Kubernetes Engine documentation, policies of the native ingress controller.
const useNetwork = "use virtual-network-family"

// OCI is Oracle Cloud. What is granted are permissions in statements of a policy, those of
// the networks in a statement of their own: they can be in another compartment.
// Sources: policy references of the Load Balancer service, the Network Load Balancer
// service and the Core Services, "Permissions Required for Each API Operation".
func OCI() Cloud {
	uses := implied{[]string{useNetwork}, "Kubernetes Engine documentation, policies of the native ingress controller"}
	core := func(operation string, needs ...string) implied {
		return implied{needs, "policy reference of the Core Services, " + operation}
	}
	return Cloud{
		File: "oci.txt",
		verb: ociPermission,
		implied: map[string]implied{
			"loadbalancer.CreateLoadBalancer":                 uses,
			"loadbalancer.DeleteLoadBalancer":                 uses,
			"networkloadbalancer.CreateNetworkLoadBalancer":   uses,
			"networkloadbalancer.DeleteNetworkLoadBalancer":   uses,
			"loadbalancer.UpdateNetworkSecurityGroups":        uses,
			"networkloadbalancer.UpdateNetworkSecurityGroups": uses,
			"core.ListVnicAttachments":                        core("ListVnicAttachments", "INSTANCE_INSPECT"),
			"core.CreateNetworkSecurityGroup":                 core("CreateNetworkSecurityGroup", "VCN_ATTACH"),
			"core.DeleteNetworkSecurityGroup":                 core("DeleteNetworkSecurityGroup", "VCN_DETACH"),
			"core.AddNetworkSecurityGroupSecurityRules":       core("AddNetworkSecurityGroupSecurityRules", "NETWORK_SECURITY_GROUP_INSPECT"),
		},
		rare: map[string]string{},
		free: map[string]string{},
		file: ociPolicy,
	}
}

// ociPermission is the permission of an operation.
func ociPermission(service, _, operation string) (string, bool) {
	if service == "core" {
		need := map[string]string{
			"GetSubnet": "SUBNET_READ", "ListSubnets": "SUBNET_READ", "GetSecurityList": "SECURITY_LIST_READ", "UpdateSecurityList": "SECURITY_LIST_UPDATE",
			"ListVnicAttachments": "VNIC_ATTACHMENT_READ", "GetVnic": "VNIC_READ", "GetInstance": "INSTANCE_READ", "GetPublicIpByIpAddress": "PUBLIC_IP_READ", "ListIpv6s": "IPV6_READ",
			"GetIpv6": "IPV6_READ", "GetPrivateIp": "PRIVATE_IP_READ", "ListPrivateIps": "PRIVATE_IP_READ",
			"ListNetworkSecurityGroups": "NETWORK_SECURITY_GROUP_READ", "GetNetworkSecurityGroup": "NETWORK_SECURITY_GROUP_READ",
			"CreateNetworkSecurityGroup": "NETWORK_SECURITY_GROUP_CREATE", "UpdateNetworkSecurityGroup": "NETWORK_SECURITY_GROUP_UPDATE",
			"DeleteNetworkSecurityGroup":              "NETWORK_SECURITY_GROUP_DELETE",
			"ListNetworkSecurityGroupSecurityRules":   "NETWORK_SECURITY_GROUP_LIST_SECURITY_RULES",
			"AddNetworkSecurityGroupSecurityRules":    "NETWORK_SECURITY_GROUP_UPDATE_SECURITY_RULES",
			"RemoveNetworkSecurityGroupSecurityRules": "NETWORK_SECURITY_GROUP_UPDATE_SECURITY_RULES",
		}[operation]
		return need, need != ""
	}
	begin := map[string]string{"loadbalancer": "LOAD_BALANCER_", "networkloadbalancer": "NETWORK_LOAD_BALANCER_"}[service]
	verbs := map[string]string{
		"ListLoadBalancers": "INSPECT", "ListNetworkLoadBalancers": "INSPECT", "GetLoadBalancer": "READ", "GetNetworkLoadBalancer": "READ",
		"GetWorkRequest": "READ", "ListWorkRequests": "READ", "ListWorkRequestErrors": "READ",
		"CreateLoadBalancer": "CREATE", "CreateNetworkLoadBalancer": "CREATE", "DeleteLoadBalancer": "DELETE", "DeleteNetworkLoadBalancer": "DELETE",
	}
	verb := verbs[operation]
	for _, part := range []string{"BackendSet", "Listener", "RuleSet", "Certificate", "LoadBalancer", "NetworkLoadBalancer", "NetworkSecurityGroups", "LoadBalancerShape"} {
		if what, ok := strings.CutSuffix(operation, part); ok && verb == "" && slices.Contains([]string{"Create", "Update", "Delete"}, what) {
			verb = "UPDATE"
		}
	}
	return begin + verb, begin != "" && verb != ""
}

// ociPolicy writes statements, for a dynamic group and compartments that the user puts in.
func ociPolicy(needs []string) ([]byte, error) {
	var balancers, network []string
	family := false
	for _, n := range needs {
		switch {
		case n == useNetwork:
			family = true
		case strings.Contains(n, "LOAD_BALANCER"):
			balancers = append(balancers, n)
		default:
			network = append(network, n)
		}
	}
	text := fmt.Sprintf("Allow dynamic-group GROUP to {%s} in compartment COMPARTMENT\nAllow dynamic-group GROUP to {%s} in compartment NETWORK_COMPARTMENT\n",
		strings.Join(balancers, ", "), strings.Join(network, ", "))
	if family {
		text += "Allow dynamic-group GROUP to " + useNetwork + " in compartment NETWORK_COMPARTMENT\n"
	}
	return []byte(text), nil
}
