package wire

import (
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
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	at := lastProvider(path)
	if at < 0 {
		return providers.Call{API: "resources", Operation: "unknown"}
	}
	namespace, rest := strings.ToLower(path[at]), path[at+1:]
	call := providers.Call{API: strings.TrimPrefix(namespace, "microsoft."), Operation: "unknown"}
	var kinds []string
	for i := 0; i < len(rest); i += 2 {
		kinds = append(kinds, strings.ToLower(rest[i]))
	}
	list, kind := len(rest)%2 == 1, strings.Join(kinds, "/")
	switch {
	case len(rest) == 0:
		return providers.Call{API: "resources", Operation: "Providers.Get"}
	case kinds[0] == "locations" && (strings.HasSuffix(kind, "/operations") || strings.HasSuffix(kind, "/operationresults")):
		return providers.Call{API: "arm", Operation: "Operations.Get"}
	case r.Method == http.MethodPost && list:
		call.Operation = clientOf(strings.Join(kinds[:len(kinds)-1], "/")) + "." + actionName(kinds[len(kinds)-1])
	case kinds[0] == "servicegateways" && len(kinds) == 2 && r.Method == http.MethodGet:
		call.Operation = "ServiceGateways.Get" + actionName(kinds[1])
	case kind == "virtualmachinescalesets/networkinterfaces":
		call.API, call.Operation = "network", "Interfaces.ListVirtualMachineScaleSetNetworkInterfaces"
	case kind == "virtualmachinescalesets/virtualmachines/networkinterfaces":
		call.API, call.Operation = "network", clientOf(kind)+verbOf(r.Method, list, false)
	default:
		call.Operation = clientOf(kind) + verbOf(r.Method, list, at <= subscriptionProvider)
	}
	return call
}

// subscriptionProvider is where the namespace stands in a path that names no
// resource group: subscriptions/<id>/providers/<namespace>.
const subscriptionProvider = 3

// lastProvider is the index of the namespace in a path; -1 if there is none.
func lastProvider(path []string) int {
	for i := len(path) - 2; i >= 0; i-- {
		if strings.EqualFold(path[i], "providers") {
			return i + 1
		}
	}
	return -1
}

// verbOf is the method of the official client, with its dot.
func verbOf(method string, list, everywhere bool) string {
	switch {
	case method == http.MethodGet && list && everywhere:
		return ".ListAll"
	case method == http.MethodGet && list:
		return ".List"
	case method == http.MethodGet:
		return ".Get"
	case method == http.MethodPut:
		return ".CreateOrUpdate"
	case method == http.MethodPatch:
		return ".Update"
	case method == http.MethodDelete:
		return ".Delete"
	}
	return ".unknown"
}

// clientOf returns the official client of a type; types without a client keep their own
// name.
func clientOf(kind string) string {
	client := map[string]string{
		"loadbalancers": "LoadBalancers", "loadbalancers/backendaddresspools": "LoadBalancerBackendAddressPools",
		"publicipaddresses": "PublicIPAddresses", "publicipprefixes": "PublicIPPrefixes",
		"networksecuritygroups": "SecurityGroups", "networkinterfaces": "Interfaces", "privatelinkservices": "PrivateLinkServices",
		"privatelinkservices/privateendpointconnections": "PrivateLinkServices.PrivateEndpointConnections",
		"virtualnetworks": "VirtualNetworks", "virtualnetworks/subnets": "Subnets", "routetables": "RouteTables",
		"servicegateways": "ServiceGateways",
		"virtualmachines": "VirtualMachines", "virtualmachinescalesets": "VirtualMachineScaleSets", "availabilitysets": "AvailabilitySets",
		"virtualmachinescalesets/virtualmachines":                   "VirtualMachineScaleSetVMs",
		"virtualmachinescalesets/virtualmachines/networkinterfaces": "InterfacesOfScaleSets",
	}[kind]
	if client == "" {
		return kind
	}
	return client
}

// actionName returns the name of a POST, or of the request to a gateway.
func actionName(last string) string {
	switch last {
	case "services":
		return "Services"
	case "addresslocations":
		return "AddressLocations"
	case "updateservices":
		return "UpdateServices"
	case "updateaddresslocations":
		return "UpdateAddressLocations"
	case "migratetoipbased":
		return "MigrateToIPBased"
	case "manualupgrade":
		return "UpdateInstances"
	}
	return last
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
