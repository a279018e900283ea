package tencent

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
	"github.com/berth-lb/berth/test/sim/seed"
)

// SeedOptions says what the cloud begins with.
type SeedOptions struct {
	// ClusterID is the id of the cluster; default "cls-berthdemo".
	ClusterID string
	// Nodes is the number of instances, at most 1000; default none.
	Nodes int
	// Users adds a public load balancer that a user has created.
	Users bool
}

// Subnet is a seeded subnet.
type Subnet struct {
	ID   string `json:"id"`
	Zone string `json:"zone"`
	CIDR string `json:"cidr"`
}

// Node is a seeded instance and the Kubernetes node that runs on it.
type Node struct {
	Name       string `json:"name"`
	InstanceID string `json:"instanceId"`
	ProviderID string `json:"providerId"`
	InternalIP string `json:"internalIp"`
	Zone       string `json:"zone"`
}

// Seed is the world that the cloud began with. It is the same in every run with the same options,
// and a seeded node changes nothing else.
type Seed struct {
	Region    string `json:"region"`
	ClusterID string `json:"clusterId"`
	VPC       string `json:"vpc"`
	// Subnets are those of the VPC. The last one has no free address.
	Subnets        []Subnet  `json:"subnets"`
	SecurityGroups [2]string `json:"securityGroups"`
	Certificates   [2]string `json:"certificates"`
	Nodes          []Node    `json:"nodes"`
	// Users is the id of the load balancer of a user; empty: there is none.
	Users string `json:"users,omitempty"`
}

const (
	maxNodes     = 1000
	zones        = 3
	machineClass = "S5.LARGE8"
)

type planting struct {
	Seed
	*state
}

func plantSeed(s *state, opt Options) (Seed, error) {
	if opt.Seed.Nodes < 0 || opt.Seed.Nodes > maxNodes {
		return Seed{}, fmt.Errorf("nodes %d: want 0 to %d", opt.Seed.Nodes, maxNodes)
	}
	sim.Default(&opt.Seed.ClusterID, "cls-berthdemo")
	p := &planting{state: s, Seed: Seed{Region: opt.Region, ClusterID: opt.Seed.ClusterID, VPC: "vpc-" + hashOf("vpc")[:8]}}
	for n, id := range []string{"subnet-k57djpow", "subnet-" + hashOf("subnet 1")[:8], "subnet-" + hashOf("subnet 2")[:8]} {
		one := Subnet{ID: id, Zone: p.zone(n), CIDR: fmt.Sprintf("10.0.%d.0/24", n)}
		free := 200
		if n == zones-1 {
			free = 0
		}
		p.Put(subnets, rest.Object{"id": one.ID, "Zone": one.Zone, "CidrBlock": one.CIDR, "VpcId": p.VPC, "AvailableIpAddressCount": free})
		p.Subnets = append(p.Subnets, one)
	}
	for n := range p.SecurityGroups {
		p.SecurityGroups[n] = p.Put(groups, rest.Object{"id": "sg-" + hashOf(fmt.Sprint("group ", n))[:8]}).Text("id")
		p.Certificates[n] = p.Put(certificates, rest.Object{"id": hashOf(fmt.Sprint("certificate ", n))[:8]}).Text("id")
	}
	for n := range opt.Seed.Nodes {
		p.node(n)
	}
	if opt.Seed.Users {
		p.Users = p.Put(balancers, handMade("lb-6swtxxxx", p.Region, p.VPC, "119.30.1.1", "2026-01-05 08:00:00")).Text("id")
	}
	return p.Seed, nil
}

func (p *planting) zone(n int) string { return fmt.Sprintf("%s-%d", p.Region, n%zones+3) }

func (p *planting) node(n int) {
	name := fmt.Sprintf("%s-node-%d", p.ClusterID, n+1)
	out := Node{Name: name, InstanceID: "ins-" + hashOf("instance " + name)[:8], InternalIP: fmt.Sprintf("10.0.%d.%d", 8*(n%zones)+8+n/zones/250, n/zones%250+1), Zone: p.zone(n)}
	out.ProviderID = fmt.Sprintf("qcloud:///%d/%s", 100003+n%zones, out.InstanceID)
	p.Put(instances, rest.Object{"id": out.InstanceID, "InstanceName": name, "Zone": out.Zone, "VpcId": p.VPC, "PrivateIpAddress": out.InternalIP})
	p.Nodes = append(p.Nodes, out)
}

// KubernetesNodes returns the Node objects of the seeded instances.
func (s Seed) KubernetesNodes() []corev1.Node {
	out := make([]corev1.Node, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		out = append(out, seed.Machine{
			Name: n.Name, Region: s.Region, Zone: n.Zone, Size: machineClass, Spec: corev1.NodeSpec{ProviderID: n.ProviderID},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.InternalIP}},
		}.Node())
	}
	return out
}

// NodesYAML returns the Node manifests as one YAML stream.
func (s Seed) NodesYAML() ([]byte, error) { return seed.Manifests(s.KubernetesNodes()) }

// CloudConf returns a configuration file for the cloud at an address.
// Source: TencentCloud/tencentcloud-cloud-controller-manager:tencentcloud/cloud.go.
func (s Seed) CloudConf(url string) []byte {
	text, err := json.MarshalIndent(map[string]string{
		"region": s.Region, "vpc_id": s.VPC, "secret_id": secretID, "secret_key": secretKey, "cluster_id": s.ClusterID, "endpoint": url,
	}, "", "  ")
	if err != nil {
		return nil // texts are always encoded
	}
	return text
}

// WriteFiles writes seed.json, nodes.yaml and cloud.conf into a folder, which it creates if it does
// not exist.
func (c *Cloud) WriteFiles(dir, url string) error {
	return seed.Write(dir, struct {
		URL string `json:"url"`
		Seed
	}{url, c.Seed}, c.Seed.KubernetesNodes(), map[string][]byte{"cloud.conf": c.Seed.CloudConf(url)})
}
