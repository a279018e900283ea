package wire

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
)

// newMeter reports every request to the resource manager to the observer. Tokens are
// requested by other clients and do not count as calls.
func newMeter(next http.RoundTripper, observe providers.Observe) http.RoundTripper {
	return meter.New(next, observe, meter.Language{Name: nameOf, Refusal: refusalOf})
}

// nameOf is the operation that a request means, by the names of the official
// clients: "LoadBalancers.CreateOrUpdate". The resource provider is the API.
// Source: Azure REST API specifications, operationId.
func nameOf(r *http.Request) providers.Call {
	namespace := model.SegmentAfter(r.URL.Path, "providers")
	if namespace == "" {
		return providers.Call{API: "resources", Operation: "unknown"}
	}
	kinds, list := typeSegments(r.URL.Path)
	call, kind := providers.Call{API: strings.TrimPrefix(namespace, "microsoft.")}, strings.Join(kinds, "/")
	switch {
	case len(kinds) == 0:
		return providers.Call{API: "resources", Operation: "Providers.Get"}
	case kinds[0] == "locations" && (strings.HasSuffix(kind, "/operations") || strings.HasSuffix(kind, "/operationresults")):
		return providers.Call{API: "arm", Operation: "Operations.Get"}
	case r.Method == http.MethodPost && list:
		of, action := strings.Join(kinds[:len(kinds)-1], "/"), kinds[len(kinds)-1]
		call.Operation = officialName(of) + "." + officialName(action)
	case kinds[0] == "servicegateways" && len(kinds) == 2 && r.Method == http.MethodGet:
		call.Operation = "ServiceGateways.Get" + officialName(kinds[1])
	default:
		call.Operation = officialName(kind) + "." + verbOf(r.Method, list, model.GroupOf(r.URL.Path) == "")
	}
	return call
}

// verbOf is the method of the official client.
func verbOf(method string, list, everywhere bool) string {
	switch {
	case method == http.MethodGet && list && everywhere:
		return "ListAll"
	case method == http.MethodGet && list:
		return "List"
	}
	verb := map[string]string{http.MethodGet: "Get", http.MethodPut: "CreateOrUpdate", http.MethodPatch: "Update", http.MethodDelete: "Delete"}[method]
	return cmp.Or(verb, "unknown")
}

// officialName returns the official client of a type, or the name of an action or of a list of a
// gateway; others keep their own name.
func officialName(word string) string {
	name := map[string]string{
		"loadbalancers": "LoadBalancers", "loadbalancers/backendaddresspools": "LoadBalancerBackendAddressPools", "publicipaddresses": "PublicIPAddresses",
		"networksecuritygroups": "SecurityGroups", "networkinterfaces": "Interfaces", "privatelinkservices": "PrivateLinkServices",
		"privatelinkservices/privateendpointconnections": "PrivateLinkServices.PrivateEndpointConnections",
		"virtualnetworks/subnets":                        "Subnets", "servicegateways": "ServiceGateways",
		"virtualmachines": "VirtualMachines", "virtualmachinescalesets": "VirtualMachineScaleSets", "virtualmachinescalesets/virtualmachines": "VirtualMachineScaleSetVMs",
		"services": "Services", "addresslocations": "AddressLocations", "updateservices": "UpdateServices", "updateaddresslocations": "UpdateAddressLocations",
		"migratetoipbased": "MigrateToIPBased",
	}[word]
	return cmp.Or(name, word)
}

// refusalOf reads the code of a refusal; the status stands for what has none.
func refusalOf(status int, header http.Header, body []byte) providers.Answer {
	said := kit.Refusal{Code: header.Get("X-Ms-Error-Code"), Status: status}
	// A body that is not JSON has no code.
	if o, err := model.ParseObject(body); said.Code == "" && err == nil {
		said.Code = o.In("error").Text("code")
	}
	return errorsOf().Answer(said)
}
