package azure

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	azpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// connect makes the ways to Azure: one, or two where network resources are in
// another tenant, whose resource manager takes only its own tokens.
func (s *Session) connect(place cloud.Configuration, client azpolicy.ClientOptions, agentName string) error {
	c := s.config
	if !c.twoTenants() {
		credential, err := credentialOf(c, place)
		if err != nil {
			return err
		}
		s.pipeline, err = pipelineOf(credential, client, agentName)
		s.network = s.pipeline
		return err
	}
	// Machines refer to pools of the other tenant: a second token in their calls
	// shows that the caller may. Source: Azure Resource Manager documentation,
	// authenticate requests across tenants.
	credential, err := credentialOf(c, place, c.NetworkTenant)
	if err != nil {
		return err
	}
	if s.pipeline, err = pipelineOf(credential, client, agentName, c.NetworkTenant); err != nil {
		return err
	}
	c.Auth.Tenant = c.NetworkTenant
	if credential, err = credentialOf(c, place); err != nil {
		return err
	}
	s.network, err = pipelineOf(credential, client, agentName)
	return err
}

// pipelineFor is the way to the tenant of a path's subscription.
func (s *Session) pipelineFor(path string) runtime.Pipeline {
	if segmentAfter(path, "subscriptions") == lower(s.config.networkSubscription()) {
		return s.network
	}
	return s.pipeline
}

// twoTenants tells whether network resources are in another tenant.
func (c Config) twoTenants() bool {
	return c.NetworkTenant != "" && !strings.EqualFold(c.NetworkTenant, c.Auth.Tenant)
}

// checkTenants refuses what has no token for a second tenant. A subscription is of
// one tenant, so two tenants are two subscriptions.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/azclient/auth_func.go.
func (c Config) checkTenants() error {
	const key = "networkResourceTenantID"
	switch {
	case !c.twoTenants():
	case c.Auth.Workload, c.Auth.ManagedIdentity:
		return fmt.Errorf("%s: another tenant than tenantId needs aadClientSecret or aadClientCertPath; workload and managed identities have tokens for one tenant", key)
	case strings.EqualFold(c.networkSubscription(), c.Subscription):
		return fmt.Errorf("%s: another tenant than tenantId needs networkResourceSubscriptionID, another subscription than subscriptionId", key)
	}
	return nil
}
