package openstack

import (
	"fmt"
	"net/netip"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// SeedOptions says what the cloud begins with.
type SeedOptions struct {
	// ClusterID is the name of the cluster; default "berth-demo".
	ClusterID string
	// Nodes is the number of servers, at most 1000; default none.
	Nodes int
	// Addresses is the number of floating IPs that belong to nothing; default 2.
	Addresses int
	// DualStack gives the network a subnet of IPv6, and the servers addresses there.
	DualStack bool
}

// Network is a seeded network with its subnets.
type Network struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Subnets []Subnet `json:"subnets"`
}

// Subnet is a subnet of a seeded network.
type Subnet struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	CIDR string   `json:"cidr"`
	Tags []string `json:"tags,omitempty"`
}

// Node is a seeded server and the Kubernetes node that runs on it.
type Node struct {
	Name       string `json:"name"`
	ServerID   string `json:"serverId"`
	ProviderID string `json:"providerId"`
	PortID     string `json:"portId"`
	InternalIP string `json:"internalIp"`
	IPv6       string `json:"ipv6,omitempty"`
}

// Seed is the world that the cloud began with. It is the same in every run with the
// same options, and adding nodes changes nothing else.
type Seed struct {
	Region    string  `json:"region"`
	Project   string  `json:"project"`
	ClusterID string  `json:"clusterId"`
	Cluster   Network `json:"cluster"`
	// Other is another network of the project, with a subnet of its own.
	Other  Network `json:"other"`
	Public Network `json:"public"`
	// Second is another external network.
	Second Network `json:"second"`
	// FreePort is a port of the cluster's subnet that nothing uses.
	FreePort  string   `json:"freePort"`
	Addresses []string `json:"addresses"`
	Flavor    string   `json:"flavor"`
	Zone      string   `json:"zone"`
	// Certificate is the path of a container of Barbican.
	Certificate string `json:"certificate"`
	Nodes       []Node `json:"nodes"`
}

const maxNodes = 1000

type planting struct {
	Seed
	*visit
	dual bool
}

func seedState(s *state, opt Options) (Seed, error) {
	if opt.Seed.Nodes < 0 || opt.Seed.Nodes > maxNodes {
		return Seed{}, fmt.Errorf("nodes %d: want 0 to %d", opt.Seed.Nodes, maxNodes)
	}
	sim.Default(&opt.Seed.ClusterID, "berth-demo")
	sim.Default(&opt.Seed.Addresses, 2)
	p := &planting{visit: &visit{Visit: rest.Visit[*state]{Visit: sim.Visit{Entry: sim.Entry{Time: opt.Clock.Now()}}, State: s}, cloud: &Cloud{opt: opt}}, dual: opt.Seed.DualStack}
	p.Region, p.Project, p.ClusterID = opt.Region, opt.Project, opt.Seed.ClusterID
	p.Cluster = p.network("cluster", false)
	p.subnet(&p.Cluster, "cluster", "10.0.0.0/16", nil)
	if p.dual {
		p.subnet(&p.Cluster, "cluster-v6", "fd00:10::/64", nil)
	}
	p.Other = p.network("other", false)
	p.subnet(&p.Other, "other", "10.1.0.0/24", nil)
	p.Public = p.network("public", true)
	p.subnet(&p.Public, "public-a", "203.0.113.0/24", []string{"internet"})
	p.subnet(&p.Public, "public-b", "198.51.100.0/24", []string{"internet", "partners"})
	p.Second = p.network("second", true)
	p.subnet(&p.Second, "second", "192.0.2.0/24", nil)
	p.State.Put(groups, Object{"id": idOf("default"), "name": "default", "description": "Default security group", "project_id": p.cloud.projectID(), "tags": []any{}, "revision_number": float64(1)})
	p.furnish(opt)
	return p.Seed, nil
}

// furnish adds what Services can name.
func (p *planting) furnish(opt Options) {
	cluster, _ := p.State.Get(subnets, p.Cluster.Subnets[0].ID)
	p.FreePort = p.makePort(cluster, "10.0.200.1", Object{"name": "reserved", "security_groups": []any{idOf("default")}}).Text("id")
	public, _ := p.State.Get(subnets, p.Public.Subnets[0].ID)
	for i := range opt.Seed.Addresses {
		address := netip.AddrFrom4([4]byte{203, 0, 113, byte(200 + i)}).String()
		p.State.Put(floating, Object{
			"id": idOf("floating " + address), "floating_ip_address": address, "floating_network_id": p.Public.ID, "subnet": public.Text("id"), "description": "",
			"project_id": p.cloud.projectID(), "tags": []any{}, "revision_number": float64(0),
		}.With(unboundFields()))
		p.Addresses = append(p.Addresses, address)
	}
	p.Flavor, p.Zone = idOf("flavor"), "az-1"
	p.State.Put(flavors, Object{"id": p.Flavor, "name": "large", "description": "", "enabled": true, "flavor_profile_id": idOf("profile")})
	p.State.Put(zones, Object{"id": idOf("zone"), "name": p.Zone, "description": "", "enabled": true, "availability_zone_profile_id": idOf("zones")})
	container := idOf("container")
	p.Certificate = "/key-manager/v1/containers/" + container
	p.State.Put(containers, Object{"id": container, "name": "certificate", "type": "certificate", "status": "ACTIVE", "secret_refs": []any{}})
	for n := range opt.Seed.Nodes {
		p.node(n)
	}
}

func (p *planting) network(name string, external bool) Network {
	id := idOf("network " + name)
	p.State.Put(networks, Object{
		"id": id, "name": name, "admin_state_up": true, "status": "ACTIVE", "shared": external, "router:external": external, "mtu": float64(1500),
		"project_id": p.owner(name), "tags": []any{}, "port_security_enabled": true,
	})
	return Network{ID: id, Name: name}
}

// owner is the project that a network belongs to: external ones are the administrator's.
func (p *planting) owner(network string) string {
	if network == "public" || network == "second" {
		return idOf("project admin")
	}
	return p.cloud.projectID()
}

func (p *planting) subnet(n *Network, name, cidr string, tags []string) {
	prefix := netip.MustParsePrefix(cidr)
	version, gateway := 4, prefix.Addr().Next()
	if prefix.Addr().Is6() {
		version = 6
	}
	end := sim.LastAddress(prefix)
	if version == 4 {
		end = end.Prev()
	}
	s := Subnet{ID: idOf("subnet " + name), Name: name, CIDR: cidr, Tags: tags}
	p.State.Put(subnets, Object{
		"id": s.ID, "name": name, "network_id": n.ID, "cidr": cidr, "ip_version": float64(version), "gateway_ip": gateway.String(), "enable_dhcp": true,
		"allocation_pools": []any{Object{"start": gateway.Next().String(), "end": end.String()}}, "dns_nameservers": []any{}, "host_routes": []any{},
		"project_id": p.owner(n.Name), "tags": rest.Anys(tags),
	})
	n.Subnets = append(n.Subnets, s)
}

// node makes a server with its port.
func (p *planting) node(n int) {
	name := fmt.Sprintf("%s-node-%d", p.ClusterID, n+1)
	server := idOf("server " + name)
	address := netip.AddrFrom4([4]byte{10, 0, byte(100 + n/250), byte(1 + n%250)}).String()
	node := Node{Name: name, ServerID: server, ProviderID: "openstack:///" + server, InternalIP: address}
	fixed := []any{Object{"subnet_id": p.Cluster.Subnets[0].ID, "ip_address": address}}
	if p.dual {
		node.IPv6 = fmt.Sprintf("fd00:10::100:%x", n+1)
		fixed = append(fixed, Object{"subnet_id": p.Cluster.Subnets[1].ID, "ip_address": node.IPv6})
	}
	cluster, _ := p.State.Get(subnets, p.Cluster.Subnets[0].ID)
	port := p.makePort(cluster, address, Object{
		"device_id": server, "device_owner": "compute:nova", "status": "ACTIVE", "fixed_ips": fixed, "security_groups": []any{idOf("default")},
	})
	node.PortID = port.Text("id")
	p.State.Put(servers, Object{
		"id": server, "name": name, "status": "ACTIVE", "tenant_id": p.cloud.projectID(), "metadata": Object{}, "flavor": Object{"original_name": "m1.large"},
		"OS-EXT-AZ:availability_zone": "nova", "addresses": Object{p.Cluster.Name: []any{Object{"addr": address, "version": float64(4), "OS-EXT-IPS:type": "fixed"}}},
	})
	p.Nodes = append(p.Nodes, node)
}
