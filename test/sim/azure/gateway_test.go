package azure_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/google/go-cmp/cmp"

	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// startWithGateway starts a simulator that has a service gateway.
func startWithGateway(t *testing.T, edit func(*simazure.Options)) *world {
	t.Helper()
	opt := simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.PodIP, Nodes: 2, DualStack: true}}
	if edit != nil {
		edit(&opt)
	}
	return startWorld(t, opt)
}

// answerLate makes a gateway answer as the SDK expects, with 202.
func answerLate(opt *simazure.Options) { opt.Network.LateGateways = true }

// containerLB is a load balancer for containers with its address, under one name.
func (w *world) containerLB(name string) armnetwork.LoadBalancer {
	lb := w.publicLB(name, name+"-pip")
	lb.SKU.Name = to.Ptr(armnetwork.LoadBalancerSKUName("Service"))
	lb.Properties.Scope = to.Ptr(armnetwork.LoadBalancerScopePublic)
	lb.Properties.Probes = nil
	lb.Properties.LoadBalancingRules[0].Properties.Probe = nil
	lb.Properties.LoadBalancingRules[0].Properties.EnableFloatingIP = to.Ptr(false)
	return lb
}

func (w *world) putV2(name string, family armnetwork.IPVersion) (armnetwork.PublicIPAddress, error) {
	w.t.Helper()
	return w.putIP(name, func(ip *armnetwork.PublicIPAddress) {
		ip.SKU.Name, ip.Zones, ip.Properties.PublicIPAddressVersion = to.Ptr(armnetwork.PublicIPAddressSKUNameStandardV2), nil, to.Ptr(family)
	})
}

func (w *world) container(name string) {
	w.t.Helper()
	mustSucceed[armnetwork.PublicIPAddress](w.t)(w.putV2(name+"-pip", armnetwork.IPVersionIPv4))
	mustSucceed[armnetwork.LoadBalancer](w.t)(w.putLB(name, w.containerLB(name), ""))
}

// inbound is the request that enters a Service with the pool of its load balancer.
func (w *world) inbound(name string) *armnetwork.ServiceGatewayServiceRequest {
	pool := &armnetwork.BackendAddressPool{ID: to.Ptr(w.id("loadBalancers", name) + "/backendAddressPools/pool")}
	return &armnetwork.ServiceGatewayServiceRequest{Service: &armnetwork.ServiceGatewayService{Name: to.Ptr(name), Properties: &armnetwork.ServiceGatewayServicePropertiesFormat{
		ServiceType: to.Ptr(armnetwork.ServiceTypeInbound), LoadBalancerBackendPools: []*armnetwork.BackendAddressPool{pool},
	}}}
}

func deleteService(name string) *armnetwork.ServiceGatewayServiceRequest {
	return &armnetwork.ServiceGatewayServiceRequest{IsDelete: to.Ptr(true), Service: &armnetwork.ServiceGatewayService{Name: to.Ptr(name)}}
}

// acceptOK treats the answer 200, which the SDK takes for an error, as the success that
// it is.
func acceptOK[T any](w *world, p *runtime.Poller[T], err error) error {
	if failed := (*azcore.ResponseError)(nil); errors.As(err, &failed) && failed.StatusCode == http.StatusOK && failed.ErrorCode == "" {
		return nil
	}
	_, err = pollDone(w.t.Context(), p, err)
	return err
}

func (w *world) services(action armnetwork.ServiceUpdateAction, requests ...*armnetwork.ServiceGatewayServiceRequest) error {
	w.t.Helper()
	p, err := w.net.NewServiceGatewaysClient().BeginUpdateServices(w.t.Context(), w.seed.ResourceGroup, w.seed.ServiceGateway, armnetwork.ServiceGatewayUpdateServicesRequest{Action: &action, ServiceRequests: requests}, nil)
	return acceptOK(w, p, err)
}

func (w *world) locations(action armnetwork.UpdateAction, list ...*armnetwork.ServiceGatewayAddressLocation) error {
	w.t.Helper()
	p, err := w.net.NewServiceGatewaysClient().BeginUpdateAddressLocations(w.t.Context(), w.seed.ResourceGroup, w.seed.ServiceGateway, armnetwork.ServiceGatewayUpdateAddressLocationsRequest{Action: &action, AddressLocations: list}, nil)
	return acceptOK(w, p, err)
}

// newLocation returns a location: a list of "address service service".
func newLocation(location string, action armnetwork.AddressUpdateAction, entries ...string) *armnetwork.ServiceGatewayAddressLocation {
	out := &armnetwork.ServiceGatewayAddressLocation{AddressLocation: &location, AddressUpdateAction: &action}
	for _, e := range entries {
		words := strings.Fields(e)
		out.Addresses = append(out.Addresses, &armnetwork.ServiceGatewayAddress{Address: &words[0], Services: to.SliceOfPtrs(words[1:]...)})
	}
	return out
}

const (
	partialServices  = armnetwork.ServiceUpdateActionPartialUpdate
	fullServices     = armnetwork.ServiceUpdateActionFullUpdate
	partialLocations = armnetwork.UpdateActionPartialUpdate
	fullLocations    = armnetwork.UpdateActionFullUpdate
	partialAddresses = armnetwork.AddressUpdateActionPartialUpdate
	fullAddresses    = armnetwork.AddressUpdateActionFullUpdate
)

// serviceList is what the gateway shows of its Services, one line each.
func (w *world) serviceList() []string {
	w.t.Helper()
	var out []string
	for pager := w.net.NewServiceGatewaysClient().NewGetServicesPager(w.seed.ResourceGroup, w.seed.ServiceGateway, nil); pager.More(); {
		for _, s := range mustSucceed[armnetwork.ServiceGatewaysClientGetServicesResponse](w.t)(pager.NextPage(w.t.Context())).Value {
			line := *s.Name + " " + string(*s.Properties.ServiceType)
			for _, p := range s.Properties.LoadBalancerBackendPools {
				line += " " + (*p.ID)[strings.Index(*p.ID, "loadBalancers/"):]
			}
			if id := s.Properties.PublicNatGatewayID; id != nil {
				line += " " + (*id)[strings.LastIndex(*id, "/")+1:]
			}
			if *s.Properties.IsDefault {
				line += " default"
			}
			out = append(out, line)
		}
	}
	return out
}

// locationList is what is where, one line for an address.
func (w *world) locationList() []string {
	w.t.Helper()
	var out []string
	for pager := w.net.NewServiceGatewaysClient().NewGetAddressLocationsPager(w.seed.ResourceGroup, w.seed.ServiceGateway, nil); pager.More(); {
		for _, l := range mustSucceed[armnetwork.ServiceGatewaysClientGetAddressLocationsResponse](w.t)(pager.NextPage(w.t.Context())).Value {
			for _, a := range l.Addresses {
				line := *l.AddressLocation + ": " + *a.Address
				for _, s := range a.Services {
					line += " " + *s
				}
				out = append(out, line)
			}
		}
	}
	return out
}

func (w *world) want(what string, want, got []string) {
	w.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

const defaultService = "default-natgw Outbound default-natgw default"

// TestContainerLife is the way of the official controller, from the address of a
// Service to nothing. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/service_updater.go.
func TestContainerLife(t *testing.T) {
	for name, edit := range map[string]func(*simazure.Options){
		"200": nil, "202": answerLate, "202 in a while": func(opt *simazure.Options) {
			opt.ARM.Latency, opt.ARM.PollAfter = 20*time.Millisecond, 10*time.Millisecond
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := startWithGateway(t, edit)
			w.container("web")
			check := func(what string, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			check("register", w.services(partialServices, w.inbound("web")))
			check("pods", w.locations(partialLocations, newLocation("10.240.0.4", fullAddresses, "10.64.0.2 web", "10.64.0.3 WEB")))
			w.want("services", []string{defaultService, "web Inbound loadBalancers/web/backendAddressPools/pool"}, w.serviceList())
			w.want("locations", []string{"10.240.0.4: 10.64.0.2 web", "10.240.0.4: 10.64.0.3 web"}, w.locationList())
			if err := w.deleteLB("web"); errorCode(err) != "LoadBalancerInUseByServiceGateway" {
				t.Errorf("load balancer that a service names: %v", err)
			}
			if err := w.services(partialServices, deleteService("web")); errorCode(err) != "ServiceWithOverlayMappingsCannotBeDeleted" {
				t.Errorf("service that addresses name: %v", err)
			}
			check("drain", w.locations(partialLocations, newLocation("10.240.0.4", partialAddresses)))
			bare := w.inbound("web")
			bare.Service.Properties.LoadBalancerBackendPools = []*armnetwork.BackendAddressPool{}
			check("without pool", w.services(partialServices, bare))
			w.want("services without pool", []string{defaultService, "web Inbound"}, w.serviceList())
			check("delete the load balancer", w.deleteLB("web"))
			check("unregister", w.services(partialServices, deleteService("web")))
			check("delete the address", w.deleteIP("web-pip"))
			w.want("services in the end", []string{defaultService}, w.serviceList())
			w.want("locations in the end", nil, w.locationList())
		})
	}
}

// TestLateUpdateFails plans an update, and takes away what it needs before it is done.
func TestLateUpdateFails(t *testing.T) {
	w := startWithGateway(t, func(opt *simazure.Options) {
		opt.ARM.LatencyOf = map[string]time.Duration{"Microsoft.Network/serviceGateways": 300 * time.Millisecond}
		opt.ARM.PollAfter = 10 * time.Millisecond
	})
	w.container("web")
	p, err := w.net.NewServiceGatewaysClient().BeginUpdateServices(t.Context(), w.seed.ResourceGroup, w.seed.ServiceGateway, armnetwork.ServiceGatewayUpdateServicesRequest{
		Action: to.Ptr(partialServices), ServiceRequests: []*armnetwork.ServiceGatewayServiceRequest{w.inbound("web")},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.services(partialServices, deleteService("x")); errorCode(err) != "AnotherOperationInProgress" {
		t.Errorf("second update meanwhile: %v", err)
	}
	if err := w.deleteLB("web"); err != nil {
		t.Fatal(err)
	}
	if _, err := pollDone(t.Context(), p, nil); errorCode(err) != "InvalidResourceReference" {
		t.Errorf("end of the update: %v", err)
	}
	w.want("services", []string{defaultService}, w.serviceList())
}

func TestServiceUpdates(t *testing.T) {
	w := startWithGateway(t, answerLate)
	w.container("a")
	w.container("b")
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("std", nil))
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("std", w.publicLB("std", "std"), ""))
	edit := func(r *armnetwork.ServiceGatewayServiceRequest, f func(*armnetwork.ServiceGatewayServicePropertiesFormat)) *armnetwork.ServiceGatewayServiceRequest {
		f(r.Service.Properties)
		return r
	}
	upper := func(r *armnetwork.ServiceGatewayServiceRequest) *armnetwork.ServiceGatewayServiceRequest {
		r.Service.Name = to.Ptr(strings.ToUpper(*r.Service.Name))
		return r
	}
	both := []string{"a Inbound loadBalancers/a/backendAddressPools/pool", "b Inbound loadBalancers/b/backendAddressPools/pool"}
	for _, c := range []struct {
		name, code string
		action     armnetwork.ServiceUpdateAction
		requests   []*armnetwork.ServiceGatewayServiceRequest
		want       []string // nil for what was before
	}{
		{"two at once", "", partialServices, []*armnetwork.ServiceGatewayServiceRequest{w.inbound("a"), w.inbound("b")}, append(slices.Clone(both), defaultService)},
		{"nothing", "", partialServices, nil, nil},
		{"the same again", "", partialServices, []*armnetwork.ServiceGatewayServiceRequest{upper(w.inbound("a"))}, nil},
		{"what is not named stays", "", partialServices, []*armnetwork.ServiceGatewayServiceRequest{edit(w.inbound("a"), func(p *armnetwork.ServiceGatewayServicePropertiesFormat) {
			*p = armnetwork.ServiceGatewayServicePropertiesFormat{}
		})}, nil},
		{"twice", "DuplicateServicesInRequest", partialServices, []*armnetwork.ServiceGatewayServiceRequest{w.inbound("a"), deleteService("A")}, nil},
		{"unknown", "NotFound", partialServices, []*armnetwork.ServiceGatewayServiceRequest{deleteService("none")}, nil},
		{"one bad of two", "NotFound", partialServices, []*armnetwork.ServiceGatewayServiceRequest{deleteService("a"), deleteService("none")}, nil},
		{"bad name", "InvalidResourceName", partialServices, []*armnetwork.ServiceGatewayServiceRequest{w.inbound("a/b")}, nil},
		{"no type", "InvalidRequestFormat", partialServices, []*armnetwork.ServiceGatewayServiceRequest{{Service: &armnetwork.ServiceGatewayService{Name: to.Ptr("c")}}}, nil},
		{"other type", "ServiceTypeCannotBeChanged", partialServices, []*armnetwork.ServiceGatewayServiceRequest{edit(w.inbound("a"), func(p *armnetwork.ServiceGatewayServicePropertiesFormat) {
			p.ServiceType = to.Ptr(armnetwork.ServiceTypeOutbound)
		})}, nil},
		{"missing pool", "InvalidResourceReference", partialServices, []*armnetwork.ServiceGatewayServiceRequest{w.inbound("none")}, nil},
		{"pool of a Standard one", "ServiceGatewayBackendPoolMustBeOfServiceSku", partialServices, []*armnetwork.ServiceGatewayServiceRequest{w.inbound("std")}, nil},
		{"pool of another service", "BackendPoolInUseByAnotherService", partialServices, []*armnetwork.ServiceGatewayServiceRequest{edit(w.inbound("c"), func(p *armnetwork.ServiceGatewayServicePropertiesFormat) {
			p.LoadBalancerBackendPools[0].ID = to.Ptr(w.id("loadBalancers", "a") + "/backendAddressPools/POOL")
		})}, nil},
		{"pool in another network", "BackendAddressVirtualNetworkMismatch", partialServices, []*armnetwork.ServiceGatewayServiceRequest{edit(w.inbound("a"), func(p *armnetwork.ServiceGatewayServicePropertiesFormat) {
			p.LoadBalancerBackendPools[0].Properties = &armnetwork.BackendAddressPoolPropertiesFormat{VirtualNetwork: &armnetwork.SubResource{ID: to.Ptr(w.id("virtualNetworks", "other"))}}
		})}, nil},
		{"second default", "MultipleDefaultServicesNotAllowedInServiceGateway", partialServices, []*armnetwork.ServiceGatewayServiceRequest{edit(w.inbound("a"), func(p *armnetwork.ServiceGatewayServicePropertiesFormat) { p.IsDefault = to.Ptr(true) })}, nil},
		{"unknown NAT gateway", "InvalidResourceReference", partialServices, []*armnetwork.ServiceGatewayServiceRequest{edit(w.inbound("a"), func(p *armnetwork.ServiceGatewayServicePropertiesFormat) {
			p.PublicNatGatewayID = to.Ptr(w.id("natGateways", "none"))
		})}, nil},
		{"no action", "InvalidRequestFormat", "", []*armnetwork.ServiceGatewayServiceRequest{w.inbound("a")}, nil},
		{"null takes away", "", partialServices, []*armnetwork.ServiceGatewayServiceRequest{{Service: &armnetwork.ServiceGatewayService{Name: to.Ptr("default-natgw"), Properties: &armnetwork.ServiceGatewayServicePropertiesFormat{
			PublicNatGatewayID: azcore.NullValue[*string](), ServiceType: to.Ptr(armnetwork.ServiceTypeOutbound),
		}}}}, append(slices.Clone(both), "default-natgw Outbound default")},
		{"all there is", "", fullServices, []*armnetwork.ServiceGatewayServiceRequest{w.inbound("b")}, both[1:]},
	} {
		before := w.serviceList()
		if err := w.services(c.action, c.requests...); errorCode(err) != c.code {
			t.Errorf("%s: %v, want %q", c.name, err, c.code)
		}
		if c.want == nil {
			c.want = before
		}
		w.want(c.name, c.want, w.serviceList())
	}
}

func TestLocationUpdates(t *testing.T) {
	w := startWithGateway(t, answerLate)
	for _, name := range []string{"a", "b"} {
		w.container(name)
		if err := w.services(partialServices, w.inbound(name)); err != nil {
			t.Fatal(err)
		}
	}
	type request []*armnetwork.ServiceGatewayAddressLocation
	one, six := "10.240.0.4", "fd12:3456:789a::4"
	for _, c := range []struct {
		name, code string
		action     armnetwork.UpdateAction
		request    request
		want       []string // nil for what was before
	}{
		{"new", "", partialLocations, request{newLocation(one, partialAddresses, "10.64.0.2 a", "10.64.0.3 b a"), newLocation("10.240.0.5", fullAddresses, "10.64.1.2 a")}, []string{one + ": 10.64.0.2 a", one + ": 10.64.0.3 a b", "10.240.0.5: 10.64.1.2 a"}},
		{"other spelling", "", partialLocations, request{newLocation("FD12:3456:789A:0::4", fullAddresses, "FD98:0:0::2 B")}, []string{one + ": 10.64.0.2 a", one + ": 10.64.0.3 a b", "10.240.0.5: 10.64.1.2 a", six + ": fd98::2 b"}},
		{"one address, the others stay", "", partialLocations, request{newLocation(one, partialAddresses, "10.64.0.3 b")}, []string{one + ": 10.64.0.2 a", one + ": 10.64.0.3 b", "10.240.0.5: 10.64.1.2 a", six + ": fd98::2 b"}},
		{"address without services goes", "", partialLocations, request{newLocation(one, partialAddresses, "10.64.0.2")}, []string{one + ": 10.64.0.3 b", "10.240.0.5: 10.64.1.2 a", six + ": fd98::2 b"}},
		{"all addresses of a location", "", partialLocations, request{newLocation(one, fullAddresses, "10.64.0.9 a")}, []string{one + ": 10.64.0.9 a", "10.240.0.5: 10.64.1.2 a", six + ": fd98::2 b"}},
		{"location without addresses goes", "", partialLocations, request{{AddressLocation: to.Ptr("10.240.0.5")}}, []string{one + ": 10.64.0.9 a", six + ": fd98::2 b"}},
		{"unknown location goes", "", partialLocations, request{newLocation("10.240.0.99", partialAddresses)}, nil},
		{"twice", "DuplicateLocationsInRequest", partialLocations, request{newLocation(six, fullAddresses, "fd98::3 a"), newLocation("fd12:3456:789a:0::4", partialAddresses)}, nil},
		{"address twice", "DuplicateAddressesInRequest", partialLocations, request{newLocation(six, fullAddresses, "fd98::3 a", "fd98:0::3 b")}, nil},
		{"service twice", "DuplicateServicesInRequest", partialLocations, request{newLocation(one, fullAddresses, "10.64.0.9 a A")}, nil},
		{"unknown service", "InvalidResourceReference", partialLocations, request{newLocation(one, partialAddresses, "10.64.0.8 a", "10.64.0.7 c")}, nil},
		{"no address", "InvalidAddress", partialLocations, request{newLocation(one, partialAddresses, "pod-1 a")}, nil},
		{"no location", "InvalidAddressLocation", partialLocations, request{newLocation("node-1", partialAddresses, "10.64.0.8 a")}, nil},
		{"two families", "AddressFamilyMismatch", partialLocations, request{newLocation(one, partialAddresses, "fd98::3 a")}, nil},
		{"no action", "InvalidRequestFormat", "", request{newLocation(one, partialAddresses, "10.64.0.8 a")}, nil},
		{"no action for addresses", "InvalidRequestFormat", partialLocations, request{newLocation(one, "", "10.64.0.8 a")}, nil},
		{"all there is", "", fullLocations, request{newLocation(one, partialAddresses, "10.64.0.2 b")}, []string{one + ": 10.64.0.2 b", one + ": 10.64.0.9 a"}},
		{"nothing", "", fullLocations, nil, []string{}},
	} {
		before := w.locationList()
		if err := w.locations(c.action, c.request...); errorCode(err) != c.code {
			t.Errorf("%s: %v, want %q", c.name, err, c.code)
		}
		if c.want == nil {
			c.want = before
		}
		w.want(c.name, append([]string{}, c.want...), append([]string{}, w.locationList()...))
	}
}

// TestGatewayPages lists more than one page holds, and counts the calls.
func TestGatewayPages(t *testing.T) {
	w := startWithGateway(t, func(opt *simazure.Options) { answerLate(opt); opt.ARM.PageSize = 2 })
	var requests []*armnetwork.ServiceGatewayServiceRequest
	var list []*armnetwork.ServiceGatewayAddressLocation
	for n := range 4 {
		name := fmt.Sprintf("s%d", n)
		w.container(name)
		requests = append(requests, w.inbound(name))
		list = append(list, newLocation(fmt.Sprintf("10.240.0.%d", 10+n), fullAddresses, fmt.Sprintf("10.64.0.%d %s", n, name)))
	}
	if err := errors.Join(w.services(partialServices, requests...), w.locations(partialLocations, list...)); err != nil {
		t.Fatal(err)
	}
	if n, m := len(w.serviceList()), len(w.locationList()); n != 5 || m != 4 {
		t.Errorf("%d services and %d addresses, want 5 and 4", n, m)
	}
	calls := map[string]int{}
	for _, e := range w.Cloud.Journal.Since(0) {
		calls[e.Operation]++
	}
	if n, m := calls["ServiceGateways.GetServices"], calls["ServiceGateways.GetAddressLocations"]; n != 3 || m != 2 {
		t.Errorf("%d and %d calls, want 3 and 2 pages", n, m)
	}
}
