package wire

import (
	"context"
	"net/http"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	raw "google.golang.org/api/compute/v1"
	"google.golang.org/api/option"
)

// clients are the REST clients of all collections that load balancers are made
// of. The older library is for what the newer one lacks: the collection of health
// checks of target pools, and lists that are asked for with a body, into which
// the newer one writes the parameters of the URL as well.
// Source: cloud.google.com/go/compute v1.65.0, apiv1/instance_groups_client.go (ListInstances).
type clients struct {
	ruleAPI        *compute.ForwardingRulesClient
	addressAPI     *compute.AddressesClient
	poolAPI        *compute.TargetPoolsClient
	backendAPI     *compute.RegionBackendServicesClient
	allBackendAPI  *compute.BackendServicesClient
	checkAPI       *compute.HealthChecksClient
	regionCheckAPI *compute.RegionHealthChecksClient
	httpCheckAPI   *raw.HttpHealthChecksService
	firewallAPI    *compute.FirewallsClient
	groupAPI       *compute.InstanceGroupsClient
	negAPI         *compute.NetworkEndpointGroupsClient
	memberAPI      *memberClients
	placeAPI       *placeClients
	operationAPI   *operationClients
}

// memberClients list what is in groups.
type memberClients struct {
	groups *raw.InstanceGroupsService
	negs   *raw.NetworkEndpointGroupsService
}

// placeClients read what load balancers are put into.
type placeClients struct {
	projects  *compute.ProjectsClient
	networks  *compute.NetworksClient
	subnets   *compute.SubnetworksClient
	zones     *compute.ZonesClient
	instances *compute.InstancesClient
}

// operationClients wait for operations.
type operationClients struct {
	global *compute.GlobalOperationsClient
	region *compute.RegionOperationsClient
	zone   *compute.ZoneOperationsClient
}

// versionPath ends the base URL of the API in gce.conf; the newer library adds it
// by itself.
const versionPath = "/compute/v1"

// connect makes all clients on one HTTP client.
func connect(ctx context.Context, endpoint string, client *http.Client) (*clients, error) {
	options := []option.ClientOption{option.WithHTTPClient(client)}
	old := options
	if endpoint != "" {
		base := strings.TrimSuffix(strings.TrimRight(endpoint, "/"), versionPath)
		options = append(options, option.WithEndpoint(base))
		old = append(old, option.WithEndpoint(base+versionPath+"/"))
	}
	legacy, err := raw.NewService(ctx, old...)
	if err != nil {
		return nil, err
	}
	c := &clients{httpCheckAPI: legacy.HttpHealthChecks, memberAPI: &memberClients{legacy.InstanceGroups, legacy.NetworkEndpointGroups}, placeAPI: &placeClients{}, operationAPI: &operationClients{}}
	m := maker{ctx: ctx, options: options}
	add(&m, &c.ruleAPI, compute.NewForwardingRulesRESTClient)
	add(&m, &c.addressAPI, compute.NewAddressesRESTClient)
	add(&m, &c.poolAPI, compute.NewTargetPoolsRESTClient)
	add(&m, &c.backendAPI, compute.NewRegionBackendServicesRESTClient)
	add(&m, &c.allBackendAPI, compute.NewBackendServicesRESTClient)
	add(&m, &c.checkAPI, compute.NewHealthChecksRESTClient)
	add(&m, &c.regionCheckAPI, compute.NewRegionHealthChecksRESTClient)
	add(&m, &c.firewallAPI, compute.NewFirewallsRESTClient)
	add(&m, &c.groupAPI, compute.NewInstanceGroupsRESTClient)
	add(&m, &c.negAPI, compute.NewNetworkEndpointGroupsRESTClient)
	add(&m, &c.placeAPI.projects, compute.NewProjectsRESTClient)
	add(&m, &c.placeAPI.networks, compute.NewNetworksRESTClient)
	add(&m, &c.placeAPI.subnets, compute.NewSubnetworksRESTClient)
	add(&m, &c.placeAPI.zones, compute.NewZonesRESTClient)
	add(&m, &c.placeAPI.instances, compute.NewInstancesRESTClient)
	add(&m, &c.operationAPI.global, compute.NewGlobalOperationsRESTClient)
	add(&m, &c.operationAPI.region, compute.NewRegionOperationsRESTClient)
	add(&m, &c.operationAPI.zone, compute.NewZoneOperationsRESTClient)
	return c, m.err
}

// maker makes clients until the first error.
type maker struct {
	ctx     context.Context //nolint:containedctx // lives for one call of connect
	options []option.ClientOption
	err     error
}

func add[C any](m *maker, into **C, build func(context.Context, ...option.ClientOption) (*C, error)) {
	if m.err == nil {
		*into, m.err = build(m.ctx, m.options...)
	}
}
