package compute

// newCollections returns the one list of all kinds of resources.
func newCollections() []*collection {
	return []*collection{
		addressCollection(), backendServices(), firewallCollection(), forwardingRules(), healthChecks(), httpHealthChecks(), instanceGroups(), instanceCollection(),
		networkEndpointGroups(), networkCollection(), publicDelegatedPrefixes(), subnetworkCollection(), targetPools(),
	}
}
