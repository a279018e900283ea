package network

import (
	"fmt"
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
		{Type: AppGroups, Service: "network", Client: "ApplicationSecurityGroups", GUIDs: resourceGUID("asg")},
		a.natGateways(),
	}, a.serviceGateways()...)
	for _, k := range kinds {
		k.Members = a.members.Rule(k.Type)
	}
	return kinds
}

// Extra are calls that are no resource.
func (a *API) Extra() []arm.Extra {
	return append(a.gatewayCalls(), migrateAction(), ruleHealth())
}

// unknownReference refuses a reference to what is not found.
func unknownReference(to, from any) *arm.Error {
	return arm.Badf("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", to, from)
}

// inUse refuses to delete what another resource refers to. The text names both.
func inUse(code, text string) func(*arm.Write, []arm.Ref) *arm.Error {
	return func(w *arm.Write, refs []arm.Ref) *arm.Error { return arm.Badf(code, text, w.ID, refs[0].From) }
}

// field is the rule for a property of an object. Refusals name the object.
type field func(object string, d arm.Doc) *arm.Error

// checkFields applies rules to an object in order.
func checkFields(object any, d arm.Doc, rules ...field) *arm.Error {
	for _, rule := range rules {
		if err := rule(fmt.Sprint(object), d); err != nil {
			return err
		}
	}
	return nil
}

// choiceField is the rule for a word of a list. It is stored as listed, whatever its letter case.
func choiceField(name, fallback string, allowed ...string) field {
	return func(object string, d arm.Doc) *arm.Error {
		value := arm.Text(d, name)
		if value == "" && fallback != "" {
			d[name] = fallback
			return nil
		}
		at := slices.IndexFunc(allowed, func(s string) bool { return arm.Key(s) == arm.Key(value) })
		if at < 0 {
			return arm.Badf("InvalidRequestFormat", "Cannot parse the request: value %q of %s in %s is none of %v.", value, name, object, allowed)
		}
		d[name] = allowed[at]
		return nil
	}
}

// numberField is the rule for an integer in a range. Without a fallback it is required.
func numberField(name string, fallback, low, high int, code string) field {
	return func(object string, d arm.Doc) *arm.Error {
		if d[name] == nil && fallback == 0 {
			return arm.Badf(code, "Required property %s of %s is missing.", name, object)
		}
		arm.Default(d, fallback, name)
		if n, ok := arm.Number(d, name); !ok || n < low || n > high {
			return arm.Badf(code, "The value %v of %s in %s is out of range. It must be between %d and %d.", d[name], name, object, low, high)
		}
		return nil
	}
}

// idleField is the rule for the minutes after which an idle connection ends.
func idleField(most int) field {
	return numberField("idleTimeoutInMinutes", minIdle, minIdle, most, "InvalidIdleTimeout")
}

// zonesOfResource checks the zones of a resource, and that they stay.
func (a *API) zonesOfResource(w *arm.Write) *arm.Error {
	var old arm.Doc
	if w.Old != nil {
		old = w.Old.Doc
	}
	return a.zones(w.ID.String(), w.Doc, old)
}

// zones checks the zones of a resource or frontend, and that they stay.
func (a *API) zones(what string, d, old arm.Doc) *arm.Error {
	want := arm.Texts(d, "zones")
	for _, z := range want {
		if !slices.Contains(a.Zones, z) {
			return arm.Badf("InvalidAvailabilityZone", "The zone '%s' of %s is not available in this region.", z, what)
		}
	}
	if len(want) == 0 {
		delete(d, "zones")
	}
	if had := arm.Texts(old, "zones"); old != nil && !slices.Equal(slices.Sorted(slices.Values(had)), slices.Sorted(slices.Values(want))) {
		return arm.Badf("ResourceAvailabilityZonesCannotBeModified", "Resource %s has an existing availability zone constraint %v and the request has availability zone constraint %v, which do not match. Zones cannot be added/updated/removed once the resource is created.", what, had, want)
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
	if err := checkFields(w.ID, sku, choiceField("name", "", allowed...)); err != nil {
		return err
	}
	if is := arm.Text(sku, "name"); is == skuService && is != asked {
		// The official controller counts on the spelling. Source: kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go.
		return arm.Badf("InvalidRequestFormat", "Cannot parse the request: value %q of sku in %s is written %q.", asked, w.ID, is)
	}
	if err := checkFields(w.ID, sku, choiceField("tier", "Regional", "Regional", "Global")); err != nil {
		return err
	}
	name, old := arm.Text(sku, "name"), arm.Text(w.OldDoc(), "sku", "name")
	switch {
	case old != "" && old != name && (old != "Basic" || w.Kind.Type != PublicIPAddresses):
		return arm.Badf("SkuCannotBeChanged", "The SKU of resource %s cannot be changed from %s to %s.", w.ID, old, name)
	case old == "" && name == "Basic" && !a.AllowBasic:
		return arm.Badf(retired, "Cannot create more than 0 Basic SKU resources of type %s for this subscription in this region.", w.Kind.Type)
	}
	return nil
}

// resourceGUID is the id that differs from that of an earlier resource of the same name.
func resourceGUID(word string) map[string]string { return map[string]string{"resourceGuid": word} }
