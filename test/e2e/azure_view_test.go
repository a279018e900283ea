package e2e

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
)

const (
	azureSubscription = "11111111-2222-4333-8444-555555555555"
	azureGroup        = "MC_nodes"
)

// anyToken returns the same worthless token for every request.
type anyToken struct{}

func (anyToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// dialAzure makes the official library's clients.
func dialAzure(url string) (*armnetwork.ClientFactory, error) {
	options := &arm.ClientOptions{ClientOptions: policy.ClientOptions{
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: url, Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: url, Audience: url},
		}},
		InsecureAllowCredentialWithHTTP: true,
	}}
	return armnetwork.NewClientFactory(azureSubscription, anyToken{}, options)
}

// readPages iterates over a list of the official library.
func readPages[T, M any](ctx context.Context, more func() bool, next func(context.Context) (T, error), of func(T) []M) ([]M, error) {
	var out []M
	for more() {
		page, err := next(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, of(page)...)
	}
	return out, nil
}

// azureSeen is the part of the cloud that frontends refer to.
type azureSeen struct {
	addresses map[string]string // IPs of public addresses, by id in lower case
	rules     []*armnetwork.SecurityRule
	nodes     map[string]string // names of machines by their IP
}

// azureFronts lists the frontends that are named after a Service, with all
// behind them.
func azureFronts(w *world) ([]front, error) {
	ctx := w.t.Context()
	c, err := dialAzure(w.Sim.URL)
	if err != nil {
		return nil, err
	}
	seen, err := lookAround(ctx, c)
	if err != nil {
		return nil, err
	}
	nodes, err := w.SeedNodes()
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		seen.nodes[n.Status.Addresses[0].Address] = n.Name
	}
	pager := c.NewLoadBalancersClient().NewListPager(azureGroup, nil)
	balancers, err := readPages(ctx, pager.More, pager.NextPage, func(p armnetwork.LoadBalancersClientListResponse) []*armnetwork.LoadBalancer { return p.Value })
	var out []front
	for _, lb := range balancers {
		for _, f := range lb.Properties.FrontendIPConfigurations {
			out = append(out, seen.front(lb, f))
		}
	}
	return out, err
}

func lookAround(ctx context.Context, c *armnetwork.ClientFactory) (azureSeen, error) {
	seen := azureSeen{addresses: map[string]string{}, nodes: map[string]string{}}
	pager := c.NewPublicIPAddressesClient().NewListPager(azureGroup, nil)
	ips, err := readPages(ctx, pager.More, pager.NextPage, func(p armnetwork.PublicIPAddressesClientListResponse) []*armnetwork.PublicIPAddress { return p.Value })
	if err != nil {
		return seen, err
	}
	for _, ip := range ips {
		if ip.Properties.IPAddress != nil {
			seen.addresses[strings.ToLower(*ip.ID)] = *ip.Properties.IPAddress
		}
	}
	more := c.NewSecurityGroupsClient().NewListAllPager(nil)
	groups, err := readPages(ctx, more.More, more.NextPage, func(p armnetwork.SecurityGroupsClientListAllResponse) []*armnetwork.SecurityGroup { return p.Value })
	for _, g := range groups {
		seen.rules = append(seen.rules, g.Properties.SecurityRules...)
	}
	return seen, err
}

// front puts a frontend together with its rules, members and clients.
func (s azureSeen) front(lb *armnetwork.LoadBalancer, c *armnetwork.FrontendIPConfiguration) front {
	f := front{Of: *c.Name, Kind: "internal"}
	if c.Properties.PublicIPAddress != nil {
		f.Kind, f.Address = "public", s.addresses[strings.ToLower(*c.Properties.PublicIPAddress.ID)]
	} else if c.Properties.PrivateIPAddress != nil {
		f.Address = *c.Properties.PrivateIPAddress
	}
	probes, pools := map[string]string{}, map[string]bool{}
	for _, p := range lb.Properties.Probes {
		probes[strings.ToLower(*p.ID)] = fmt.Sprintf("%d", *p.Properties.Port)
		if p.Properties.RequestPath != nil {
			probes[strings.ToLower(*p.ID)] += *p.Properties.RequestPath
		}
	}
	var checks []string
	for _, r := range lb.Properties.LoadBalancingRules {
		if !strings.EqualFold(*r.Properties.FrontendIPConfiguration.ID, *c.ID) {
			continue
		}
		f.Ports = append(f.Ports, fmt.Sprintf("%s %d", strings.ToUpper(string(*r.Properties.Protocol)), *r.Properties.FrontendPort))
		if r.Properties.Probe != nil {
			checks = append(checks, probes[strings.ToLower(*r.Properties.Probe.ID)])
		}
		pools[strings.ToLower(*r.Properties.BackendAddressPool.ID)] = true
	}
	for _, p := range lb.Properties.BackendAddressPools {
		if pools[strings.ToLower(*p.ID)] {
			for _, a := range p.Properties.LoadBalancerBackendAddresses {
				f.Members = append(f.Members, s.nodes[*a.Properties.IPAddress])
			}
		}
	}
	slices.Sort(checks)
	f.Check = strings.Join(slices.Compact(checks), ",")
	f.Sources = s.sources(f.Address)
	slices.Sort(f.Ports)
	slices.Sort(f.Members)
	return f
}

// sources lists the ranges that may connect to an address.
func (s azureSeen) sources(address string) []string {
	var out []string
	for _, r := range s.rules {
		if *r.Properties.Access != armnetwork.SecurityRuleAccessAllow || !slices.Contains(mergeTexts(r.Properties.DestinationAddressPrefix, r.Properties.DestinationAddressPrefixes), address) {
			continue
		}
		out = append(out, mergeTexts(r.Properties.SourceAddressPrefix, r.Properties.SourceAddressPrefixes)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mergeTexts returns one value or many.
func mergeTexts(one *string, many []*string) []string {
	var out []string
	if one != nil && *one != "" {
		out = append(out, *one)
	}
	for _, m := range many {
		out = append(out, *m)
	}
	return out
}
