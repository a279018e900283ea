package gce

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// SeedOptions says what the cloud begins with.
type SeedOptions struct {
	// ClusterID is the name of the cluster, which its nodes' names and tags begin
	// with; default "berth-demo".
	ClusterID string
	// Nodes is the number of instances, at most 1800; default none.
	Nodes int
}

// Subnet is a seeded subnetwork.
type Subnet struct {
	Name     string `json:"name"`
	URL      string `json:"url"`
	CIDR     string `json:"cidr"`
	IPv6CIDR string `json:"ipv6Cidr,omitempty"`
	// IPv6Access is EXTERNAL or INTERNAL.
	IPv6Access string `json:"ipv6Access,omitempty"`
}

// Node is a seeded instance and the Kubernetes node that runs on it.
type Node struct {
	Name       string `json:"name"`
	ProviderID string `json:"providerId"`
	Zone       string `json:"zone"`
	InternalIP string `json:"internalIp"`
	ExternalIP string `json:"externalIp"`
	PodCIDR    string `json:"podCidr"`
}

// Seed is the world that the cloud began with. It is the same in every run with
// the same options, and adding nodes changes nothing else.
type Seed struct {
	Project        string   `json:"project"`
	NetworkProject string   `json:"networkProject"`
	Region         string   `json:"region"`
	Zones          []string `json:"zones"`
	ClusterID      string   `json:"clusterId"`
	// ClusterUID is what the ConfigMap ingress-uid of the cluster would hold.
	ClusterUID string `json:"clusterUid"`
	NodeTag    string `json:"nodeTag"`
	NodePrefix string `json:"nodePrefix"`
	Network    string `json:"network"`
	// Subnets are the cluster's own, one with external and one with internal IPv6.
	Subnets []Subnet `json:"subnets"`
	Nodes   []Node   `json:"nodes"`
}

// ranges of the seeded subnetworks; the first is the range that the region has in
// every network in auto mode. Source: VPC documentation, auto mode IPv4 ranges.
const (
	defaultRange  = "10.128.0.0/20"
	podRange      = "10.8.0.0/13"
	serviceRange  = "10.4.0.0/20"
	externalRange = "10.200.0.0/20"
	internalRange = "10.201.0.0/20"
	maxNodes      = 1800
)

func clusterUID(cluster string) string {
	sum := sha256.Sum256([]byte(cluster))
	return hex.EncodeToString(sum[:8])
}

type planting struct {
	Seed
	api  *compute.API
	born time.Time
	err  error
}

// seedCloud fills the cloud. Source of the shape: what gcloud and GKE create.
func seedCloud(api *compute.API, opt Options) (Seed, error) {
	if opt.Seed.Nodes < 0 || opt.Seed.Nodes > maxNodes {
		return Seed{}, fmt.Errorf("nodes %d: want 0 to %d", opt.Seed.Nodes, maxNodes)
	}
	p := &planting{api: api, born: time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)}
	p.Project, p.NetworkProject, p.Region, p.ClusterID = opt.Project, opt.NetworkProject, opt.Region, opt.Seed.ClusterID
	sim.Default(&p.NetworkProject, p.Project)
	p.ClusterUID, p.NodeTag, p.NodePrefix = clusterUID(p.ClusterID), p.ClusterID+"-node", p.ClusterID
	for _, z := range opt.Zones {
		p.Zones = append(p.Zones, p.Region+"-"+z)
	}
	p.network()
	for n := range opt.Seed.Nodes {
		p.node(n)
	}
	return p.Seed, p.err
}

func (p *planting) load(path string, doc wire.Object) {
	if p.err == nil {
		p.err = p.api.Load(path, doc, p.born)
	}
}

func (p *planting) network() {
	network := "projects/" + p.NetworkProject + "/global/networks/default"
	p.Network = wire.SelfBase + network
	p.load(network, wire.Object{
		"description": "Default network for the project", "autoCreateSubnetworks": true, "mtu": float64(1460), "routingConfig": wire.Object{"routingMode": "REGIONAL"},
	})
	p.subnet("default", defaultRange, "", "")
	p.subnet(p.ClusterID+"-dual", externalRange, "EXTERNAL", "2600:1900:4000:77::/64")
	p.subnet(p.ClusterID+"-dual-internal", internalRange, "INTERNAL", "fd20:a80:0:77::/64")
	p.firewall("default-allow-internal", "10.128.0.0/9", []any{
		wire.Object{"IPProtocol": "tcp", "ports": []any{"0-65535"}}, wire.Object{"IPProtocol": "udp", "ports": []any{"0-65535"}}, wire.Object{"IPProtocol": "icmp"},
	})
	p.firewall("default-allow-ssh", "0.0.0.0/0", []any{wire.Object{"IPProtocol": "tcp", "ports": []any{"22"}}})
}

func (p *planting) subnet(name, cidr, access, v6 string) {
	path := "projects/" + p.NetworkProject + "/regions/" + p.Region + "/subnetworks/" + name
	doc := wire.Object{
		"network": p.Network, "ipCidrRange": cidr, "gatewayAddress": netip.MustParsePrefix(cidr).Addr().Next().String(), "purpose": "PRIVATE",
		"stackType": "IPV4_ONLY", "privateIpGoogleAccess": false, "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS",
	}
	if name == "default" {
		doc["secondaryIpRanges"] = []any{
			wire.Object{"rangeName": p.ClusterID + "-pods", "ipCidrRange": podRange}, wire.Object{"rangeName": p.ClusterID + "-services", "ipCidrRange": serviceRange},
		}
	}
	if access != "" {
		doc["stackType"], doc["ipv6AccessType"], doc["ipv6CidrRange"] = "IPV4_IPV6", access, v6
		key := "externalIpv6Prefix"
		if access == "INTERNAL" {
			key = "internalIpv6Prefix"
		}
		doc[key] = v6
	}
	p.load(path, doc)
	p.Subnets = append(p.Subnets, Subnet{Name: name, URL: wire.SelfBase + path, CIDR: cidr, IPv6CIDR: v6, IPv6Access: access})
}

func (p *planting) firewall(name, source string, allowed []any) {
	p.load("projects/"+p.NetworkProject+"/global/firewalls/"+name, wire.Object{
		"network": p.Network, "direction": "INGRESS", "priority": float64(65534), "sourceRanges": []any{source}, "allowed": allowed, "disabled": false,
		"logConfig": wire.Object{"enable": false},
	})
}

// node makes an instance and spreads instances over the zones.
func (p *planting) node(n int) {
	zone := p.Zones[n%len(p.Zones)]
	name := fmt.Sprintf("%s-node-%d", p.NodePrefix, n+1)
	ip := netip.AddrFrom4([4]byte{10, 128, byte((n + 10) >> 8), byte(n + 10)}).String()
	external := netip.AddrFrom4([4]byte{203, 0, byte(113 + (n+10)>>8), byte(n + 10)}).String()
	pods := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(8 + n>>8), byte(n), 0}), 24).String()
	tags := wire.Object{"items": []any{p.NodeTag}}
	tags["fingerprint"] = tags.Fingerprint()
	nic := wire.Object{
		"kind": "compute#networkInterface", "name": "nic0", "network": p.Network, "subnetwork": p.Subnets[0].URL, "networkIP": ip, "stackType": "IPV4_ONLY",
		"accessConfigs": []any{wire.Object{"kind": "compute#accessConfig", "name": "external-nat", "type": "ONE_TO_ONE_NAT", "natIP": external, "networkTier": "PREMIUM"}},
		"aliasIpRanges": []any{wire.Object{"ipCidrRange": pods, "subnetworkRangeName": p.ClusterID + "-pods"}},
	}
	nic["fingerprint"] = nic.Fingerprint()
	p.load("projects/"+p.Project+"/zones/"+zone+"/instances/"+name, wire.Object{
		"machineType": wire.SelfBase + "projects/" + p.Project + "/zones/" + zone + "/machineTypes/e2-standard-4", "status": "RUNNING", "canIpForward": true,
		"tags": tags, "networkInterfaces": []any{nic}, "labels": wire.Object{"cluster": p.ClusterID},
	})
	p.Nodes = append(p.Nodes, Node{Name: name, ProviderID: "gce://" + p.Project + "/" + zone + "/" + name, Zone: zone, InternalIP: ip, ExternalIP: external, PodCIDR: pods})
}
