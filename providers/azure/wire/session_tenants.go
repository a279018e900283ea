package wire

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	azpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/berth-lb/berth/providers/azure/model"
)

// connect makes the ways to Azure: one, or two where network resources are in
// another tenant, whose resource manager takes only its own tokens.
func (s *Session) connect(place cloud.Configuration, client azpolicy.ClientOptions, agentName string) error {
	c := s.config
	if !c.TwoTenants() {
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
	if model.SegmentAfter(path, "subscriptions") == strings.ToLower(s.config.SubscriptionOfNetwork()) {
		return s.network
	}
	return s.pipeline
}
