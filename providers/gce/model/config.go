package model

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	gcfg "gopkg.in/gcfg.v1"

	"github.com/berth-lb/berth/annotations"
)

// Config is the official cloud configuration file, as far as load balancers need
// it, and what the environment adds to it. The zero value is a file that says
// nothing.
type Config struct {
	Project        string // id or number; empty: ask the metadata server
	NetworkProject string // host project of a shared VPC; empty: Project
	Network        string // name, path or URL; completed to a path with project
	Subnet         string // name, path or URL; completed to a path with project; may stay empty
	Region         string // completed from Zone
	Zone           string // local zone; empty: ask the metadata server
	Multizone      bool   // all zones of the region are managed, not only the local one
	NodeTags       []string
	NodePrefix     string // filter for the names of instances
	APIEndpoint    string // base URL of the compute API, with /compute/v1/
	Universe       string // domain of the APIs; empty: that of the credentials, see wire.Open
	TokenURL       string // "": metadata server, "nil": Application Default Credentials
	TokenBody      string
	Subsetting     bool // alpha feature ILBSubsets: new internal Services get endpoint groups
	KeepGroups     bool // alpha feature SkipIGsManagement: instance groups are managed by another tool

	Identity
	Options
}

// Identity tells clusters of one project apart. The file may set it; else it is
// read from the cluster when the connection is opened.
type Identity struct {
	ClusterID  string // ConfigMap kube-system/ingress-uid: provider-uid, else uid
	ClusterUID string // the same ConfigMap: uid
	SystemUID  string // UID of the namespace kube-system
}

// Options are what the official controllers take as flags, in the file's section
// berth. Defaults are those of the flags unless said otherwise.
type Options struct {
	NetLBDefault   bool     // new external Services without a class get backend services
	NetLBNEG       bool     // new ones of those get endpoint groups, not instance groups
	DenyFirewall   bool     // a firewall closes what the Service does not open
	NoFirewall     bool     // no firewalls for clients
	DiscretePorts  bool     // rules of up to five ports list them
	L3Rules        bool     // external mixed protocols get one rule for all of IP
	NoPinhole      bool     // firewalls of newer kinds do not name the load balancer's IP
	CheckRanges    []string // IPv4 ranges that health checks come from
	LegacyOutputs  bool     // older kinds write their annotations
	MultiSubnet    bool     // nodes of other subnets get endpoint groups of their own
	ZonalAffinity  bool     // internal Services may keep traffic in the client's zone
	NodesPerSubset int      // endpoints of an internal Service with policy Cluster; 0: as ingress-gce
}

// configFile is the file as the reader library fills it in. Section and key names
// ignore case, and a hyphen is not written in Go; see its tags.
type configFile struct {
	Global struct {
		TokenURL             string   `gcfg:"token-url"`
		TokenBody            string   `gcfg:"token-body"`
		ProjectID            string   `gcfg:"project-id"`
		NetworkProjectID     string   `gcfg:"network-project-id"`
		NetworkName          string   `gcfg:"network-name"`
		SubnetworkName       string   `gcfg:"subnetwork-name"`
		StackType            string   `gcfg:"stack-type"`
		SecondaryRangeName   string   `gcfg:"secondary-range-name"`
		NodeTags             []string `gcfg:"node-tags"`
		NodeInstancePrefix   string   `gcfg:"node-instance-prefix"`
		Regional             bool     `gcfg:"regional"`
		Multizone            bool     `gcfg:"multizone"`
		APIEndpoint          string   `gcfg:"api-endpoint"`
		ContainerAPIEndpoint string   `gcfg:"container-api-endpoint"`
		LocalZone            string   `gcfg:"local-zone"`
		AlphaFeatures        []string `gcfg:"alpha-features"`
	}
	Berth struct {
		ClusterID      string   `gcfg:"cluster-id"`
		ClusterUID     string   `gcfg:"cluster-uid"`
		SystemUID      string   `gcfg:"kube-system-uid"`
		NetLBDefault   bool     `gcfg:"enable-rbs-default-l4-netlb"`
		NetLBNEG       bool     `gcfg:"enable-l4-netlb-neg-default"`
		DenyFirewall   bool     `gcfg:"enable-l4-deny-firewall"`
		NoFirewall     bool     `gcfg:"disable-l4-lb-fw"`
		DiscretePorts  bool     `gcfg:"enable-discrete-port-forwarding"`
		L3Rules        bool     `gcfg:"enable-l3-default-forwarding-rule-for-netlb-mixed-protocol"`
		Pinhole        *bool    `gcfg:"enable-pinhole"`
		CheckRanges    []string `gcfg:"cloud-provider-gce-lb-src-cidrs"`
		LegacyOutputs  bool     `gcfg:"enable-l4-lb-annotations"`
		MultiSubnet    bool     `gcfg:"enable-multi-subnet-cluster"`
		NodesPerSubset int      `gcfg:"ilb-subset-size"`
		ZonalAffinity  bool     `gcfg:"enable-l4ilb-zonal-affinity"`
		Universe       string   `gcfg:"universe-domain"`
	}
}

// Names of alpha features that have an effect here.
const (
	featureSubsets  = "ILBSubsets"
	featureNoGroups = "SkipIGsManagement"
)

// ReadConfig reads the official cloud configuration; a nil reader is no file.
// Unknown keys, and keys that have no effect here, come as warnings; a value
// that cannot be read is an error, as it is for the official controller.
func ReadConfig(r io.Reader) (Config, annotations.Problems, error) {
	var file configFile
	var text []byte
	if r != nil {
		var err error
		if text, err = io.ReadAll(r); err != nil {
			return Config{}, nil, fmt.Errorf("cloud config: %w", err)
		}
		if err := gcfg.FatalOnly(gcfg.ReadInto(&file, bytes.NewReader(text))); err != nil {
			return Config{}, nil, fmt.Errorf("cloud config: %w", err)
		}
	}
	c, err := file.config()
	if err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	return c, append(unknownKeys(text), file.odd()...), nil
}

func (f *configFile) config() (Config, error) {
	g, b := f.Global, f.Berth
	c := Config{
		Project: g.ProjectID, NetworkProject: g.NetworkProjectID, Network: g.NetworkName, Subnet: g.SubnetworkName,
		Zone: g.LocalZone, Multizone: g.Regional || g.Multizone, NodePrefix: g.NodeInstancePrefix,
		NodeTags: sortedSet(g.NodeTags), APIEndpoint: g.APIEndpoint, Universe: b.Universe, TokenURL: g.TokenURL, TokenBody: g.TokenBody,
		Subsetting: slices.Contains(g.AlphaFeatures, featureSubsets), KeepGroups: slices.Contains(g.AlphaFeatures, featureNoGroups),
		Identity: Identity{ClusterID: b.ClusterID, ClusterUID: b.ClusterUID, SystemUID: b.SystemUID},
		Options: Options{
			NetLBDefault: b.NetLBDefault, NetLBNEG: b.NetLBNEG, DenyFirewall: b.DenyFirewall, NoFirewall: b.NoFirewall,
			DiscretePorts: b.DiscretePorts, L3Rules: b.L3Rules, NoPinhole: b.Pinhole != nil && !*b.Pinhole,
			CheckRanges: checkRanges(), LegacyOutputs: b.LegacyOutputs, MultiSubnet: b.MultiSubnet, NodesPerSubset: b.NodesPerSubset,
			ZonalAffinity: b.ZonalAffinity,
		},
	}
	if c.Zone != "" {
		region, err := RegionOf(c.Zone)
		if err != nil {
			return Config{}, fmt.Errorf("global local-zone: %w", err)
		}
		c.Region = region
	}
	if c.NodesPerSubset < 0 || c.NodesPerSubset > maxLocalEndpoints {
		return Config{}, fmt.Errorf("berth ilb-subset-size: %d is outside of 0 to %d", c.NodesPerSubset, maxLocalEndpoints)
	}
	if len(b.CheckRanges) > 0 {
		ranges, err := rangesOf(b.CheckRanges)
		if err != nil {
			return Config{}, fmt.Errorf("berth cloud-provider-gce-lb-src-cidrs: %w", err)
		}
		c.CheckRanges = ranges
	}
	return c, nil
}

// RegionOf is a zone without its last part.
func RegionOf(zone string) (string, error) {
	i := strings.LastIndexByte(zone, '-')
	if i <= 0 || strings.Count(zone, "-") < 2 {
		return "", fmt.Errorf("%q is no zone such as us-central1-a", zone)
	}
	return zone[:i], nil
}

// checkRanges are where health checks of IPv4 load balancers come from.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer.go.
func checkRanges() []string {
	return []string{"130.211.0.0/22", "209.85.152.0/22", "209.85.204.0/22", "35.191.0.0/16"}
}

func rangesOf(lists []string) ([]string, error) {
	var out []string
	for _, list := range lists {
		for text := range strings.SplitSeq(list, ",") {
			p, err := netip.ParsePrefix(strings.TrimSpace(text))
			if err != nil || !p.Addr().Is4() {
				return nil, fmt.Errorf("%q is no IPv4 range", text)
			}
			out = append(out, p.Masked().String())
		}
	}
	return sortedSet(out), nil
}

// GroupName is the name of the instance groups: the older kind is named after
// the cluster's id, the newer one after its uid. Mostly these are the same.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_naming.go;
// kubernetes/ingress-gce:pkg/utils/namer/namer.go.
func (c Config) GroupName(kind string) string {
	id := c.ClusterID
	if kind == NetLB && c.ClusterUID != "" {
		id = c.ClusterUID[strings.LastIndex("--"+c.ClusterUID, "--"):]
	}
	if id == "" {
		return groupPrefix
	}
	name := groupPrefix + "--" + id
	if len(name) > maxGroupName {
		return name[:maxGroupName] + "0"
	}
	return name
}

// HostProject is the project of network, subnets and firewalls.
func (c Config) HostProject() string {
	if c.NetworkProject != "" {
		return c.NetworkProject
	}
	return c.Project
}

// NetworkPath is the network as a path with project; empty if it is not known.
func (c Config) NetworkPath() string {
	if c.Network == "" || strings.Contains(c.Network, "/") {
		return ProjectPathOf(c.Network)
	}
	return "projects/" + c.HostProject() + "/global/networks/" + c.Network
}

// SubnetPath is a subnet of the region as a path with project; empty for no name.
func (c Config) SubnetPath(name string) string {
	if name == "" || strings.Contains(name, "/") {
		return ProjectPathOf(name)
	}
	return "projects/" + c.HostProject() + "/regions/" + c.Region + "/subnetworks/" + name
}

func sortedSet(in []string) []string {
	out := slices.Clone(in)
	slices.Sort(out)
	return slices.Compact(out)
}
