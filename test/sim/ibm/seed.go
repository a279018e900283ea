package ibm

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
	"github.com/berth-lb/berth/test/sim/seed"
)

// SeedOptions says what the cloud begins with.
type SeedOptions struct {
	// ClusterID is the id of the cluster; default "berthdemo".
	ClusterID string
	// Nodes is the number of instances, at most 1000; default none.
	Nodes int
	// NoNodeGroup leaves out the security group of the nodes, which only clusters that IBM manages have.
	NoNodeGroup bool
}

// Subnet is a seeded subnet.
type Subnet struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	CIDR string `json:"cidr"`
	Zone string `json:"zone"`
}

// Node is a seeded instance and the Kubernetes node that runs on it.
type Node struct {
	Name       string `json:"name"`
	InstanceID string `json:"instanceId"`
	ProviderID string `json:"providerId"`
	InternalIP string `json:"internalIp"`
	Zone       string `json:"zone"`
	SubnetID   string `json:"subnetId"`
}

// Seed is the world that the cloud began with. It is the same in every run with the same
// options, and a seeded node changes nothing else.
type Seed struct {
	Region        string `json:"region"`
	Account       string `json:"account"`
	ClusterID     string `json:"clusterId"`
	ResourceGroup string `json:"resourceGroup"`
	VPC           string `json:"vpc"`
	VPCName       string `json:"vpcName"`
	// Subnets are those of the cluster, one per zone.
	Subnets []Subnet `json:"subnets"`
	// Separate are subnets of the VPC that the configuration does not name. The name of the
	// first one is the beginning of that of a subnet of the cluster.
	Separate []Subnet `json:"separate"`
	// Foreign is a subnet of another VPC.
	Foreign Subnet `json:"foreign"`
	// Groups are security groups of the VPC that Services can name.
	Groups [2]string `json:"groups"`
	// NodeGroup is the security group of the nodes; empty: there is none.
	NodeGroup string `json:"nodeGroup"`
	Nodes     []Node `json:"nodes"`
}

const (
	accountID = "accf00dbabe0123456789abcdef01234"
	apiKey    = "simulated-api-key"
	maxNodes  = 1000
	zones     = 3
	// machineProfile is that of the instances.
	machineProfile = "bx2-4x16"
)

type planting struct {
	Seed
	*state
}

func plantSeed(s *state, opt Options) (Seed, error) {
	if opt.Seed.Nodes < 0 || opt.Seed.Nodes > maxNodes {
		return Seed{}, fmt.Errorf("nodes %d: want 0 to %d", opt.Seed.Nodes, maxNodes)
	}
	sim.Default(&opt.Seed.ClusterID, "berthdemo")
	p := &planting{state: s, Seed: Seed{Region: opt.Region, Account: accountID, ClusterID: opt.Seed.ClusterID, ResourceGroup: "berth", VPCName: opt.Seed.ClusterID + "-vpc"}}
	p.Put(resourceGroups, rest.Object{"id": strings.ReplaceAll(idOf("group berth")[5:], "-", ""), "name": p.ResourceGroup, "state": "ACTIVE", "account_id": accountID})
	p.VPC = p.network(p.VPCName)
	other := p.network("other-vpc")
	for n := range zones {
		p.Subnets = append(p.Subnets, p.subnet(p.VPC, fmt.Sprintf("%s-subnet-%d0", p.ClusterID, n+1), n, fmt.Sprintf("10.240.%d.0/22", 64*n)))
		p.Separate = append(p.Separate, p.subnet(p.VPC, fmt.Sprintf("%s-subnet-%d", p.ClusterID, n+1), n, fmt.Sprintf("10.240.%d.0/24", 64*n+32)))
	}
	p.Foreign = p.subnet(other, "other-subnet", 0, "10.250.0.0/24")
	for n, name := range []string{"web", "internal"} {
		p.Groups[n] = p.group(p.VPC, p.VPCName, name)
	}
	if !opt.Seed.NoNodeGroup {
		p.NodeGroup = p.group(p.VPC, p.VPCName, "kube-"+p.ClusterID)
	}
	for n := range opt.Seed.Nodes {
		p.node(n)
	}
	return p.Seed, nil
}

func (p *planting) network(name string) string {
	id := idOf("vpc " + name)
	first := p.group(id, name, "default-of-"+name)
	return p.Put(vpcs, rest.Object{"id": id, "name": name, "status": "available", "default_security_group": rest.Object{"id": first}}).Text("id")
}

func (p *planting) group(vpc, vpcName, name string) string {
	id := idOf("security group " + name)
	return p.Put(groups, rest.Object{
		"id": id, "name": name, "vpc": p.ref("vpc", vpc).With(rest.Object{"name": vpcName}), "crn": crnOf("security-group", id), "href": hrefOf("security_groups", id),
		"created_at": "2026-01-01T00:00:00.000Z", "resource_group": p.resourceGroup(),
	}).Text("id")
}

// resourceGroup returns a reference to the resource group.
func (p *planting) resourceGroup() rest.Object {
	g := p.All(resourceGroups, nil)[0]
	return resourceGroupRef(g.Text("id"), g.Text("name"))
}

// ref returns a reference to a thing by its kind and id.
func (p *planting) ref(kind, id string) rest.Object {
	return rest.Object{"id": id, "crn": crnOf(kind, id), "href": hrefOf(kind+"s", id), "resource_type": kind}
}

func crnOf(kind, id string) string {
	return "crn:v1:bluemix:public:is:eu-de:a/" + accountID + "::" + kind + ":" + id
}

func hrefOf(collection, id string) string {
	return "https://eu-de.iaas.cloud.ibm.com/v1/" + collection + "/" + id
}

func (p *planting) zone(n int) string { return fmt.Sprintf("%s-%d", p.Region, n%zones+1) }

func (p *planting) subnet(vpc, name string, zone int, cidr string) Subnet {
	out := Subnet{ID: idOf("subnet " + name), Name: name, CIDR: cidr, Zone: p.zone(zone)}
	net, _ := p.Get(vpcs, vpc)
	p.Put(subnets, p.ref("subnet", out.ID).With(rest.Object{
		"name": name, "ipv4_cidr_block": cidr, "ip_version": "ipv4", "status": "available", "zone": rest.Object{"name": out.Zone, "href": hrefOf("regions/"+p.Region+"/zones", out.Zone)},
		"vpc": p.ref("vpc", vpc).With(rest.Object{"name": net.Text("name")}), "available_ipv4_address_count": 200, "total_ipv4_address_count": 256, "created_at": "2026-01-01T00:00:00.000Z",
	}))
	return out
}

// node creates an instance. The third part of its address counts from 0 in the subnet of its zone.
func (p *planting) node(n int) {
	sub := p.Subnets[n%zones]
	base := netip.MustParsePrefix(sub.CIDR).Addr().As4()
	at := n/zones + 10
	address := netip.AddrFrom4([4]byte{base[0], base[1], base[2] + byte(at/250), byte(at % 250)}).String()
	name := fmt.Sprintf("%s-node-%d", p.ClusterID, n+1)
	out := Node{Name: name, InstanceID: idOf("instance " + name), InternalIP: address, Zone: sub.Zone, SubnetID: sub.ID}
	out.ProviderID = "ibm://" + accountID + "///" + p.ClusterID + "/" + out.InstanceID
	p.Put(instances, p.ref("instance", out.InstanceID).With(rest.Object{
		"name": name, "zone": rest.Object{"name": sub.Zone}, "profile": rest.Object{"name": machineProfile}, "status": "running",
		"vpc":                       rest.Object{"id": p.VPC, "name": p.VPCName},
		"primary_network_interface": rest.Object{"primary_ip": rest.Object{"address": address}, "subnet": rest.Object{"id": sub.ID}},
	}))
	p.Nodes = append(p.Nodes, out)
}

// KubernetesNodes returns the Node objects of the seeded instances.
// Source: IBM-Cloud/cloud-provider-ibm, labels of workers.
func (s Seed) KubernetesNodes() []corev1.Node {
	out := make([]corev1.Node, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		node := seed.Machine{
			Name: n.Name, Region: s.Region, Zone: n.Zone, Size: machineProfile, Spec: corev1.NodeSpec{ProviderID: n.ProviderID},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.InternalIP}},
		}.Node()
		node.Labels["ibm-cloud.kubernetes.io/zone"] = n.Zone
		node.Labels["ibm-cloud.kubernetes.io/internal-ip"] = n.InternalIP
		node.Labels["ibm-cloud.kubernetes.io/instance-id"] = n.InstanceID
		out = append(out, node)
	}
	return out
}

// NodesYAML returns the Node manifests as one YAML stream.
func (s Seed) NodesYAML() ([]byte, error) { return seed.Manifests(s.KubernetesNodes()) }

// CloudConf returns a configuration file of the official controller for the cloud at an
// address, with the path of the file that has the API key.
// Source: IBM-Cloud/cloud-provider-ibm:ibm/ibm.go (CloudConfig).
func (s Seed) CloudConf(url, keyFile string) []byte {
	names := make([]string, 0, len(s.Subnets))
	for _, sub := range s.Subnets {
		names = append(names, sub.Name)
	}
	return fmt.Appendf(nil, `[global]
version = 1.1.0
[kubernetes]
config-file = ""
[provider]
cluster-default-provider = g2
accountID = %s
clusterID = %s
region = %s
g2workerServiceAccountID = %s
g2Credentials = %s
g2ResourceGroupName = %s
g2VpcName = %s
g2VpcSubnetNames = %s
g2EndpointOverride = %s
iamEndpointOverride = %s
rmEndpointOverride = %s
`, s.Account, s.ClusterID, s.Region, s.Account, keyFile, s.ResourceGroup, s.VPCName, strings.Join(names, ","), url, url, url)
}

// APIKey returns the API key that the cloud knows.
func (s Seed) APIKey() string { return apiKey }

// WriteFiles writes seed.json, nodes.yaml, api-key and cloud.conf into a folder, which it
// creates if it does not exist.
func (c *Cloud) WriteFiles(dir, url string) error {
	return seed.Write(dir, struct {
		URL string `json:"url"`
		Seed
	}{url, c.Seed}, c.Seed.KubernetesNodes(), map[string][]byte{"api-key": []byte(apiKey), "cloud.conf": c.Seed.CloudConf(url, dir+"/api-key")})
}
