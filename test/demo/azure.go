package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	"github.com/berth-lb/berth/test/harness"
)

const (
	azureSubscription = "11111111-2222-4333-8444-555555555555"
	azureGroup        = "MC_nodes"
)

// lookAzure lists, through the official library, what load balancers there are
// and what goes with them.
func lookAzure(ctx context.Context, world *harness.World) ([]string, error) {
	clients, err := azureClients(world.Sim.URL)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, look := range []func(context.Context, *armnetwork.ClientFactory) ([]string, error){lookBalancers, lookPublicIPs, lookLinks, lookSecurity} {
		some, err := look(ctx, clients)
		if err != nil {
			return nil, err
		}
		slices.Sort(some)
		lines = append(lines, some...)
	}
	return lines, nil
}

// azureClients reads the simulated cloud, which takes any token.
func azureClients(url string) (*armnetwork.ClientFactory, error) {
	options := &arm.ClientOptions{ClientOptions: policy.ClientOptions{
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: url, Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: url, Audience: url},
		}},
		InsecureAllowCredentialWithHTTP: true,
	}}
	return armnetwork.NewClientFactory(azureSubscription, anyToken{}, options)
}

type anyToken struct{}

// GetToken gives everybody the same worthless token.
func (anyToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func lookBalancers(ctx context.Context, clients *armnetwork.ClientFactory) ([]string, error) {
	var out []string
	for pager := clients.NewLoadBalancersClient().NewListPager(azureGroup, nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, lb := range page.Value {
			for _, f := range lb.Properties.FrontendIPConfigurations {
				place := "public"
				if a := f.Properties.PrivateIPAddress; a != nil {
					place = *a
				}
				out = append(out, fmt.Sprintf("load balancer %s: frontend %s %s, %d rules", *lb.Name, short(*f.Name), place, len(f.Properties.LoadBalancingRules)))
			}
			for _, p := range lb.Properties.BackendAddressPools {
				out = append(out, fmt.Sprintf("load balancer %s: pool %s of %d addresses", *lb.Name, *p.Name, len(p.Properties.LoadBalancerBackendAddresses)))
			}
		}
	}
	return out, nil
}

func lookPublicIPs(ctx context.Context, clients *armnetwork.ClientFactory) ([]string, error) {
	var out []string
	for pager := clients.NewPublicIPAddressesClient().NewListPager(azureGroup, nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, ip := range page.Value {
			if ip.Tags["k8s-azure-service"] == nil {
				continue // the users' own
			}
			out = append(out, fmt.Sprintf("public IP %s %s for %s", short(*ip.Name), *ip.Properties.IPAddress, *ip.Tags["k8s-azure-service"]))
		}
	}
	return out, nil
}

func lookLinks(ctx context.Context, clients *armnetwork.ClientFactory) ([]string, error) {
	var out []string
	for pager := clients.NewPrivateLinkServicesClient().NewListPager(azureGroup, nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, link := range page.Value {
			out = append(out, "private link service "+*link.Name)
		}
	}
	return out, nil
}

func lookSecurity(ctx context.Context, clients *armnetwork.ClientFactory) ([]string, error) {
	var out []string
	for pager := clients.NewSecurityGroupsClient().NewListPager(azureGroup, nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, group := range page.Value {
			for _, r := range group.Properties.SecurityRules {
				if strings.HasPrefix(*r.Name, "k8s-azure-lb_") {
					out = append(out, fmt.Sprintf("security rule %s %s %d destinations", short(*r.Name), *r.Properties.Access, max(1, len(r.Properties.DestinationAddressPrefixes))))
				}
			}
		}
	}
	return out, nil
}
