package wire

import (
	"context"
	"net/http"
	"slices"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	raw "google.golang.org/api/compute/v1"
	"google.golang.org/api/option"

	"github.com/berth-lb/berth/providers/gce/model"
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

// connectClients creates all clients on one HTTP client. An api-endpoint prevails over
// the endpoint of the universe.
func connectClients(ctx context.Context, c model.Config, client *http.Client) (*clients, error) {
	options := []option.ClientOption{option.WithHTTPClient(client)}
	if c.Universe != "" {
		options = append(options, option.WithUniverseDomain(c.Universe))
	}
	old := slices.Clone(options)
	if c.APIEndpoint != "" {
		base := strings.TrimSuffix(strings.TrimRight(c.APIEndpoint, "/"), versionPath)
		options = append(options, option.WithEndpoint(base))
		old = append(old, option.WithEndpoint(base+versionPath+"/"))
	}
	legacy, err := raw.NewService(ctx, old...)
	if err != nil {
		return nil, err
	}
	out := &clients{httpCheckAPI: legacy.HttpHealthChecks, memberAPI: &memberClients{legacy.InstanceGroups, legacy.NetworkEndpointGroups}, placeAPI: &placeClients{}, operationAPI: &operationClients{}}
	m := maker{ctx: ctx, options: options}
	addClient(&m, &out.ruleAPI, compute.NewForwardingRulesRESTClient)
	addClient(&m, &out.addressAPI, compute.NewAddressesRESTClient)
	addClient(&m, &out.poolAPI, compute.NewTargetPoolsRESTClient)
	addClient(&m, &out.backendAPI, compute.NewRegionBackendServicesRESTClient)
	addClient(&m, &out.allBackendAPI, compute.NewBackendServicesRESTClient)
	addClient(&m, &out.checkAPI, compute.NewHealthChecksRESTClient)
	addClient(&m, &out.regionCheckAPI, compute.NewRegionHealthChecksRESTClient)
	addClient(&m, &out.firewallAPI, compute.NewFirewallsRESTClient)
	addClient(&m, &out.groupAPI, compute.NewInstanceGroupsRESTClient)
	addClient(&m, &out.negAPI, compute.NewNetworkEndpointGroupsRESTClient)
	addClient(&m, &out.placeAPI.projects, compute.NewProjectsRESTClient)
	addClient(&m, &out.placeAPI.networks, compute.NewNetworksRESTClient)
	addClient(&m, &out.placeAPI.subnets, compute.NewSubnetworksRESTClient)
	addClient(&m, &out.placeAPI.zones, compute.NewZonesRESTClient)
	addClient(&m, &out.placeAPI.instances, compute.NewInstancesRESTClient)
	addClient(&m, &out.operationAPI.global, compute.NewGlobalOperationsRESTClient)
	addClient(&m, &out.operationAPI.region, compute.NewRegionOperationsRESTClient)
	addClient(&m, &out.operationAPI.zone, compute.NewZoneOperationsRESTClient)
	return out, m.err
}

// maker makes clients until the first error.
type maker struct {
	ctx     context.Context //nolint:containedctx // lives for one call of connect
	options []option.ClientOption
	err     error
}

func addClient[C any](m *maker, into **C, build func(context.Context, ...option.ClientOption) (*C, error)) {
	if m.err == nil {
		*into, m.err = build(m.ctx, m.options...)
	}
}
