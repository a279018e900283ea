package compute

// collections is the one list of all kinds of resources.
func collections() []*collection {
	return []*collection{
		addresses(), backendServices(), firewalls(), forwardingRules(), healthChecks(), httpHealthChecks(), instanceGroups(), instances(),
		networkEndpointGroups(), networks(), publicDelegatedPrefixes(), subnetworks(), targetPools(),
	}
}
