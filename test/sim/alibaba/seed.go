package alibaba

import (
	"cmp"
	"encoding/base64"
	"fmt"

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
	// Pods is how many addresses for pods the interface of each instance has; default 5.
	Pods int
	// Users adds a load balancer with a server group that a user has created.
	Users bool
}

// VSwitch is a seeded vSwitch.
type VSwitch struct {
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
	// Pods are the addresses for pods, if their number was chosen.
	Pods []string `json:"pods,omitempty"`
}

// Seed is the world that the cloud began with. It is the same in every run with the same
// options, and a seeded node changes nothing else.
type Seed struct {
	Region    string `json:"region"`
	ClusterID string `json:"clusterId"`
	VPC       string `json:"vpc"`
	// VSwitches are those of the configuration. The first one has no free address.
	VSwitches []VSwitch `json:"vSwitches"`
	// Certificates are server certificates of CLB.
	Certificates [2]string `json:"certificates"`
	// Lists are access control lists: one with the entry 203.0.113.0/24, one with 10.0.0.0/8, and one
	// without entries.
	Lists [3]string `json:"lists"`
	Nodes []Node    `json:"nodes"`

	// Users and UsersGroup are the load balancer of the user and its server group.
	Users      string `json:"users,omitempty"`
	UsersGroup string `json:"usersGroup,omitempty"`
	// UsersNet, UsersNetGroup and UsersSecurity are a network load balancer of the user, a server group and a
	// security group that accepts every client.
	UsersNet      string `json:"usersNet,omitempty"`
	UsersNetGroup string `json:"usersNetGroup,omitempty"`
	UsersSecurity string `json:"usersSecurity,omitempty"`

	gates string
	pods  int // of each node; 0: podsOfNode
}

const (
	maxNodes     = 1000
	zones        = 3
	machineClass = "ecs.g7.xlarge"
)

type planting struct {
	Seed
	*state
}

func plantSeed(s *state, opt Options) (Seed, error) {
	if opt.Seed.Nodes < 0 || opt.Seed.Nodes > maxNodes {
		return Seed{}, fmt.Errorf("nodes %d: want 0 to %d", opt.Seed.Nodes, maxNodes)
	}
	if pods := opt.Seed.Pods; pods < 0 || pods*opt.Seed.Nodes > mostPods {
		return Seed{}, fmt.Errorf("pods %d on each of %d nodes: want 0 to %d addresses in all", pods, opt.Seed.Nodes, mostPods)
	}
	sim.Default(&opt.Seed.ClusterID, "berthdemo")
	p := &planting{state: s, Seed: Seed{gates: opt.Gates, pods: opt.Seed.Pods, Region: opt.Region, ClusterID: opt.Seed.ClusterID, VPC: "vpc-bp1" + hashOf("vpc")[:18]}}
	for n := range zones {
		v := VSwitch{ID: "vsw-bp1" + hashOf(fmt.Sprint("vswitch ", n))[:18], Zone: p.zone(n), CIDR: fmt.Sprintf("192.168.%d.0/24", n)}
		free := 200
		if n == 0 {
			free = 0
		}
		p.Put(vswitches, rest.Object{"id": v.ID, "ZoneId": v.Zone, "CidrBlock": v.CIDR, "VpcId": p.VPC, "AvailableIpAddressCount": free})
		p.VSwitches = append(p.VSwitches, v)
	}
	for n := range p.Certificates {
		p.Certificates[n] = p.Put(certificates, rest.Object{"id": "1234567890_" + hashOf(fmt.Sprint("certificate ", n))[:11]}).Text("id")
	}
	for n, entries := range [][]any{{"203.0.113.0/24"}, {"10.0.0.0/8"}, {}} {
		p.Lists[n] = p.Put(lists, rest.Object{"id": "acl-bp1" + hashOf(fmt.Sprint("list ", n))[:16], "entries": entries}).Text("id")
	}
	if opt.Seed.Users {
		p.Users = p.userBalancer(opt.Region, "users", "internet")
		p.UsersGroup = p.userGroup(p.Users, "users")
		p.plantNet()
	}
	for n := range opt.Seed.Nodes {
		p.node(n)
	}
	return p.Seed, nil
}

// plantNet adds the network load balancer of the user. Its identifiers do not count, so that the ones of later objects
// stay as they are.
func (p *planting) plantNet() {
	p.UsersNet = p.userNet(p.Region, "users")
	group := "sgp-" + hashOf("users server group")[:18]
	p.UsersNetGroup = p.Put(serverGroups, rest.Object{
		"id": group, "ServerGroupId": group, "ServerGroupName": "users", "ServerGroupStatus": available, "Protocol": "TCP", "ServerGroupType": "Instance", "AddressIPVersion": "ipv4", "AnyPortEnabled": false,
		"VpcId": p.VPC, "ResourceGroupId": "rg-acfdefault", "Scheduler": "Wrr", "HealthCheck": rest.Object{}, "Tags": []any{}, "servers": []any{},
	}).Text("id")
	security := "sg-bp1" + hashOf("users security group")[:18]
	p.UsersSecurity = p.Put(securityGroups, rest.Object{
		"id": security, "SecurityGroupId": security, "SecurityGroupName": "users", "Description": "", "VpcId": p.VPC, "SecurityGroupType": "normal", "ResourceGroupId": "rg-acfdefault", "Tags": []any{},
		"rules": []any{rest.Object{"SecurityGroupRuleId": "sgr-bp1" + hashOf("users rule")[:18], "Policy": "Accept", "IpProtocol": "ALL", "PortRange": "-1/-1", "SourceCidrIp": "0.0.0.0/0", "Priority": "1", "Description": "", "Direction": "ingress"}},
	}).Text("id")
}

const (
	// podsOfNode is how many pods each node has an address for by default.
	podsOfNode = 5
	// mostPods is how many addresses the network has for pods.
	mostPods = (256 - firstPods) * hostsOf
	// Addresses of pods begin in this third part, and each has so many hosts.
	firstPods, hostsOf = 64, 250
)

// PodAddress returns the address of a pod of a node, which a network interface of the node has by default.
func PodAddress(node, pod int) string { return podAddress(node*podsOfNode + pod) }

func podAddress(n int) string {
	return fmt.Sprintf("192.168.%d.%d", firstPods+n/hostsOf, n%hostsOf+1)
}

// PodAddress6 returns the IPv6 address of the first pod of a node.
func PodAddress6(node int) string { return fmt.Sprintf("2408:4005:1::%x", node+1) }

func (p *planting) zone(n int) string { return fmt.Sprintf("%s-%c", p.Region, 'h'+rune(n%zones)) }

func (p *planting) node(n int) {
	name := fmt.Sprintf("%s-node-%d", p.ClusterID, n+1)
	out := Node{Name: name, InstanceID: "i-bp1" + hashOf("instance " + name)[:17], InternalIP: fmt.Sprintf("192.168.%d.%d", 8*(n%zones)+8+n/zones/250, n/zones%250+1), Zone: p.zone(n)}
	out.ProviderID = p.Region + "." + out.InstanceID
	p.Put(instances, rest.Object{"id": out.InstanceID, "InstanceName": name, "ZoneId": out.Zone, "VpcId": p.VPC, "PrivateIpAddress": out.InternalIP})
	pods := cmp.Or(p.pods, podsOfNode)
	cards := []any{}
	for pod := range pods {
		cards = append(cards, podAddress(n*pods+pod))
		if p.pods > 0 {
			out.Pods = append(out.Pods, podAddress(n*pods+pod))
		}
	}
	p.Put(interfaces, rest.Object{"id": "eni-bp1" + hashOf("interface " + name)[:15], "InstanceId": out.InstanceID, "VpcId": p.VPC, "addresses": cards, "ipv6": []any{PodAddress6(n)}})
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

// CloudConf returns a configuration file of the official controller for the cloud at an address.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/config/cloud_config.go.
func (s Seed) CloudConf(url string) []byte {
	return fmt.Appendf(s.ConfWithoutKey(url), "  accessKeyID: %s\n  accessKeySecret: %s\n", encodeBase64(accessKeyID), encodeBase64(accessKeySecret))
}

func encodeBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// ConfWithoutKey returns the configuration file without an access key.
func (s Seed) ConfWithoutKey(url string) []byte {
	list := ""
	for _, v := range s.VSwitches {
		list += v.Zone + ":" + v.ID + ","
	}
	return fmt.Appendf(nil, `Global:
  region: %s
  clusterID: %s
  vpcid: %s
  vswitchid: "%s"
  featureGates: "%s"
  slbEndpoint: %s
  nlbEndpoint: %s
  ecsEndpoint: %s
  vpcEndpoint: %s
  stsEndpoint: %s
  quotasEndpoint: %s
`, s.Region, s.ClusterID, s.VPC, list[:len(list)-1], s.gates, url, url, url, url, url, url)
}

// WriteFiles writes seed.json, nodes.yaml and cloud.conf into a folder, which it creates if it does
// not exist.
func (c *Cloud) WriteFiles(dir, url string) error {
	return seed.Write(dir, struct {
		URL string `json:"url"`
		Seed
	}{url, c.Seed}, c.Seed.KubernetesNodes(), map[string][]byte{"cloud.conf": c.Seed.CloudConf(url)})
}
