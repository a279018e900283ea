package model

import (
	"fmt"
	"slices"
	"strings"
)

// Complete refuses a configuration that lacks a required setting, or that asks for an
// unsupported feature.
func (c Config) Complete() error {
	for _, k := range []struct{ key, value string }{
		{"subscriptionId", c.Subscription}, {"resourceGroup", c.Group}, {"location", c.Location}, {"vnetName", c.VNet}, {"securityGroupName", c.Security},
	} {
		if k.value == "" && !(k.key == "securityGroupName" && c.PodIP()) {
			return fmt.Errorf("%s: is missing", k.key)
		}
	}
	return c.CheckTenants()
}

// HasCluster refuses several load balancers of which none has the name of the cluster.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func (c Config) HasCluster(cluster string) error {
	if len(c.Multi) > 0 && !slices.ContainsFunc(c.Multi, func(m MultiBalancer) bool { return strings.EqualFold(m.Name, cluster) }) {
		return fmt.Errorf("multipleStandardLoadBalancerConfigurations: none of them has the name of the cluster, %q", cluster)
	}
	return nil
}

// TwoTenants reports whether network resources are in another tenant.
func (c Config) TwoTenants() bool {
	return c.NetworkTenant != "" && !strings.EqualFold(c.NetworkTenant, c.Auth.Tenant)
}

// CheckTenants refuses what has no token for a second tenant. A subscription is of
// one tenant, so two tenants are two subscriptions.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/azclient/auth_func.go.
func (c Config) CheckTenants() error {
	const key = "networkResourceTenantID"
	switch {
	case !c.TwoTenants():
	case c.Auth.Workload, c.Auth.ManagedIdentity:
		return fmt.Errorf("%s: another tenant than tenantId needs aadClientSecret or aadClientCertPath; workload and managed identities have tokens for one tenant", key)
	case strings.EqualFold(c.SubscriptionOfNetwork(), c.Subscription):
		return fmt.Errorf("%s: another tenant than tenantId needs networkResourceSubscriptionID, another subscription than subscriptionId", key)
	}
	return nil
}

// WithEnvironment lays the variables that the webhook of workload identity sets, and
// those of a secret, over the file. A file with a token is a workload identity,
// whatever the file says. Source: kubernetes-sigs/cloud-provider-azure:pkg/azclient/auth_conf.go.
func (a Auth) WithEnvironment(lookup func(string) (string, bool)) Auth {
	for name, field := range map[string]*string{
		"AZURE_TENANT_ID": &a.Tenant, "AZURE_CLIENT_ID": &a.ClientID, "AZURE_CLIENT_SECRET": &a.ClientSecret, "AZURE_FEDERATED_TOKEN_FILE": &a.WorkloadToken,
	} {
		if value, set := lookup(name); set && value != "" {
			*field = value
			a.Workload = a.Workload || name == "AZURE_FEDERATED_TOKEN_FILE"
		}
	}
	return a
}
