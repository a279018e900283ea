package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/berth-lb/berth/test/harness"
)

// azureNetwork are the types of the network resources of the demo's resource group.
const azureNetwork = "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/MC_nodes/providers/Microsoft.Network/"

// lookAzure lists the load balancers and their dependent resources through the official
// library.
func lookAzure(ctx context.Context, world *harness.World) ([]string, error) {
	client, err := azureClient(world.Sim.URL)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, look := range []func(context.Context, *arm.Client) ([]string, error){lookBalancers, lookPublicIPs, lookLinks, lookSecurity} {
		some, err := look(ctx, client)
		if err != nil {
			return nil, err
		}
		slices.Sort(some)
		lines = append(lines, some...)
	}
	return lines, nil
}

// azureClient reads the simulated cloud, which takes any token. It is the one below the
// generated clients, which take half a minute to compile.
func azureClient(url string) (*arm.Client, error) {
	options := &arm.ClientOptions{ClientOptions: policy.ClientOptions{
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: url, Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: url, Audience: url},
		}},
		InsecureAllowCredentialWithHTTP: true,
	}}
	return arm.NewClient("demo", "v0.0.0", anyToken{}, options)
}

type anyToken struct{}

// GetToken returns the same worthless token for every request.
func (anyToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// azureResource is a resource with its name, its tags and what it says of itself.
type azureResource[P any] struct {
	Name       string            `json:"name"`
	Tags       map[string]string `json:"tags"`
	Properties P                 `json:"properties"`
}

// listAzure lists the resources of a type in the resource group, page by page.
func listAzure[P any](ctx context.Context, client *arm.Client, kind string) ([]azureResource[P], error) {
	var out []azureResource[P]
	for next := client.Endpoint() + azureNetwork + kind + "?api-version=2025-05-01"; next != ""; {
		req, err := runtime.NewRequest(ctx, http.MethodGet, next)
		if err != nil {
			return nil, err
		}
		resp, err := client.Pipeline().Do(req)
		if err != nil {
			return nil, err
		}
		if !runtime.HasStatusCode(resp, http.StatusOK) {
			return nil, runtime.NewResponseError(resp)
		}
		var page struct {
			Value []azureResource[P] `json:"value"`
			Next  string             `json:"nextLink"`
		}
		if err := runtime.UnmarshalAsJSON(resp, &page); err != nil {
			return nil, err
		}
		out, next = append(out, page.Value...), page.Next
	}
	return out, nil
}

func lookBalancers(ctx context.Context, client *arm.Client) ([]string, error) {
	list, err := listAzure[struct {
		Frontends []azureResource[struct {
			Private string     `json:"privateIPAddress"`
			Rules   []struct{} `json:"loadBalancingRules"`
		}] `json:"frontendIPConfigurations"`
		Pools []azureResource[struct {
			Addresses []struct{} `json:"loadBalancerBackendAddresses"`
		}] `json:"backendAddressPools"`
	}](ctx, client, "loadBalancers")
	var out []string
	for _, lb := range list {
		for _, f := range lb.Properties.Frontends {
			place := "public"
			if f.Properties.Private != "" {
				place = f.Properties.Private
			}
			out = append(out, fmt.Sprintf("load balancer %s: frontend %s %s, %d rules", lb.Name, shortName(f.Name), place, len(f.Properties.Rules)))
		}
		for _, p := range lb.Properties.Pools {
			out = append(out, fmt.Sprintf("load balancer %s: pool %s of %d addresses", lb.Name, p.Name, len(p.Properties.Addresses)))
		}
	}
	return out, err
}

func lookPublicIPs(ctx context.Context, client *arm.Client) ([]string, error) {
	list, err := listAzure[struct {
		Address string `json:"ipAddress"`
	}](ctx, client, "publicIPAddresses")
	var out []string
	for _, ip := range list {
		if owner := ip.Tags["k8s-azure-service"]; owner != "" { // the others are the users' own
			out = append(out, fmt.Sprintf("public IP %s %s for %s", shortName(ip.Name), ip.Properties.Address, owner))
		}
	}
	return out, err
}

func lookLinks(ctx context.Context, client *arm.Client) ([]string, error) {
	list, err := listAzure[struct{}](ctx, client, "privateLinkServices")
	var out []string
	for _, link := range list {
		out = append(out, "private link service "+link.Name)
	}
	return out, err
}

func lookSecurity(ctx context.Context, client *arm.Client) ([]string, error) {
	list, err := listAzure[struct {
		Rules []azureResource[struct {
			Access       string   `json:"access"`
			Destinations []string `json:"destinationAddressPrefixes"`
		}] `json:"securityRules"`
	}](ctx, client, "networkSecurityGroups")
	var out []string
	for _, group := range list {
		for _, r := range group.Properties.Rules {
			if strings.HasPrefix(r.Name, "k8s-azure-lb_") {
				out = append(out, fmt.Sprintf("security rule %s %s %d destinations", shortName(r.Name), r.Properties.Access, max(1, len(r.Properties.Destinations))))
			}
		}
	}
	return out, err
}
