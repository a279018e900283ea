package aws

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/aws/ec2"
	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
)

// SeedOptions says what the cloud begins with.
type SeedOptions struct {
	// ClusterID is the id in the cluster tags, default "berth-demo".
	ClusterID string
	// Nodes is the number of instances, at most 12000; default none.
	Nodes int
	// Addresses is the number of elastic IP addresses; default 6.
	Addresses int
	// Pods is the number of further addresses that the interface of each instance has, as
	// the plugin of Amazon's network gives them to pods; default none.
	Pods int
}

// Subnet is a seeded subnet.
type Subnet struct {
	ID     string `json:"id"`
	Zone   string `json:"zone"`
	CIDR   string `json:"cidr"`
	Public bool   `json:"public"`
}

// Node is a seeded instance and the Kubernetes node that runs on it.
type Node struct {
	Name       string `json:"name"`
	InstanceID string `json:"instanceId"`
	ProviderID string `json:"providerId"`
	Zone       string `json:"zone"`
	Subnet     string `json:"subnet"`
	PrivateIP  string `json:"privateIp"`
	// Pods are the further addresses of its interface.
	Pods []string `json:"pods,omitempty"`
}

// Address is a seeded elastic IP address.
type Address struct {
	AllocationID string `json:"allocationId"`
	PublicIP     string `json:"publicIp"`
}

// Seed is the world that the cloud began with. All ids are the same in every
// run with the same options, and adding nodes changes no other id.
type Seed struct {
	Region    string   `json:"region"`
	Account   string   `json:"account"`
	ClusterID string   `json:"clusterId"`
	Zones     []string `json:"zones"`
	VPC       string   `json:"vpc"`
	CIDR      string   `json:"cidr"`
	IPv6CIDR  string   `json:"ipv6Cidr"`
	// Subnets are the public ones in the order of the zones, then the private ones.
	Subnets          []Subnet  `json:"subnets"`
	InternetGateway  string    `json:"internetGateway"`
	MainRouteTable   string    `json:"mainRouteTable"`
	PublicRouteTable string    `json:"publicRouteTable"`
	DefaultGroup     string    `json:"defaultGroup"`
	NodeGroup        string    `json:"nodeGroup"`
	Nodes            []Node    `json:"nodes"`
	Addresses        []Address `json:"addresses"`
	PrefixList       string    `json:"prefixList"`
	// Certificates are the ARNs of the certificates that load balancers can use.
	Certificates []string `json:"certificates"`
}

// PublicSubnets gives the ids of the public subnets in the order of the zones.
func (s Seed) PublicSubnets() []string { return s.subnets(true) }

// PrivateSubnets gives the ids of the private subnets in the order of the zones.
func (s Seed) PrivateSubnets() []string { return s.subnets(false) }

func (s Seed) subnets(public bool) []string {
	var out []string
	for _, n := range s.Subnets {
		if n.Public == public {
			out = append(out, n.ID)
		}
	}
	return out
}

// InstanceIDs gives the ids of the instances in the order of the nodes.
func (s Seed) InstanceIDs() []string {
	out := make([]string, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		out = append(out, n.InstanceID)
	}
	return out
}

const maxNodes = 12000

// lastAddress is the last one of a private subnet that is free, counted from its first.
const lastAddress = 4090

// seeding builds the seed and the EC2 objects side by side.
type seeding struct {
	Seed
	world ec2.World
	born  time.Time
	zones []ec2.Zone
}

func buildSeed(opt Options) (Seed, ec2.World, error) {
	if opt.Seed.Nodes < 0 || opt.Seed.Nodes > maxNodes {
		return Seed{}, ec2.World{}, fmt.Errorf("nodes %d: want 0 to %d", opt.Seed.Nodes, maxNodes)
	}
	if pods := opt.Seed.Pods; pods < 0 || pods > 0 && opt.Seed.Nodes*(1+pods) > maxNodes {
		return Seed{}, ec2.World{}, fmt.Errorf("pods %d on each of %d nodes: want 0 to %d addresses in all", pods, opt.Seed.Nodes, maxNodes)
	}
	b := &seeding{born: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), zones: opt.EC2.Zones}
	if len(b.zones) == 0 {
		b.zones = ec2.DefaultZones(opt.Region)
	}
	b.Region, b.Account, b.ClusterID = opt.Region, opt.Account, opt.Seed.ClusterID
	b.Certificates = Certificates(opt.Region, opt.Account)
	sim.Default(&b.ClusterID, "berth-demo")
	b.world.Tags = map[string]ec2.Tags{}
	b.network()
	b.subnets()
	b.groups()
	b.nodes(opt.Seed.Nodes, opt.Seed.Pods)
	count := opt.Seed.Addresses
	if count == 0 {
		count = 6
	}
	b.addresses(count)
	return b.Seed, b.world, nil
}

func (b *seeding) clusterTag() string { return "kubernetes.io/cluster/" + b.ClusterID }

func (b *seeding) tag(id, name string, more ec2.Tags) {
	tags := ec2.Tags{"Name": b.ClusterID + "-" + name}
	for k, v := range more {
		tags[k] = v
	}
	b.world.Tags[id] = tags
}

// network makes the VPC, its way out and its route tables. The VPC is the
// default one, so that calls that leave the VPC out work as in a new account.
func (b *seeding) network() {
	b.VPC, b.CIDR, b.IPv6CIDR = ec2.ID("vpc", "seed"), "10.0.0.0/16", "2600:1f18:1234:5600::/56"
	b.InternetGateway = ec2.ID("igw", "seed")
	b.MainRouteTable, b.PublicRouteTable = ec2.ID("rtb", "seed-main"), ec2.ID("rtb", "seed-public")
	b.PrefixList = ec2.ID("pl", "amazon-s3")
	b.world.PrefixLists = []ec2.PrefixList{{ID: b.PrefixList, MaxEntries: 2}}
	b.world.VPCs = []ec2.VPC{{ID: b.VPC, CIDR: b.CIDR, IPv6CIDR: b.IPv6CIDR, Default: true}}
	b.world.RouteTables = []ec2.RouteTable{
		{ID: b.MainRouteTable, VPC: b.VPC, Associations: []ec2.Association{{ID: ec2.ID("rtbassoc", "seed-main"), Main: true}}},
		{ID: b.PublicRouteTable, VPC: b.VPC, Routes: []ec2.Route{
			{CIDR: "0.0.0.0/0", Gateway: b.InternetGateway, Origin: "CreateRoute"},
			{IPv6CIDR: "::/0", Gateway: b.InternetGateway, Origin: "CreateRoute"},
		}},
	}
	b.tag(b.VPC, "vpc", ec2.Tags{b.clusterTag(): "shared"})
	b.tag(b.MainRouteTable, "private", nil)
	b.tag(b.PublicRouteTable, "public", nil)
}

func (b *seeding) subnets() {
	for _, z := range b.zones {
		b.Zones = append(b.Zones, z.Name)
	}
	for half, kind := range []string{"public", "private"} {
		public := kind == "public"
		role := "kubernetes.io/role/internal-elb"
		if public {
			role = "kubernetes.io/role/elb"
		}
		for n, z := range b.zones {
			letter := strings.TrimPrefix(z.Name, b.Region)
			cidr := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(half<<7 | n<<4), 0}), 20).String()
			v6 := netip.PrefixFrom(netip.AddrFrom16([16]byte{0x26, 0x00, 0x1f, 0x18, 0x12, 0x34, 0x56, byte(half<<7 | n)}), 64).String()
			s := ec2.Subnet{ID: ec2.ID("subnet", "seed-"+kind+"-"+letter), VPC: b.VPC, Zone: z.Name, CIDR: cidr, IPv6CIDR: v6, PublicIPOnLaunch: public, DefaultForZone: public}
			b.world.Subnets = append(b.world.Subnets, s)
			b.Subnets = append(b.Subnets, Subnet{ID: s.ID, Zone: z.Name, CIDR: cidr, Public: public})
			b.tag(s.ID, kind+"-"+letter, ec2.Tags{b.clusterTag(): "shared", role: "1"})
			if public {
				t := &b.world.RouteTables[1]
				t.Associations = append(t.Associations, ec2.Association{ID: ec2.ID("rtbassoc", "seed-"+letter), Subnet: s.ID})
			}
		}
	}
}

func (b *seeding) groups() {
	b.DefaultGroup, b.NodeGroup = ec2.ID("sg", "seed-default"), ec2.ID("sg", "seed-nodes")
	group := func(id, name, description string) ec2.Group {
		return ec2.Group{
			ID: id, Name: name, Description: description, VPC: b.VPC, Created: b.born,
			Ingress: []ec2.Rule{{ID: ec2.ID("sgr", "seed-self-"+name), Protocol: "-1", Group: id}},
			Egress: []ec2.Rule{
				{ID: ec2.ID("sgr", "seed-out-"+name), Protocol: "-1", CIDR: "0.0.0.0/0"},
				{ID: ec2.ID("sgr", "seed-out6-"+name), Protocol: "-1", IPv6CIDR: "::/0"},
			},
		}
	}
	b.world.Groups = []ec2.Group{
		group(b.DefaultGroup, "default", "default VPC security group"),
		group(b.NodeGroup, b.ClusterID+"-nodes", "Kubernetes nodes of "+b.ClusterID),
	}
	b.tag(b.NodeGroup, "nodes", ec2.Tags{b.clusterTag(): "owned"})
}

// nodes spreads the instances over the private subnets.
func (b *seeding) nodes(count, pods int) {
	private := b.PrivateSubnets()
	for n := range count {
		at := n % len(private)
		zone := b.zones[at].Name
		address := func(offset int) string {
			return netip.AddrFrom4([4]byte{10, 0, byte(128 + at<<4 + offset>>8), byte(offset)}).String()
		}
		ip := address(10 + n/len(private))
		var further []string
		for p := range pods {
			further = append(further, address(lastAddress-n/len(private)*pods-p)) // from the end of the subnet
		}
		id, key := ec2.ID("i", fmt.Sprintf("seed-%d", n+1)), fmt.Sprintf("node-%d", n+1)
		b.world.Instances = append(b.world.Instances, ec2.Instance{
			ID: id, Reservation: ec2.ID("r", "seed-"+key), Image: ec2.ID("ami", "seed"), Type: "m5.large", VPC: b.VPC, Subnet: private[at],
			Zone: zone, PrivateIP: ip, State: "running", Launched: b.born,
		})
		eni := ec2.Interface{
			ID: ec2.ID("eni", "seed-"+key), VPC: b.VPC, Subnet: private[at], Zone: zone, Groups: []string{b.NodeGroup}, IPs: append([]string{ip}, further...),
			Instance: id, DeleteOnTermination: true, Attached: b.born,
		}
		eni.MAC = ec2.MAC(eni.ID)
		b.world.Interfaces = append(b.world.Interfaces, eni)
		b.tag(id, key, ec2.Tags{b.clusterTag(): "owned"})
		b.tag(eni.ID, key, ec2.Tags{b.clusterTag(): "owned"})
		b.Nodes = append(b.Nodes, Node{
			Name: ec2.PrivateDNS(b.Region, ip), InstanceID: id, ProviderID: "aws:///" + zone + "/" + id, Zone: zone, Subnet: private[at], PrivateIP: ip, Pods: further,
		})
	}
}

// Certificates returns the ARNs of an account's certificates in a region: a dozen of ACM and
// one of IAM.
func Certificates(region, account string) []string {
	partition := lbkit.Partition(region)
	var out []string
	for n := range 12 {
		out = append(out, fmt.Sprintf("arn:%s:acm:%s:%s:certificate/0a1b2c3d-0000-4000-8000-%012x", partition, region, account, n+1))
	}
	return append(out, fmt.Sprintf("arn:%s:iam::%s:server-certificate/shop", partition, account))
}

func (b *seeding) addresses(count int) {
	for n := range count {
		d := ec2.Address{ID: ec2.ID("eipalloc", fmt.Sprintf("seed-%d", n+1)), PublicIP: fmt.Sprintf("198.18.0.%d", n+10)}
		b.world.Addresses = append(b.world.Addresses, d)
		b.Addresses = append(b.Addresses, Address{d.ID, d.PublicIP})
		b.tag(d.ID, fmt.Sprintf("address-%d", n+1), nil)
	}
}
