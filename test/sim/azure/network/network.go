package network

import (
	"slices"
	"sync"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// Types of this package.
const (
	provider          = "Microsoft.Network/"
	LoadBalancers     = provider + "loadBalancers"
	PublicIPAddresses = provider + "publicIPAddresses"
	PublicIPPrefixes  = provider + "publicIPPrefixes"
	SecurityGroups    = provider + "networkSecurityGroups"
	VirtualNetworks   = provider + "virtualNetworks"
	RouteTables       = provider + "routeTables"
	Interfaces        = provider + "networkInterfaces"
	PrivateLinks      = provider + "privateLinkServices"
	PrivateEndpoints  = provider + "privateEndpoints"
	AppGroups         = provider + "applicationSecurityGroups"
	NatGateways       = provider + "natGateways"
	ServiceGateways   = provider + "serviceGateways"
)

// SKUs of container load balancers: load balancers of the SKU Service have public
// addresses of the SKU StandardV2. The SDK has no constant for the first. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/resource_helpers.go.
const (
	skuService    = "Service"
	skuStandardV2 = "StandardV2"
)

// Limits are the quotas of the subscription; zero values take Azure's numbers.
// Source: Azure subscription and service limits, networking.
type Limits struct {
	PublicIPs     int // per region, default 1000
	Frontends     int // per load balancer, default 600
	Rules         int // per load balancer, default 1500
	PoolAddresses int // per pool by address, default 5000
	SecurityRules int // per group, default 1000
	RuleAddresses int // sum of a group's sources or destinations, default 4000
	LoadBalancers int // per region, default 1000

	// Those of service gateways are not published; zero is no limit.
	ServiceGateways  int // per region
	GatewayServices  int // per gateway
	GatewayLocations int // per gateway
	GatewayAddresses int // per gateway, at all locations
}

// Options configures the provider.
type Options struct {
	// Zones are those of the region; none for a region without.
	Zones  []string
	Limits Limits
	// AllowBasic lets resources of the retired Basic SKU be made.
	AllowBasic bool
	// TakenLabels are DNS labels that other subscriptions in the region use.
	TakenLabels []string
	// LateGateways answers updates of service gateways with 202 and an operation,
	// as the API is declared, where the real service has finished and says 200.
	LateGateways bool
	// AttachedReads is the number of reads for which a public IP is still shown on a deleted
	// frontend.
	// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go,
	// which passes over public IPs that cannot be deleted yet.
	AttachedReads int
}

// API is the provider. It counts the addresses that it hands out.
type API struct {
	Options
	nextIPv4, nextIPv6, nextPrefix int
	members                        arm.Members
	lags                           sync.Map // *lag by the key of a public IP
}

// New makes the provider.
func New(opt Options) *API {
	for _, l := range []struct {
		to    *int
		value int
	}{
		{&opt.Limits.PublicIPs, 1000}, {&opt.Limits.Frontends, 600}, {&opt.Limits.Rules, 1500}, {&opt.Limits.PoolAddresses, 5000},
		{&opt.Limits.SecurityRules, 1000}, {&opt.Limits.RuleAddresses, 4000}, {&opt.Limits.LoadBalancers, 1000},
	} {
		if *l.to == 0 {
			*l.to = l.value
		}
	}
	return &API{Options: opt, members: arm.ReadMembers(membersText)}
}

// Kinds are the resource types of the provider.
func (a *API) Kinds() []*arm.Kind {
	kinds := append([]*arm.Kind{
		a.loadBalancers(), a.publicIPs(), a.prefixes(), a.securityGroups(), a.virtualNetworks(), routeTables(), a.interfaces(),
		privateLinks(), privateEndpoints(),
		{Type: AppGroups, Service: "network", Client: "ApplicationSecurityGroups", ReadOnly: []string{"resourceGuid"}, Prepare: func(w *arm.Write) *arm.Error {
			assignGUID(w, "asg")
			return nil
		}},
		a.natGateways(),
	}, a.serviceGateways()...)
	for _, k := range kinds {
		k.Members = a.members.Rule(k.Type)
	}
	return kinds
}

// Extra are calls that are no resource.
func (a *API) Extra() []arm.Extra {
	return append(append(migrateAction(), a.dnsCheck(), ruleHealth()), a.gatewayCalls()...)
}

// badRequest returns an error of a validator.
func badRequest(code, format string, args ...any) *arm.Error { return arm.Badf(code, format, args...) }

// normalizeChoice checks a word against a list without letter case and writes it as
// listed.
func normalizeChoice(d arm.Doc, what, name, fallback string, allowed ...string) *arm.Error {
	value := arm.Text(d, name)
	if value == "" && fallback != "" {
		d[name] = fallback
		return nil
	}
	at := slices.IndexFunc(allowed, func(s string) bool { return arm.Key(s) == arm.Key(value) })
	if at < 0 {
		return badRequest("InvalidRequestFormat", "Cannot parse the request: value %q of %s in %s is none of %v.", value, name, what, allowed)
	}
	d[name] = allowed[at]
	return nil
}

// checkNumber checks an integer against its range.
func checkNumber(d arm.Doc, what, name string, fallback, low, high int, code string) *arm.Error {
	if d[name] == nil {
		if fallback != 0 {
			d[name] = fallback
			return nil
		}
		return badRequest(code, "Required property %s of %s is missing.", name, what)
	}
	n, ok := arm.Number(d, name)
	if !ok || n < low || n > high {
		return badRequest(code, "The value %v of %s in %s is out of range. It must be between %d and %d.", d[name], name, what, low, high)
	}
	return nil
}

// zones checks the zones of a resource or frontend, and that they stay.
func (a *API) zones(what string, d, old arm.Doc) *arm.Error {
	want := arm.Texts(d, "zones")
	for _, z := range want {
		if !slices.Contains(a.Zones, z) {
			return badRequest("InvalidAvailabilityZone", "The zone '%s' of %s is not available in this region.", z, what)
		}
	}
	if len(want) == 0 {
		delete(d, "zones")
	}
	if had := arm.Texts(old, "zones"); old != nil && !slices.Equal(slices.Sorted(slices.Values(had)), slices.Sorted(slices.Values(want))) {
		return badRequest("ResourceAvailabilityZonesCannotBeModified", "Resource %s has an existing availability zone constraint %v and the request has availability zone constraint %v, which do not match. Zones cannot be added/updated/removed once the resource is created.", what, had, want)
	}
	return nil
}

// sku checks a SKU and that it stays, except for the one way up that addresses have.
func (a *API) sku(w *arm.Write, retired string) *arm.Error {
	arm.Default(w.Doc, "Basic", "sku", "name")
	sku := arm.Object(w.Doc, "sku")
	allowed := []string{"Basic", "Standard", skuStandardV2}
	if w.Kind.Type == LoadBalancers {
		allowed = []string{"Basic", "Standard", "Gateway", skuService}
	}
	asked := arm.Text(sku, "name")
	if err := normalizeChoice(sku, w.ID.String(), "name", "", allowed...); err != nil {
		return err
	}
	if is := arm.Text(sku, "name"); is == skuService && is != asked {
		// The official controller counts on the spelling. Source: kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go.
		return badRequest("InvalidRequestFormat", "Cannot parse the request: value %q of sku in %s is written %q.", asked, w.ID, is)
	}
	if err := normalizeChoice(sku, w.ID.String(), "tier", "Regional", "Regional", "Global"); err != nil {
		return err
	}
	name, old := arm.Text(sku, "name"), arm.Text(w.OldDoc(), "sku", "name")
	switch {
	case old != "" && old != name && (old != "Basic" || w.Kind.Type != PublicIPAddresses):
		return badRequest("SkuCannotBeChanged", "The SKU of resource %s cannot be changed from %s to %s.", w.ID, old, name)
	case old == "" && name == "Basic" && !a.AllowBasic:
		return badRequest(retired, "Cannot create more than 0 Basic SKU resources of type %s for this subscription in this region.", w.Kind.Type)
	}
	return nil
}

// assignGUID gives a resource an id that differs from that of an earlier resource of
// the same name.
func assignGUID(w *arm.Write, what string) {
	arm.Default(w.Doc, arm.Doc{}, "properties")
	w.Props()["resourceGuid"] = arm.Text(w.OldDoc(), "properties", "resourceGuid")
	if w.Old == nil {
		w.Props()["resourceGuid"] = w.GUID(what)
	}
}
