package baidu

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
	// ClusterID is the id of the cluster; default "cce-berthdemo".
	ClusterID string
	// Nodes is the number of instances, at most 1000; default none.
	Nodes int
	// Users adds an application load balancer that a user has created.
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
	Region    string   `json:"region"`
	ClusterID string   `json:"clusterId"`
	VPC       string   `json:"vpc"`
	Subnets   []Subnet `json:"subnets"` // those of the VPC
	Nodes     []Node   `json:"nodes"`
	Users     string   `json:"users,omitempty"` // id of the load balancer of a user
}

const (
	maxNodes     = 1000
	zones        = 3
	machineClass = "bcc.g5.c2m8"
)

type planting struct {
	Seed
	*state
}

func plantSeed(s *state, opt Options) (Seed, error) {
	if opt.Seed.Nodes < 0 || opt.Seed.Nodes > maxNodes {
		return Seed{}, fmt.Errorf("nodes %d: want 0 to %d", opt.Seed.Nodes, maxNodes)
	}
	sim.Default(&opt.Seed.ClusterID, "cce-berthdemo")
	p := &planting{state: s, Seed: Seed{Region: opt.Region, ClusterID: opt.Seed.ClusterID, VPC: "vpc-" + hashOf("vpc")[:8]}}
	for n := range zones {
		one := Subnet{ID: "sbn-" + hashOf(fmt.Sprint("subnet ", n))[:12], Zone: p.zone(n), CIDR: fmt.Sprintf("192.168.%d.0/24", n)}
		p.Put(subnets, rest.Object{"id": one.ID, "zoneName": one.Zone, "cidr": one.CIDR, "vpcId": p.VPC, "subnetType": "BCC"})
		p.Subnets = append(p.Subnets, one)
	}
	for n := range opt.Seed.Nodes {
		p.node(n)
	}
	if opt.Seed.Users {
		p.user()
	}
	return p.Seed, nil
}

// userBalancer is the id of the load balancer of a user, which the examples name.
const userBalancer = "lb-2c3c5a4f"

func (p *planting) user() {
	p.Users = userBalancer
	p.Put(balancers, rest.Object{
		"id": userBalancer, "blbId": userBalancer, "name": "by-hand", "desc": "", "address": p.address(10), "status": available, "vpcId": p.VPC, "subnetId": p.Subnets[0].ID, "publicIp": "",
		"tags": []any{}, "allowDelete": true, kindOf: app, family: "", "servers": []any{},
	})
}

func (p *planting) zone(n int) string { return fmt.Sprintf("cn-%s-%c", p.Region, 'a'+n%zones) }

func (p *planting) node(n int) {
	name := fmt.Sprintf("%s-node-%d", p.ClusterID, n+1)
	out := Node{Name: name, InstanceID: "i-" + hashOf("instance " + name)[:8], InternalIP: fmt.Sprintf("192.168.%d.%d", 8*(n%zones)+8+n/zones/250, n/zones%250+1), Zone: p.zone(n)}
	out.ProviderID = "cce://" + out.InstanceID
	p.Put(instances, rest.Object{"id": out.InstanceID, "name": name, "zoneName": out.Zone, "vpcId": p.VPC, "internalIp": out.InternalIP})
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
// Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/cloud.go.
func (s Seed) CloudConf(url string) []byte {
	text, err := json.MarshalIndent(map[string]string{
		"Region": s.Region, "ClusterId": s.ClusterID, "VpcId": s.VPC, "SubnetId": s.Subnets[0].ID, "AccessKeyID": accessKey, "SecretAccessKey": secretKey, "APIEndpoint": url,
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
