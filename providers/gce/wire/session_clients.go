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

// connect creates all clients on one HTTP client. An api-endpoint prevails over the endpoint
// of the universe.
func connect(ctx context.Context, c model.Config, client *http.Client) (*clients, error) {
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
	add(&m, &out.ruleAPI, compute.NewForwardingRulesRESTClient)
	add(&m, &out.addressAPI, compute.NewAddressesRESTClient)
	add(&m, &out.poolAPI, compute.NewTargetPoolsRESTClient)
	add(&m, &out.backendAPI, compute.NewRegionBackendServicesRESTClient)
	add(&m, &out.allBackendAPI, compute.NewBackendServicesRESTClient)
	add(&m, &out.checkAPI, compute.NewHealthChecksRESTClient)
	add(&m, &out.regionCheckAPI, compute.NewRegionHealthChecksRESTClient)
	add(&m, &out.firewallAPI, compute.NewFirewallsRESTClient)
	add(&m, &out.groupAPI, compute.NewInstanceGroupsRESTClient)
	add(&m, &out.negAPI, compute.NewNetworkEndpointGroupsRESTClient)
	add(&m, &out.placeAPI.projects, compute.NewProjectsRESTClient)
	add(&m, &out.placeAPI.networks, compute.NewNetworksRESTClient)
	add(&m, &out.placeAPI.subnets, compute.NewSubnetworksRESTClient)
	add(&m, &out.placeAPI.zones, compute.NewZonesRESTClient)
	add(&m, &out.placeAPI.instances, compute.NewInstancesRESTClient)
	add(&m, &out.operationAPI.global, compute.NewGlobalOperationsRESTClient)
	add(&m, &out.operationAPI.region, compute.NewRegionOperationsRESTClient)
	add(&m, &out.operationAPI.zone, compute.NewZoneOperationsRESTClient)
	return out, m.err
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
