package azure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/compute"
)

// NodesAs says what the nodes are in the cloud.
type NodesAs string

// The zero NodesAs is VMSS.
const (
	// VM is single virtual machines.
	VM NodesAs = "vm"
	// VMSS is instances of a uniform scale set.
	VMSS NodesAs = "vmss"
	// Flex is virtual machines of a flexible scale set.
	Flex NodesAs = "flex"
)

// PoolType says how nodes are members of backend pools.
type PoolType string

// The zero PoolType is NodeIP.
const (
	// NodeIP is members by address.
	NodeIP PoolType = "nodeIP"
	// NodeNIC is members by network interface.
	NodeNIC PoolType = "nodeIPConfiguration"
	// PodIP is pods, by a service gateway, on load balancers of the SKU Service.
	PodIP PoolType = "podIP"
)

const (
	nodeSize = "Standard_D2s_v5"
	maxNodes = 5000
	// maxSetNodes is the most instances that one scale set has.
	maxSetNodes = 1000
	// maxPods is how many a kubelet on AKS runs at most.
	maxPods = 250
)

// SeedOptions says what the cloud begins with.
type SeedOptions struct {
	// Cluster is the name of the cluster, default "kubernetes".
	Cluster string
	// Nodes is at most 5000 as VM and 1000 as VMSS or Flex; default none.
	Nodes   int
	NodesAs NodesAs
	Pools   PoolType
	// DualStack gives networks, nodes and pods IPv6 addresses too.
	DualStack bool
	// Pods is how many addresses of pods every node has, at most 250; default 2
	// with pools of pods, else none.
	Pods int
	// Outbound makes the public load balancer of the cluster as AKS does: with a
	// frontend, a public address, a pool and an outbound rule for the nodes' own traffic.
	Outbound bool
	// Addresses is the number of public addresses without an owner; default none.
	Addresses int
}

// Node is a seeded machine and the Kubernetes node that runs on it.
type Node struct {
	Name       string `json:"name"`
	ID         string `json:"id"`
	ProviderID string `json:"providerId"`
	Zone       string `json:"zone,omitempty"`
	PrivateIP  string `json:"privateIp"`
	PrivateIP6 string `json:"privateIp6,omitempty"`
	// PodCIDRs are the ranges of the node's pods, and Pods addresses in them.
	PodCIDRs []string `json:"podCidrs,omitempty"`
	Pods     []string `json:"podIps,omitempty"`
	// IPConfiguration is the id of the primary one, as pools show it.
	IPConfiguration string `json:"ipConfiguration"`
}

// Address is a seeded public address.
type Address struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	IP   string `json:"ip"`
}

// Seed is the world that the cloud began with. All ids are the same in every
// run with the same options.
type Seed struct {
	Location     string   `json:"location"`
	Zones        []string `json:"zones"`
	Tenant       string   `json:"tenant"`
	Subscription string   `json:"subscription"`
	Cluster      string   `json:"cluster"`
	// ResourceGroup holds the nodes, load balancers and addresses; the network
	// is in a group of its own.
	ResourceGroup   string   `json:"resourceGroup"`
	NetworkGroup    string   `json:"networkResourceGroup"`
	Network         string   `json:"network"`
	Subnet          string   `json:"subnet"`
	InternalSubnet  string   `json:"internalSubnet"`
	LinkSubnet      string   `json:"linkSubnet"`
	SecurityGroup   string   `json:"securityGroup"`
	RouteTable      string   `json:"routeTable"`
	NodesAs         NodesAs  `json:"nodesAs"`
	Pools           PoolType `json:"poolType"`
	DualStack       bool     `json:"dualStack"`
	ScaleSet        string   `json:"scaleSet,omitempty"`
	AvailabilitySet string   `json:"availabilitySet,omitempty"`
	LoadBalancer    string   `json:"loadBalancer,omitempty"`
	OutboundIP      string   `json:"outboundIp,omitempty"`
	// ServiceGateway is in the group of the nodes, and NATGateway is its default
	// for outbound traffic, with an address of its own.
	ServiceGateway string    `json:"serviceGateway,omitempty"`
	NATGateway     string    `json:"natGateway,omitempty"`
	Nodes          []Node    `json:"nodes"`
	Addresses      []Address `json:"addresses"`
	PublicIPPrefix string    `json:"publicIpPrefix"`
}

// seeding builds the world.
type seeding struct {
	Seed
	svc   *arm.Service
	now   time.Time
	zones []string
	err   error
	// pools are what the nodes' interfaces join.
	pools []string
}

func buildSeed(svc *arm.Service, opt Options) (Seed, error) {
	o := opt.Seed
	b := &seeding{svc: svc, now: opt.Clock.Now(), zones: opt.Network.Zones, Seed: Seed{
		Location: opt.Location, Zones: opt.Network.Zones, Tenant: opt.Tenant, Subscription: opt.Subscription, Cluster: o.Cluster, NodesAs: o.NodesAs, Pools: o.Pools, DualStack: o.DualStack,
		ResourceGroup: "MC_nodes", NetworkGroup: "rg-network", Network: "vnet", Subnet: "nodes", InternalSubnet: "internal", LinkSubnet: "links",
		SecurityGroup: "nodes-nsg", RouteTable: "nodes-routes", PublicIPPrefix: "user-prefix", Nodes: []Node{}, Addresses: []Address{},
	}}
	sim.Default(&b.Cluster, "kubernetes")
	sim.Default(&b.NodesAs, VMSS)
	sim.Default(&b.Pools, NodeIP)
	if b.Pools == PodIP && o.Pods == 0 {
		o.Pods = 2
	}
	if err := b.check(o); err != nil {
		return Seed{}, err
	}
	b.base()
	if o.Outbound {
		b.outbound()
	}
	if b.Pools == PodIP {
		b.gateway()
	}
	b.nodes(o.Nodes)
	b.pods(o.Pods)
	b.members()
	b.addresses(o.Addresses)
	return b.Seed, b.err
}

func (b *seeding) check(o SeedOptions) error {
	switch {
	case !slices.Contains([]NodesAs{VM, VMSS, Flex}, b.NodesAs):
		return fmt.Errorf("nodes as %q: want vm, vmss or flex", b.NodesAs)
	case !slices.Contains([]PoolType{NodeIP, NodeNIC, PodIP}, b.Pools):
		return fmt.Errorf("pool type %q: want nodeIP, nodeIPConfiguration or podIP", b.Pools)
	case b.Pools == PodIP && o.Outbound:
		return fmt.Errorf("pool type %q: outbound traffic is the NAT gateway's, not a load balancer's", b.Pools)
	case o.Pods < 0 || o.Pods > maxPods:
		return fmt.Errorf("%d pods on a node: want 0 to %d", o.Pods, maxPods)
	case o.Nodes < 0 || o.Nodes > maxNodes, b.NodesAs != VM && o.Nodes > maxSetNodes:
		return fmt.Errorf("%d nodes as %s: want 0 to %d as vm, or to %d in a scale set", o.Nodes, b.NodesAs, maxNodes, maxSetNodes)
	case o.Addresses < 0 || o.Addresses > 500:
		return fmt.Errorf("%d addresses: want 0 to 500", o.Addresses)
	}
	return nil
}

// id makes an id in the group of the nodes.
func (b *seeding) id(kind, name string) arm.ID {
	provider, rest, _ := strings.Cut(kind, "/")
	return arm.ID{Subscription: b.Subscription, Group: b.ResourceGroup, Provider: provider, Types: []string{rest}, Names: []string{name}}
}

func (b *seeding) netID() arm.ID {
	id := b.id("Microsoft.Network/virtualNetworks", b.Network)
	id.Group = b.NetworkGroup
	return id
}

// SubnetID is the id of one of the seeded subnets by its name.
func (s Seed) SubnetID(name string) string {
	return "/subscriptions/" + s.Subscription + "/resourceGroups/" + s.NetworkGroup + "/providers/Microsoft.Network/virtualNetworks/" + s.Network + "/subnets/" + name
}

// put stores one resource; after an error nothing more is stored.
func (b *seeding) put(id arm.ID, d arm.Doc) {
	if b.err != nil {
		return
	}
	d["location"] = b.Location
	if err := b.svc.Seed(id, d, b.now); err != nil {
		b.err = fmt.Errorf("%s: %w", id, err)
	}
}

func toAnySlice(in []string) []any {
	out := make([]any, len(in))
	for i, s := range in {
		out[i] = s
	}
	return out
}

func idRef(id string) arm.Doc { return arm.Doc{"id": id} }

// base makes groups, network, security group and route table.
func (b *seeding) base() {
	for _, group := range []string{b.ResourceGroup, b.NetworkGroup} {
		b.put(arm.ID{Subscription: b.Subscription, Group: group}, arm.Doc{"properties": arm.Doc{}})
	}
	nsg, routes := b.id("Microsoft.Network/networkSecurityGroups", b.SecurityGroup), b.id("Microsoft.Network/routeTables", b.RouteTable)
	b.put(nsg, arm.Doc{"properties": arm.Doc{}})
	b.put(routes, arm.Doc{"properties": arm.Doc{}})
	space := []string{"10.240.0.0/12"}
	if b.DualStack {
		space = append(space, "fd12:3456:789a::/48")
	}
	var list []any
	names := []string{b.Subnet, b.InternalSubnet, b.LinkSubnet}
	if b.Pools == PodIP {
		names = append(names, gatewaySubnet)
	}
	for i, name := range names {
		props := arm.Doc{}
		if v4 := fmt.Sprintf("10.%d.0.0/16", 240+i); b.DualStack {
			props["addressPrefixes"] = toAnySlice([]string{v4, fmt.Sprintf("fd12:3456:789a:%x::/64", i)})
		} else {
			props["addressPrefix"] = v4
		}
		if i == 0 {
			props["networkSecurityGroup"], props["routeTable"] = idRef(nsg.String()), idRef(routes.String())
		}
		list = append(list, arm.Doc{"name": name, "properties": props})
	}
	b.put(b.netID(), arm.Doc{"properties": arm.Doc{"addressSpace": arm.Doc{"addressPrefixes": toAnySlice(space)}, "subnets": list}})
}

// outbound makes the load balancer that AKS makes for outbound traffic.
func (b *seeding) outbound() {
	b.LoadBalancer = b.Cluster
	lb := b.id("Microsoft.Network/loadBalancers", b.LoadBalancer)
	pip := b.id("Microsoft.Network/publicIPAddresses", "aks-outbound-ip")
	b.put(pip, b.address(arm.Doc{}))
	if r := b.svc.State.Get(pip); r != nil {
		b.OutboundIP = arm.Text(r.Doc, "properties", "ipAddress")
	}
	front, pool := lb.Child("frontendIPConfigurations", "aks-outbound").String(), lb.Child("backendAddressPools", "aksOutboundBackendPool").String()
	list := []any{arm.Doc{"name": "aksOutboundBackendPool"}, arm.Doc{"name": b.Cluster}}
	b.pools = []string{pool}
	if b.Pools == NodeNIC {
		b.pools = append(b.pools, lb.Child("backendAddressPools", b.Cluster).String())
	}
	b.put(lb, arm.Doc{"sku": arm.Doc{"name": "Standard"}, "properties": arm.Doc{
		"frontendIPConfigurations": []any{arm.Doc{"name": "aks-outbound", "properties": arm.Doc{"publicIPAddress": idRef(pip.String())}}},
		"backendAddressPools":      list,
		"outboundRules": []any{arm.Doc{"name": "aksOutboundRule", "properties": arm.Doc{
			"protocol": "All", "idleTimeoutInMinutes": 30, "enableTcpReset": true, "allocatedOutboundPorts": 0,
			"frontendIPConfigurations": []any{idRef(front)}, "backendAddressPool": idRef(pool),
		}}},
	}})
}

// address is the body of a public address in all zones.
func (b *seeding) address(props arm.Doc) arm.Doc {
	props["publicIPAllocationMethod"] = "Static"
	d := arm.Doc{"sku": arm.Doc{"name": "Standard"}, "properties": props}
	if len(b.zones) > 0 {
		d["zones"] = toAnySlice(b.zones)
	}
	return d
}

func (b *seeding) addresses(count int) {
	prefix := b.id("Microsoft.Network/publicIPPrefixes", b.PublicIPPrefix)
	d := b.address(arm.Doc{"prefixLength": 29})
	delete(arm.Object(d, "properties"), "publicIPAllocationMethod")
	b.put(prefix, d)
	for n := range count {
		name := fmt.Sprintf("user-ip-%d", n+1)
		id := b.id("Microsoft.Network/publicIPAddresses", name)
		b.put(id, b.address(arm.Doc{}))
		if r := b.svc.State.Get(id); r != nil {
			b.Addresses = append(b.Addresses, Address{name, id.String(), arm.Text(r.Doc, "properties", "ipAddress")})
		}
	}
}

// members adds nodes by address to the cluster's pool, if it exists.
func (b *seeding) members() {
	if b.LoadBalancer == "" || b.Pools != NodeIP || b.err != nil || len(b.Nodes) == 0 {
		return
	}
	lb := b.id("Microsoft.Network/loadBalancers", b.LoadBalancer)
	d := arm.Clone(b.svc.State.Get(lb).Doc)
	var list []any
	for _, n := range b.Nodes {
		list = append(list, arm.Doc{"name": n.Name, "properties": arm.Doc{"ipAddress": n.PrivateIP}})
	}
	pool := arm.Collection{Property: "backendAddressPools"}.Part(d, b.Cluster)
	arm.Put(pool, arm.Doc{"virtualNetwork": idRef(b.netID().String()), "loadBalancerBackendAddresses": list}, "properties")
	b.put(lb, d)
}

// computerName is that of an instance of the seeded scale set.
func (b *seeding) computerName(n int) string { return compute.ComputerName(b.ScaleSet, n) }
