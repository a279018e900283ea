package model

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
)

// Texts of the cloud configuration.
const (
	poolNIC    = "nodeIPConfiguration"
	PoolNodeIP = "nodeIP"
	poolPodIP  = "podIP"

	skuBasic    = "basic"
	skuStandard = "standard"
	skuService  = "service"

	preInternal = "internal"
	preExternal = "external"
	preAll      = "all"

	probeShared = "shared"

	defaultProbePort = 10256 // kube-proxy's
	defaultProbePath = "/healthz"
)

// Config is the official cloud configuration file, as far as load balancers
// need it, with the file's defaults filled in.
type Config struct {
	Cloud    string // AzurePublicCloud, AzureChinaCloud, AzureUSGovernmentCloud, AzureStackCloud
	Endpoint string // of the resource manager, where it is not the cloud's own
	NotStack bool   // the cloud AzureStackCloud has today's versions of the API
	Auth     Auth

	Subscription        string
	NetworkTenant       string
	NetworkSubscription string // of load balancers, public IPs, security group, network; empty: Subscription
	Group               string // resource group of the cluster, lower case
	Location            string
	ExtendedLocation    ExtendedLocation

	VNet      string
	VNetGroup string // empty: Group
	Subnet    string

	Security      string // network security group
	SecurityGroup string // its resource group; empty: Group

	BalancerName  string // empty: the cluster's name
	BalancerGroup string // empty: Group
	LinkGroup     string // of private link services; empty: Group

	PoolType      string // nodeIPConfiguration, nodeIP or PodIP; PodIP with load balancers of the SKU Service
	Migrate       bool   // move pools from interfaces to addresses by the API for that
	PreConfigured string // internal, external, all: the pools that another controller fills
	WithMasters   bool   // control plane nodes are targets as well
	NoSNAT        bool   // disableOutboundSNAT

	Multi []MultiBalancer // several pairs of load balancers

	SharedProbe bool
	ProbePort   int32
	ProbePath   string

	Tags        Tags
	SystemTags  []string // prefixes of tags that others may keep; nil: nothing is ever removed
	MutateIPTag bool     // ipTags change in place

	Rates     Rates
	UserAgent string
}

// Auth says how to get tokens; the first that is set counts, in the order of the fields.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/azclient/auth.go.
type Auth struct {
	Tenant          string
	WorkloadToken   string // file of the federated token; with WorkloadIdentity
	Workload        bool
	ManagedIdentity bool
	IdentityID      string // of a user assigned identity; empty: the system's
	ClientID        string
	ClientSecret    string
	CertPath        string
	CertPassword    string
}

// ExtendedLocation is an edge zone; with one, zones are never set.
type ExtendedLocation struct{ Name, Type string }

// MultiBalancer is one pair of load balancers of several.
type MultiBalancer struct {
	Name              string
	PrimaryVMSet      string
	NoPlacement       bool // new Services do not come here
	ServiceLabels     *LabelSelector
	ServiceNamespaces *LabelSelector
	Nodes             *LabelSelector
}

// ReadConfig reads the official cloud configuration, JSON or YAML; a nil reader
// is no file. Unknown keys, and keys that have no effect here, come as warnings.
func ReadConfig(r io.Reader) (Config, annotations.Problems, error) {
	if r == nil {
		return configFile{}.config(), nil, nil
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	var file configFile
	if err := yaml.Unmarshal(text, &file); err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	c := file.config()
	if err := file.check(c); err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	return c, append(unknownKeys(all), file.idleWithPods(c)...), nil
}

func (f configFile) config() Config {
	c := Config{
		Cloud: cmp.Or(f.Cloud, "AzurePublicCloud"), Endpoint: f.ResourceManagerEndpoint, NotStack: f.DisableAzureStackCloud, Auth: f.auth(),
		Subscription: f.SubscriptionID, NetworkTenant: f.NetworkResourceTenantID, NetworkSubscription: f.NetworkResourceSubscriptionID,
		Group: lowerCase(f.ResourceGroup), Location: f.Location,
		ExtendedLocation: ExtendedLocation{f.ExtendedLocationName, f.ExtendedLocationType},
		VNet:             f.VnetName, VNetGroup: f.VnetResourceGroup, Subnet: f.SubnetName,
		Security: f.SecurityGroupName, SecurityGroup: f.SecurityGroupResourceGroup,
		BalancerName: f.LoadBalancerName, BalancerGroup: f.LoadBalancerResourceGroup, LinkGroup: f.PrivateLinkServiceResourceGroup,
		PoolType: poolNIC, Migrate: f.EnableMigrateToIPBasedBackendPoolAPI, PreConfigured: lowerCase(f.PreConfiguredBackendPoolLoadBalancerTypes),
		WithMasters: f.ExcludeMasterFromStandardLB != nil && !*f.ExcludeMasterFromStandardLB,
		NoSNAT:      f.DisableOutboundSNAT != nil && *f.DisableOutboundSNAT,
		SharedProbe: strings.EqualFold(f.ClusterServiceLoadBalancerHealthProbeMode, probeShared),
		ProbePort:   defaultProbePort, ProbePath: cmp.Or(f.ClusterServiceSharedLoadBalancerHealthProbePath, defaultProbePath),
		Tags: configTags(f.Tags, f.TagsMap), SystemTags: splitTrimmed(f.SystemTags),
		MutateIPTag: f.EnableIPTagMutationForExistingPublicIP, UserAgent: f.UserAgent, Rates: f.rates(),
	}
	for _, pool := range []string{PoolNodeIP, poolPodIP} {
		if strings.EqualFold(f.LoadBalancerBackendPoolConfigurationType, pool) {
			c.PoolType = pool
		}
	}
	if f.ClusterServiceSharedLoadBalancerHealthProbePort > 0 {
		c.ProbePort = f.ClusterServiceSharedLoadBalancerHealthProbePort
	}
	for _, m := range f.MultipleStandardLoadBalancerConfigurations {
		c.Multi = append(c.Multi, m.config())
	}
	return c
}

func (f configFile) auth() Auth {
	return Auth{
		Tenant: f.TenantID, Workload: f.UseFederatedWorkloadIdentityExtension, WorkloadToken: f.AADFederatedTokenFile,
		ManagedIdentity: f.UseManagedIdentityExtension, IdentityID: f.UserAssignedIdentityID,
		ClientID: f.AADClientID, ClientSecret: f.AADClientSecret, CertPath: f.AADClientCertPath, CertPassword: f.AADClientCertPassword,
	}
}

// SubscriptionOfNetwork is where what belongs to the network is.
func (c Config) SubscriptionOfNetwork() string { return cmp.Or(c.NetworkSubscription, c.Subscription) }

// NetworkGroup is the resource group of the virtual network.
func (c Config) NetworkGroup() string { return lowerCase(cmp.Or(c.VNetGroup, c.Group)) }

// GroupOfBalancers is the resource group of the load balancers.
func (c Config) GroupOfBalancers() string { return lowerCase(cmp.Or(c.BalancerGroup, c.Group)) }

// securityGroup is the resource group of the security group.
func (c Config) securityGroup() string { return lowerCase(cmp.Or(c.SecurityGroup, c.Group)) }

// linkGroup is the resource group of private link services.
func (c Config) linkGroup() string { return lowerCase(cmp.Or(c.LinkGroup, c.Group)) }

// Balancers lists the exact names of the load balancers that can have parts of
// Services. The official controller also takes any other load balancer of the
// group while none of these exists; that edits what is not the cluster's.
func (c Config) Balancers(cluster string) []string {
	names := []string{cmp.Or(c.BalancerName, cluster)}
	if len(c.Multi) > 0 {
		names = nil
		for _, m := range c.Multi {
			names = append(names, m.Name)
		}
	}
	var out []string
	for _, n := range names {
		out = append(out, n, n+suffixInternal)
	}
	return out
}

// FilledByOthers reports whether another controller fills the pools of the kind.
func (c Config) FilledByOthers(kind string) bool {
	switch c.PreConfigured {
	case preAll:
		return true
	case preInternal:
		return kind == Internal
	case preExternal:
		return kind == Public
	}
	return false
}
