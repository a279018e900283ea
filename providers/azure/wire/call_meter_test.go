package wire

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

func TestNamesOfOperations(t *testing.T) {
	const group = "/subscriptions/s/resourceGroups/g/providers/"
	for path, want := range map[string]string{
		"GET " + group + "Microsoft.Network/loadBalancers":                                                         "network LoadBalancers.List",
		"GET " + group + "Microsoft.Network/loadBalancers/kubernetes":                                              "network LoadBalancers.Get",
		"PUT " + group + "Microsoft.Network/loadBalancers/kubernetes":                                              "network LoadBalancers.CreateOrUpdate",
		"DELETE " + group + "Microsoft.Network/publicIPAddresses/a":                                                "network PublicIPAddresses.Delete",
		"GET /subscriptions/s/providers/Microsoft.Network/publicIPAddresses":                                       "network PublicIPAddresses.ListAll",
		"POST " + group + "Microsoft.Network/loadBalancers/kubernetes/migrateToIpBased":                            "network LoadBalancers.MigrateToIPBased",
		"GET " + group + "Microsoft.Network/virtualNetworks/v/subnets/n":                                           "network Subnets.Get",
		"PATCH " + group + "Microsoft.Network/networkSecurityGroups/n":                                             "network SecurityGroups.Update",
		"GET " + group + "Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines/0":                           "compute VirtualMachineScaleSetVMs.Get",
		"GET /subscriptions/s/providers/Microsoft.Compute":                                                         "resources Providers.Get",
		"GET /subscriptions/s/providers/Microsoft.Network/locations/westeurope/operations/11111111-2222-3333-4444": "arm Operations.Get",
		"GET " + group + "Microsoft.Network/serviceGateways/servicegateway/services":                               "network ServiceGateways.GetServices",
		"GET " + group + "Microsoft.Network/serviceGateways/servicegateway/addressLocations":                       "network ServiceGateways.GetAddressLocations",
		"POST " + group + "Microsoft.Network/serviceGateways/servicegateway/updateServices":                        "network ServiceGateways.UpdateServices",
		"POST " + group + "Microsoft.Network/serviceGateways/servicegateway/updateAddressLocations":                "network ServiceGateways.UpdateAddressLocations",
		"GET /": "resources unknown",
	} {
		method, rest, _ := strings.Cut(path, " ")
		got := nameOf(httptest.NewRequest(method, "https://management.azure.com"+rest+"?api-version=1", nil))
		if d := cmp.Diff(want, got.API+" "+got.Operation); d != "" {
			t.Errorf("%s (-want +got):\n%s", path, d)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		header string
		body   string
		want   providers.Answer
	}{
		"header":          {429, "TooManyRequests", `{"error":{"code":"Other"}}`, providers.Answer{Code: "TooManyRequests", Meaning: fault.Throttled}},
		"body":            {409, "", `{"error":{"code":"AnotherOperationInProgress"}}`, providers.Answer{Code: "AnotherOperationInProgress", Meaning: fault.Pending}},
		"status":          {503, "", `<html>`, providers.Answer{Code: "503", Meaning: fault.Unavailable}},
		"compute's quota": {429, "OperationNotAllowed", "", providers.Answer{Code: "OperationNotAllowed", Meaning: fault.Throttled}},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			header.Set("X-Ms-Error-Code", tc.header)
			if d := cmp.Diff(tc.want, refusalOf(tc.status, header, []byte(tc.body))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
