package permissions

// Azure is Microsoft Azure. An action is the path of the type of the resource and
// what is done to it; what a written resource refers to needs an action of its own
// that ends in join/action.
// Source: Azure permissions for Networking and for Compute (learn.microsoft.com/azure/role-based-access-control/permissions).
func Azure() Cloud {
	const network, compute = "Microsoft.Network/", "Microsoft.Compute/"
	joins := []string{ // of what network interfaces refer to, which are written as they were read
		network + "applicationSecurityGroups/joinIpConfiguration/action",
		network + "loadBalancers/backendAddressPools/join/action",
		network + "loadBalancers/inboundNatRules/join/action",
		network + "networkSecurityGroups/join/action",
		network + "publicIPAddresses/join/action",
		network + "virtualNetworks/subnets/join/action",
	}
	machines := append([]string{compute + "locations/operations/read", "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
		network + "loadBalancers/probes/join/action"}, joins...)
	of := func(source string, needs ...string) implied {
		return implied{append([]string{network + "locations/operations/read"}, needs...), source}
	}
	return Cloud{
		File: "azure.json",
		verb: azureAction,
		implied: map[string]implied{
			"LoadBalancers.CreateOrUpdate": of("Azure permissions for Networking, loadBalancers and what a frontend refers to",
				network+"publicIPAddresses/join/action", network+"virtualNetworks/subnets/join/action"),
			"LoadBalancers.Delete": of("Azure permissions for Networking, locations/operations"),
			"LoadBalancerBackendAddressPools.CreateOrUpdate": of("Azure Load Balancer, backend pool management by IP address: joinLoadBalancer",
				network+"virtualNetworks/joinLoadBalancer/action"),
			"PublicIPAddresses.CreateOrUpdate": of("Azure permissions for Networking, publicIPPrefixes", network+"publicIPPrefixes/join/action"),
			"PublicIPAddresses.Delete":         of("Azure permissions for Networking, locations/operations"),
			"SecurityGroups.CreateOrUpdate":    of("Azure permissions for Networking, locations/operations"),
			"PrivateLinkServices.CreateOrUpdate": of("Azure permissions for Networking, frontendIPConfigurations and subnets",
				network+"loadBalancers/frontendIPConfigurations/join/action", network+"virtualNetworks/subnets/join/action"),
			"PrivateLinkServicesPrivateEndpointConnections.Delete": of("Azure permissions for Networking, locations/operations"),
			"PrivateLinkServices.Delete":                           of("Azure permissions for Networking, locations/operations"),
			"Subnets.CreateOrUpdate": of("Azure permissions for Networking, what a subnet refers to", network+"natGateways/join/action",
				network+"networkSecurityGroups/join/action", network+"routeTables/join/action", network+"serviceEndpointPolicies/join/action"),
			"Interfaces.CreateOrUpdate":                of("Azure permissions for Networking, what a network interface refers to", joins...),
			"VirtualMachineScaleSets.CreateOrUpdate":   {machines, "Azure permissions for Compute; a scale set is written with its network profile and identities"},
			"VirtualMachineScaleSetVMs.CreateOrUpdate": {machines, "Azure permissions for Compute; an instance is written with its network profile"},
		},
		rare: map[string]string{
			"network.LoadBalancers.MigrateToIPBased": "a cluster whose pools held network interfaces and are to hold addresses",
		},
		free: map[string]string{
			"metadata": "returns the addresses of a cloud's APIs to every client",
		},
		file: azureRole("Berth load balancers", "Load balancers for the Services of a Kubernetes cluster."),
	}
}

// AzurePods is Azure with pools of pods: what the other pools need nothing of, and
// no more. The role is one of its own, because Azure takes no role with an action
// that a subscription does not have. The vendor's pages do not have the actions of
// service gateways yet; these follow from the paths, as all actions do.
func AzurePods() Cloud {
	const network = "Microsoft.Network/"
	operations := network + "locations/operations/read"
	return Cloud{
		File: "azure-pods.json",
		verb: azureAction,
		implied: map[string]implied{
			"LoadBalancers.CreateOrUpdate": {[]string{operations, network + "publicIPAddresses/join/action"},
				"Azure permissions for Networking, loadBalancers and what a frontend refers to"},
			"LoadBalancers.Delete":             {[]string{operations}, "Azure permissions for Networking, locations/operations"},
			"PublicIPAddresses.CreateOrUpdate": {[]string{operations}, "Azure permissions for Networking, locations/operations"},
			"PublicIPAddresses.Delete":         {[]string{operations}, "Azure permissions for Networking, locations/operations"},
			"ServiceGateways.UpdateServices": {[]string{operations, network + "loadBalancers/backendAddressPools/join/action", network + "virtualNetworks/joinLoadBalancer/action"},
				"Azure permissions for Networking, what a service of a gateway refers to"},
			"ServiceGateways.UpdateAddressLocations": {[]string{operations}, "Azure permissions for Networking, locations/operations"},
		},
		free: map[string]string{
			"metadata": "returns the addresses of a cloud's APIs to every client",
		},
		file: azureRole("Berth load balancers to pods", "Load balancers of the SKU Service for the Services of a Kubernetes cluster."),
	}
}

// azureAction is the action of an operation.
func azureAction(service, collection, operation string) (string, bool) {
	types := map[string]string{
		"compute.VirtualMachines":                               "Microsoft.Compute/virtualMachines",
		"compute.VirtualMachineScaleSets":                       "Microsoft.Compute/virtualMachineScaleSets",
		"compute.VirtualMachineScaleSetVMs":                     "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
		"network.Interfaces":                                    "Microsoft.Network/networkInterfaces",
		"network.LoadBalancers":                                 "Microsoft.Network/loadBalancers",
		"network.LoadBalancerBackendAddressPools":               "Microsoft.Network/loadBalancers/backendAddressPools",
		"network.PrivateLinkServices":                           "Microsoft.Network/privateLinkServices",
		"network.PrivateLinkServicesPrivateEndpointConnections": "Microsoft.Network/privateLinkServices/privateEndpointConnections",
		"network.PublicIPAddresses":                             "Microsoft.Network/publicIPAddresses",
		"network.PublicIPPrefixes":                              "Microsoft.Network/publicIPPrefixes",
		"network.SecurityGroups":                                "Microsoft.Network/networkSecurityGroups",
		"network.ServiceGateways":                               "Microsoft.Network/serviceGateways",
		"network.Subnets":                                       "Microsoft.Network/virtualNetworks/subnets",
		"network.VirtualNetworks":                               "Microsoft.Network/virtualNetworks",
		"resources.Providers":                                   "Microsoft.Resources/subscriptions/providers",
	}
	verbs := map[string]string{
		"Get": "read", "List": "read", "ListAll": "read", "CreateOrUpdate": "write", "Update": "write", "UpdateTags": "write", "Delete": "delete",
		"MigrateToIPBased": "migrateToIpBased/action", "GetServices": "services/read", "GetAddressLocations": "addressLocations/read",
		"UpdateServices": "updateServices/action", "UpdateAddressLocations": "updateAddressLocations/action",
	}
	path, verb := types[service+"."+collection], verbs[operation]
	return path + "/" + verb, path != "" && verb != ""
}

// azureRole is a custom role as the tools of Azure read it.
func azureRole(name, description string) func(needs []string) ([]byte, error) {
	return func(needs []string) ([]byte, error) {
		return indentJSON(struct {
			Name             string   `json:"Name"`
			IsCustom         bool     `json:"IsCustom"`
			Description      string   `json:"Description"`
			Actions          []string `json:"Actions"`
			NotActions       []string `json:"NotActions"`
			DataActions      []string `json:"DataActions"`
			NotDataActions   []string `json:"NotDataActions"`
			AssignableScopes []string `json:"AssignableScopes"`
		}{
			Name: name, IsCustom: true, Description: description,
			Actions: needs, NotActions: []string{}, DataActions: []string{}, NotDataActions: []string{},
			AssignableScopes: []string{"/subscriptions/SUBSCRIPTION_ID"},
		})
	}
}
