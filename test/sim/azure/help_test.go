package azure_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	armpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/azure/simtest"
)

// world is a running simulator with the official clients.
type world struct {
	*simtest.Running
	t    *testing.T
	seed simazure.Seed
	net  *armnetwork.ClientFactory
	comp *armcompute.ClientFactory
}

func startWorld(t *testing.T, opt simazure.Options) *world {
	t.Helper()
	r := simtest.Start(t, opt)
	return connectClients(t, r, r.Options())
}

func connectClients(t *testing.T, r *simtest.Running, opt *armpolicy.ClientOptions) *world {
	t.Helper()
	sub := "11111111-2222-4333-8444-555555555555"
	net, err := armnetwork.NewClientFactory(sub, r.Credential, opt)
	if err != nil {
		t.Fatal(err)
	}
	comp, err := armcompute.NewClientFactory(sub, r.Credential, opt)
	if err != nil {
		t.Fatal(err)
	}
	return &world{Running: r, t: t, seed: r.Cloud.Seed, net: net, comp: comp}
}

// errorCode returns the ARM code of an error, "" for none.
func errorCode(err error) string {
	var failed *azcore.ResponseError
	if errors.As(err, &failed) {
		return failed.ErrorCode
	}
	if err != nil {
		return "no answer: " + err.Error()
	}
	return ""
}

func httpStatus(err error) int {
	var failed *azcore.ResponseError
	if errors.As(err, &failed) {
		return failed.StatusCode
	}
	return 0
}

func mustSucceed[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// pollDone waits for a long running call; it takes the results of the SDK's Begin
// calls.
func pollDone[T any](ctx context.Context, p *runtime.Poller[T], err error) (T, error) {
	if err != nil {
		var zero T
		return zero, err
	}
	return p.PollUntilDone(ctx, nil)
}

func (w *world) id(kind, name string) string {
	return "/subscriptions/" + w.seed.Subscription + "/resourceGroups/" + w.seed.ResourceGroup + "/providers/Microsoft.Network/" + kind + "/" + name
}

func (w *world) putIP(name string, edit func(*armnetwork.PublicIPAddress)) (armnetwork.PublicIPAddress, error) {
	w.t.Helper()
	ip := armnetwork.PublicIPAddress{
		Location: to.Ptr("eastus"), SKU: &armnetwork.PublicIPAddressSKU{Name: to.Ptr(armnetwork.PublicIPAddressSKUNameStandard)},
		Properties: &armnetwork.PublicIPAddressPropertiesFormat{PublicIPAllocationMethod: to.Ptr(armnetwork.IPAllocationMethodStatic), PublicIPAddressVersion: to.Ptr(armnetwork.IPVersionIPv4)},
		Zones:      to.SliceOfPtrs("1", "2", "3"),
	}
	if edit != nil {
		edit(&ip)
	}
	p, err := w.net.NewPublicIPAddressesClient().BeginCreateOrUpdate(w.t.Context(), w.seed.ResourceGroup, name, ip, nil)
	out, err := pollDone(w.t.Context(), p, err)
	return out.PublicIPAddress, err
}

func (w *world) putLB(name string, lb armnetwork.LoadBalancer, etag string) (armnetwork.LoadBalancer, error) {
	w.t.Helper()
	ctx := w.t.Context()
	if etag != "" {
		ctx = policyHeader(ctx, "If-Match", etag)
	}
	p, err := w.net.NewLoadBalancersClient().BeginCreateOrUpdate(ctx, w.seed.ResourceGroup, name, lb, nil)
	out, err := pollDone(w.t.Context(), p, err)
	return out.LoadBalancer, err
}

func (w *world) getLB(name string) armnetwork.LoadBalancer {
	w.t.Helper()
	return mustSucceed[armnetwork.LoadBalancersClientGetResponse](w.t)(w.net.NewLoadBalancersClient().Get(w.t.Context(), w.seed.ResourceGroup, name, nil)).LoadBalancer
}

func (w *world) deleteLB(name string) error {
	w.t.Helper()
	p, err := w.net.NewLoadBalancersClient().BeginDelete(w.t.Context(), w.seed.ResourceGroup, name, nil)
	_, err = pollDone(w.t.Context(), p, err)
	return err
}

func (w *world) deleteIP(name string) error {
	w.t.Helper()
	p, err := w.net.NewPublicIPAddressesClient().BeginDelete(w.t.Context(), w.seed.ResourceGroup, name, nil)
	_, err = pollDone(w.t.Context(), p, err)
	return err
}

// publicLB is a load balancer with one frontend, pool, probe and rule.
func (w *world) publicLB(name, ip string) armnetwork.LoadBalancer {
	return armnetwork.LoadBalancer{
		Location: to.Ptr("eastus"), SKU: &armnetwork.LoadBalancerSKU{Name: to.Ptr(armnetwork.LoadBalancerSKUNameStandard)},
		Properties: &armnetwork.LoadBalancerPropertiesFormat{
			FrontendIPConfigurations: []*armnetwork.FrontendIPConfiguration{{Name: to.Ptr("front"), Properties: &armnetwork.FrontendIPConfigurationPropertiesFormat{
				PublicIPAddress: &armnetwork.PublicIPAddress{ID: to.Ptr(w.id("publicIPAddresses", ip))},
			}}},
			BackendAddressPools: []*armnetwork.BackendAddressPool{{Name: to.Ptr("pool")}},
			Probes:              []*armnetwork.Probe{tcpProbe("probe")},
			LoadBalancingRules:  []*armnetwork.LoadBalancingRule{w.rule(name, "rule", 80)},
		},
	}
}

func tcpProbe(name string) *armnetwork.Probe {
	return &armnetwork.Probe{Name: to.Ptr(name), Properties: &armnetwork.ProbePropertiesFormat{
		Protocol: to.Ptr(armnetwork.ProbeProtocolTCP), Port: to.Ptr[int32](30080), IntervalInSeconds: to.Ptr[int32](5), ProbeThreshold: to.Ptr[int32](2),
	}}
}

func (w *world) rule(lb, name string, port int32) *armnetwork.LoadBalancingRule {
	base := w.id("loadBalancers", lb)
	return &armnetwork.LoadBalancingRule{Name: to.Ptr(name), Properties: &armnetwork.LoadBalancingRulePropertiesFormat{
		Protocol: to.Ptr(armnetwork.TransportProtocolTCP), FrontendPort: to.Ptr(port), BackendPort: to.Ptr(port), EnableFloatingIP: to.Ptr(true),
		FrontendIPConfiguration: &armnetwork.SubResource{ID: to.Ptr(base + "/frontendIPConfigurations/front")},
		BackendAddressPool:      &armnetwork.SubResource{ID: to.Ptr(base + "/backendAddressPools/pool")},
		Probe:                   &armnetwork.SubResource{ID: to.Ptr(base + "/probes/probe")},
	}}
}

// internalLB is the same with a frontend in the subnet for internal ones.
func (w *world) internalLB(name string) armnetwork.LoadBalancer {
	lb := w.publicLB(name, "")
	lb.Properties.FrontendIPConfigurations[0].Properties = &armnetwork.FrontendIPConfigurationPropertiesFormat{
		Subnet: &armnetwork.Subnet{ID: to.Ptr(w.seed.SubnetID(w.seed.InternalSubnet))}, PrivateIPAllocationMethod: to.Ptr(armnetwork.IPAllocationMethodDynamic),
	}
	return lb
}

func lastNames(list []*armnetwork.SubResource) string {
	var out []string
	for _, r := range list {
		out = append(out, (*r.ID)[strings.LastIndex(*r.ID, "/")+1:])
	}
	return strings.Join(out, " ")
}
