package oci

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// SeedOptions says what the cloud begins with.
type SeedOptions struct {
	// ClusterID is the name of the cluster; default "berth-demo".
	ClusterID string
	// Nodes is the number of instances, at most 1000; default none.
	Nodes int
	// DualStack gives the subnets and the instances IPv6 addresses too.
	DualStack bool
}

// Subnet is a seeded subnet.
type Subnet struct {
	ID           string `json:"id"`
	CIDR         string `json:"cidr"`
	IPv6CIDR     string `json:"ipv6Cidr,omitempty"`
	SecurityList string `json:"securityList"`
}

// Node is a seeded instance and the Kubernetes node that runs on it.
type Node struct {
	Name       string `json:"name"`
	InstanceID string `json:"instanceId"`
	ProviderID string `json:"providerId"`
	VnicID     string `json:"vnicId"`
	InternalIP string `json:"internalIp"`
	IPv6       string `json:"ipv6,omitempty"`
	Zone       string `json:"zone"`
	Fault      string `json:"faultDomain"`
}

// Seed is the world that the cloud began with. It is the same in every run with the
// same options, and adding nodes changes nothing else.
type Seed struct {
	Region      string `json:"region"`
	Tenancy     string `json:"tenancy"`
	User        string `json:"user"`
	ClusterID   string `json:"clusterId"`
	Compartment string `json:"compartment"`
	// Other is another compartment, in which nothing is.
	Other string `json:"otherCompartment"`
	VCN   string `json:"vcn"`
	// Public and Private are the regional subnets for load balancers, Workers that of
	// the instances, and Zonal those of one availability domain each.
	Public  Subnet    `json:"public"`
	Private Subnet    `json:"private"`
	Workers Subnet    `json:"workers"`
	Zonal   [2]Subnet `json:"zonal"`
	// Groups are network security groups that Services can name; WorkerGroup is that
	// of the instances.
	Groups      [2]string `json:"groups"`
	WorkerGroup string    `json:"workerGroup"`
	// Addresses are reserved public addresses that nothing uses.
	Addresses [2]string `json:"addresses"`
	// PrivateAddress is a reserved address of the private subnet.
	PrivateAddress   string `json:"privateAddress"`
	PrivateAddressID string `json:"privateAddressId"`
	// Address6 is a reserved IPv6 address of the public subnet; empty without IPv6.
	Address6 string `json:"address6,omitempty"`
	// TagNamespace has the defined tags CostCenter and Environment.
	TagNamespace string `json:"tagNamespace"`
	Nodes        []Node `json:"nodes"`
}

const maxNodes = 1000

type planting struct {
	Seed
	*state
	dual    bool
	subnets int
	at      time.Time
}

func seedState(s *state, opt Options) (Seed, error) {
	if opt.Seed.Nodes < 0 || opt.Seed.Nodes > maxNodes {
		return Seed{}, fmt.Errorf("nodes %d: want 0 to %d", opt.Seed.Nodes, maxNodes)
	}
	sim.Default(&opt.Seed.ClusterID, "berth-demo")
	// Existing objects were created before, so that the oldest object of a kind is known.
	p := &planting{state: s, dual: opt.Seed.DualStack, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	p.Region, p.ClusterID, p.TagNamespace = opt.Region, opt.Seed.ClusterID, tagNamespace
	p.Tenancy, p.User = s.idOf("tenancy", "berth"), s.idOf("user", "berth")
	p.Compartment, p.Other = p.compartment("berth"), p.compartment("other")
	p.VCN = p.network("cluster", "10.0.0.0/16")
	p.furnish()
	for n := range opt.Seed.Nodes {
		p.node(n)
	}
	return p.Seed, nil
}

// tagNamespace is that of the seeded defined tags.
const tagNamespace = "Operations"

// furnish makes what Services can name.
func (p *planting) furnish() {
	p.Public = p.subnet("public", "10.0.16.0/20", rest.Object{"prohibitPublicIpOnVnic": false})
	p.Private = p.subnet("private", "10.0.32.0/20", rest.Object{"prohibitPublicIpOnVnic": true})
	p.Workers = p.subnet("workers", "10.0.128.0/17", rest.Object{"prohibitPublicIpOnVnic": true})
	for n := range p.Zonal {
		p.Zonal[n] = p.subnet(fmt.Sprintf("zonal-%d", n+1), fmt.Sprintf("10.0.%d.0/24", 48+n), rest.Object{"prohibitPublicIpOnVnic": false, "availabilityDomain": p.domain(n)})
	}
	p.WorkerGroup = p.group("workers")
	p.Groups = [2]string{p.group("web"), p.group("internal")}
	for n := range p.Addresses {
		p.Addresses[n] = fmt.Sprintf("203.0.113.%d", 10+n)
		p.add(publicIPs, fmt.Sprintf("reserved-%d", n+1), rest.Object{"ipAddress": p.Addresses[n], "lifetime": "RESERVED", "scope": "REGION", "assignedEntityId": nil})
	}
	p.PrivateAddress = "10.0.47.200"
	p.take(p.Private.ID, netip.MustParseAddr(p.PrivateAddress))
	p.PrivateAddressID = p.add(privateIPs, "reserved", rest.Object{
		"ipAddress": p.PrivateAddress, "lifetime": "RESERVED", "ipState": "AVAILABLE", "subnetId": p.Private.ID, "isPrimary": false, "vnicId": nil,
	})
	if p.dual {
		a := netip.MustParsePrefix(p.Public.IPv6CIDR).Addr().As16()
		a[14], a[15] = 0x0f, 0x0f
		p.Address6 = netip.AddrFrom16(a).String()
		p.take(p.Public.ID, netip.AddrFrom16(a))
		p.add(ipv6s, "reserved", rest.Object{"ipAddress": p.Address6, "lifetime": "RESERVED", "ipState": "AVAILABLE", "subnetId": p.Public.ID, "vnicId": nil})
	}
}

// add enters an object of the compartment.
func (p *planting) add(kind, name string, values rest.Object) string {
	p.at = p.at.Add(time.Minute)
	o := rest.Object{
		"id": p.idOf(kind, name), "displayName": name, "compartmentId": p.Compartment, "timeCreated": formatTime(p.at), lifecycle: "AVAILABLE",
		"freeformTags": rest.Object{}, "definedTags": rest.Object{},
	}
	return p.store(kind, o.With(values)).Text("id")
}

func (p *planting) compartment(name string) string {
	return p.add(compartments, name, rest.Object{"name": name, "compartmentId": p.Tenancy, lifecycle: active})
}

func (p *planting) group(name string) string {
	return p.add(groups, name, rest.Object{"vcnId": p.VCN})
}

func (p *planting) network(name, cidr string) string {
	v6 := []any{}
	if p.dual {
		v6 = append(v6, "2001:db8:10::/56")
	}
	return p.add(vcns, name, rest.Object{"cidrBlock": cidr, "cidrBlocks": []any{cidr}, "ipv6CidrBlocks": v6})
}

// subnet makes a subnet with a security list of its own, whose rules let all out, and
// in what a cluster needs.
func (p *planting) subnet(name, cidr string, values rest.Object) Subnet {
	rules := []any{rest.Object{"protocol": "6", "source": "10.0.0.0/16", "sourceType": "CIDR_BLOCK", "isStateless": false, "tcpOptions": rest.Object{"destinationPortRange": rest.Object{"min": 22.0, "max": 22.0}}}}
	out := Subnet{CIDR: cidr, SecurityList: p.add(lists, name, rest.Object{"vcnId": p.VCN, "ingressSecurityRules": rules, "egressSecurityRules": []any{}})}
	o := rest.Object{
		"vcnId": p.VCN, "cidrBlock": cidr, "ipv4CidrBlocks": []any{cidr}, "securityListIds": []any{out.SecurityList}, "routeTableId": p.idOf("routetable", name),
		"virtualRouterIp": netip.MustParsePrefix(cidr).Addr().Next().String(), "virtualRouterMac": "00:00:17:00:00:01", "prohibitInternetIngress": values.Truth("prohibitPublicIpOnVnic"),
		// Without IPv6 both are null: the official controller ends at an empty list.
		"ipv6CidrBlock": nil, "ipv6CidrBlocks": nil,
	}
	if p.dual {
		p.subnets++
		out.IPv6CIDR = fmt.Sprintf("2001:db8:10:%x::/64", p.subnets)
		o["ipv6CidrBlock"], o["ipv6CidrBlocks"] = out.IPv6CIDR, []any{out.IPv6CIDR}
	}
	out.ID = p.add(subnets, name, o.With(values))
	return out
}

// domain is an availability domain. Source: IAM, ListAvailabilityDomains.
func (p *planting) domain(n int) string {
	return fmt.Sprintf("Uocm:%s-AD-%d", strings.ToUpper(p.Region), n%3+1)
}

// node makes an instance with its VNIC.
func (p *planting) node(n int) {
	name := fmt.Sprintf("%s-node-%d", p.ClusterID, n+1)
	a := netip.AddrFrom4([4]byte{10, 0, byte(129 + n/250), byte(1 + n%250)})
	node := Node{Name: name, InternalIP: a.String(), Zone: p.domain(n), Fault: fmt.Sprintf("FAULT-DOMAIN-%d", n%3+1)}
	v6 := []any{}
	if p.dual {
		node.IPv6 = netip.MustParsePrefix(p.Workers.IPv6CIDR).Addr().StringExpanded()[:20] + fmt.Sprintf("0000:0000:0001:%04x", n+1)
		node.IPv6 = netip.MustParseAddr(node.IPv6).String()
		v6 = append(v6, node.IPv6)
	}
	place := rest.Object{"availabilityDomain": node.Zone}
	node.InstanceID = p.add(instances, name, place.With(rest.Object{
		"faultDomain": node.Fault, "region": p.Region, "shape": machineShape, lifecycle: "RUNNING", "metadata": rest.Object{},
	}))
	node.ProviderID = "oci://" + node.InstanceID
	node.VnicID = p.add(vnics, name, place.With(rest.Object{
		"isPrimary": true, "privateIp": node.InternalIP, "publicIp": nil, "ipv6Addresses": v6, "subnetId": p.Workers.ID, "nsgIds": []any{p.WorkerGroup}, "hostnameLabel": name,
	}))
	p.add(attachments, name, place.With(rest.Object{"instanceId": node.InstanceID, "vnicId": node.VnicID, "subnetId": p.Workers.ID, "nicIndex": 0.0, lifecycle: "ATTACHED"}))
	p.add(privateIPs, name, rest.Object{"ipAddress": node.InternalIP, "lifetime": "EPHEMERAL", "ipState": "ASSIGNED", "subnetId": p.Workers.ID, "isPrimary": true, "vnicId": node.VnicID})
	p.take(p.Workers.ID, a)
	p.Nodes = append(p.Nodes, node)
}

// machineShape is that of the instances.
const machineShape = "VM.Standard.E4.Flex"
