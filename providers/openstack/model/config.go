package model

import (
	"bytes"
	"fmt"
	"io"
	"time"

	gcfg "gopkg.in/gcfg.v1"
	"gopkg.in/warnings.v0"

	"github.com/berth-lb/berth/annotations"
)

// Config is the official cloud configuration file, as far as load balancers need it,
// and what the session adds to it.
type Config struct {
	Login
	LoadBalancer
	Classes map[string]Class
	// IngressHostname gives Services with PROXY protocol a host name.
	IngressHostname       bool
	IngressHostnameSuffix string
	NoIPv6                bool
	RequestTimeout        time.Duration // of every call; 0: a minute
	Features              Features      // of the cloud, found when the session was opened
}

// Login is how to log in.
type Login struct {
	AuthURL                                                string
	UserID, Username, Password                             string
	TenantID, TenantName, TenantDomainID, TenantDomainName string
	DomainID, DomainName, UserDomainID, UserDomainName     string
	TrustID, TrusteeID, TrusteePassword                    string
	CredentialID, CredentialName, CredentialSecret, Token  string
	Region, EndpointType                                   string
	CAFile, CertFile, KeyFile                              string
	Insecure, UseClouds                                    bool
	CloudsFile, Cloud                                      string
}

// LoadBalancer is the section of that name.
type LoadBalancer struct {
	Disabled                           bool
	Provider, Method                   string
	Class                              // the settings that classes have as well
	Internal                           bool
	Monitor                            bool
	MonitorDelay, MonitorTimeout       time.Duration
	MonitorRetries, MonitorRetriesDown int
	ManageGroups                       bool
	NodeSelector                       string
	NoCascade                          bool
	Flavor, Zone                       string
	TLS                                string
	ExternalStore                      bool // certificates are not looked up in Barbican
	MaxShared                          int
	Serial                             bool // the driver takes one member and one part at a time
}

// Class is a section LoadBalancerClass.
type Class struct {
	FloatingNetwork, FloatingSubnet, FloatingSubnetName, FloatingSubnetTags string
	Network, Subnet, MemberSubnet                                           string
}

// Features are what a cloud's load balancer API has, by its version and driver.
// Source: kubernetes/cloud-provider-openstack:pkg/util/openstack/loadbalancer.go.
type Features struct {
	Tags, Flavors, Timeouts, Ranges, Zones, HTTPOnUDP bool
}

// FeaturesOf returns what minor version v2.minor has with a driver.
func FeaturesOf(minor int, provider string) Features {
	f := Features{Tags: minor >= 5}
	if !driverOf(provider).Settings {
		return f
	}
	f.Timeouts, f.Flavors, f.Ranges, f.Zones, f.HTTPOnUDP = minor >= 1, minor >= 6, minor >= 12, minor >= 14, minor >= 16
	return f
}

// duration reads durations with their unit.
type duration struct{ time.Duration }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	d.Duration = v
	return err
}

// classFile is a class as the file has it.
type classFile struct {
	FloatingNetworkID  string `gcfg:"floating-network-id"`
	FloatingSubnetID   string `gcfg:"floating-subnet-id"`
	FloatingSubnet     string `gcfg:"floating-subnet"`
	FloatingSubnetTags string `gcfg:"floating-subnet-tags"`
	NetworkID          string `gcfg:"network-id"`
	SubnetID           string `gcfg:"subnet-id"`
	MemberSubnetID     string `gcfg:"member-subnet-id"`
}

// loadBalancerFile is the section LoadBalancer as the file has it.
type loadBalancerFile struct {
	Enabled               *bool    `gcfg:"enabled"`
	LBVersion             string   `gcfg:"lb-version"`
	LBProvider            string   `gcfg:"lb-provider"`
	LBMethod              string   `gcfg:"lb-method"`
	FloatingNetworkID     string   `gcfg:"floating-network-id"`
	FloatingSubnetID      string   `gcfg:"floating-subnet-id"`
	FloatingSubnet        string   `gcfg:"floating-subnet"`
	FloatingSubnetTags    string   `gcfg:"floating-subnet-tags"`
	NetworkID             string   `gcfg:"network-id"`
	SubnetID              string   `gcfg:"subnet-id"`
	MemberSubnetID        string   `gcfg:"member-subnet-id"`
	InternalLB            bool     `gcfg:"internal-lb"`
	CreateMonitor         bool     `gcfg:"create-monitor"`
	MonitorDelay          duration `gcfg:"monitor-delay"`
	MonitorTimeout        duration `gcfg:"monitor-timeout"`
	MonitorMaxRetries     *int     `gcfg:"monitor-max-retries"`
	MonitorMaxRetriesDown *int     `gcfg:"monitor-max-retries-down"`
	ManageSecurityGroups  bool     `gcfg:"manage-security-groups"`
	NodeSelector          string   `gcfg:"node-selector"`
	CascadeDelete         *bool    `gcfg:"cascade-delete"`
	FlavorID              string   `gcfg:"flavor-id"`
	AvailabilityZone      string   `gcfg:"availability-zone"`
	EnableIngressHostname bool     `gcfg:"enable-ingress-hostname"`
	IngressHostnameSuffix string   `gcfg:"ingress-hostname-suffix"`
	DefaultTLS            string   `gcfg:"default-tls-container-ref"`
	ContainerStore        string   `gcfg:"container-store"`
	MaxSharedLB           *int     `gcfg:"max-shared-lb"`
	Serial                bool     `gcfg:"provider-requires-serial-api-calls"`
}

// configFile is the file as the reader library fills it in.
type configFile struct {
	Global struct {
		AuthURL          string `gcfg:"auth-url"`
		UserID           string `gcfg:"user-id"`
		Username         string `gcfg:"username"`
		Password         string `gcfg:"password"`
		TenantID         string `gcfg:"tenant-id"`
		TenantName       string `gcfg:"tenant-name"`
		TrustID          string `gcfg:"trust-id"`
		TrusteeID        string `gcfg:"trustee-id"`
		TrusteePassword  string `gcfg:"trustee-password"`
		DomainID         string `gcfg:"domain-id"`
		DomainName       string `gcfg:"domain-name"`
		TenantDomainID   string `gcfg:"tenant-domain-id"`
		TenantDomainName string `gcfg:"tenant-domain-name"`
		UserDomainID     string `gcfg:"user-domain-id"`
		UserDomainName   string `gcfg:"user-domain-name"`
		Region           string `gcfg:"region"`
		EndpointType     string `gcfg:"os-endpoint-type"`
		CAFile           string `gcfg:"ca-file"`
		Insecure         string `gcfg:"tls-insecure"`
		CertFile         string `gcfg:"cert-file"`
		KeyFile          string `gcfg:"key-file"`
		Token            string `gcfg:"token"`
		CredentialID     string `gcfg:"application-credential-id"`
		CredentialName   string `gcfg:"application-credential-name"`
		CredentialSecret string `gcfg:"application-credential-secret"`
		UseClouds        bool   `gcfg:"use-clouds"`
		CloudsFile       string `gcfg:"clouds-file"`
		Cloud            string `gcfg:"cloud"`
	}
	LoadBalancer      loadBalancerFile
	LoadBalancerClass map[string]*classFile
	Metadata          struct {
		SearchOrder    string   `gcfg:"search-order"`
		RequestTimeout duration `gcfg:"request-timeout"`
	}
	Networking struct {
		IPv6Disabled     bool     `gcfg:"ipv6-support-disabled"`
		PublicNetwork    []string `gcfg:"public-network-name"`
		InternalNetwork  []string `gcfg:"internal-network-name"`
		AddressSortOrder string   `gcfg:"address-sort-order"`
	}
	Route struct {
		RouterID string `gcfg:"router-id"`
	}
}

// ReadConfig reads the official cloud configuration; a nil reader is no file. Unknown
// keys come as warnings; a value that cannot be read is an error.
func ReadConfig(r io.Reader) (Config, annotations.Problems, error) {
	var file configFile
	var unknown annotations.Problems
	if r != nil {
		text, err := io.ReadAll(r)
		if err != nil {
			return Config{}, nil, fmt.Errorf("cloud config: %w", err)
		}
		err = gcfg.ReadInto(&file, bytes.NewReader(text))
		if fatal := gcfg.FatalOnly(err); fatal != nil {
			return Config{}, nil, fmt.Errorf("cloud config: %w", fatal)
		}
		unknown = unknownKeys(err)
	}
	if v := file.LoadBalancer.LBVersion; v != "" && v != "v2" {
		return Config{}, nil, fmt.Errorf("cloud config: LoadBalancer lb-version: %q: only v2 is left", v)
	}
	return file.config(), unknown, nil
}

func (f *configFile) config() Config {
	g := f.Global
	c := Config{
		Login: Login{
			AuthURL: g.AuthURL, UserID: g.UserID, Username: g.Username, Password: g.Password, TenantID: g.TenantID, TenantName: g.TenantName,
			TenantDomainID: g.TenantDomainID, TenantDomainName: g.TenantDomainName, DomainID: g.DomainID, DomainName: g.DomainName,
			UserDomainID: g.UserDomainID, UserDomainName: g.UserDomainName, TrustID: g.TrustID, TrusteeID: g.TrusteeID, TrusteePassword: g.TrusteePassword,
			CredentialID: g.CredentialID, CredentialName: g.CredentialName, CredentialSecret: g.CredentialSecret, Token: g.Token,
			Region: g.Region, EndpointType: orElse(g.EndpointType, "public"), CAFile: g.CAFile, CertFile: g.CertFile, KeyFile: g.KeyFile,
			Insecure: g.Insecure == "true", UseClouds: g.UseClouds, CloudsFile: g.CloudsFile, Cloud: g.Cloud,
		},
		LoadBalancer: f.LoadBalancer.settings(), Classes: map[string]Class{},
		IngressHostname: f.LoadBalancer.EnableIngressHostname, IngressHostnameSuffix: orElse(f.LoadBalancer.IngressHostnameSuffix, "nip.io"),
		NoIPv6: f.Networking.IPv6Disabled, RequestTimeout: f.Metadata.RequestTimeout.Duration,
	}
	for name, class := range f.LoadBalancerClass {
		c.Classes[name] = Class{
			FloatingNetwork: class.FloatingNetworkID, FloatingSubnet: class.FloatingSubnetID, FloatingSubnetName: class.FloatingSubnet,
			FloatingSubnetTags: class.FloatingSubnetTags, Network: class.NetworkID, Subnet: class.SubnetID, MemberSubnet: class.MemberSubnetID,
		}
	}
	return c
}

// settings are the section with its defaults.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/openstack.go (ReadConfig).
func (l loadBalancerFile) settings() LoadBalancer {
	return LoadBalancer{
		Disabled: l.Enabled != nil && !*l.Enabled, Provider: orElse(l.LBProvider, "amphora"), Method: orElse(l.LBMethod, "ROUND_ROBIN"),
		Class: Class{
			FloatingNetwork: l.FloatingNetworkID, FloatingSubnet: l.FloatingSubnetID, FloatingSubnetName: l.FloatingSubnet,
			FloatingSubnetTags: l.FloatingSubnetTags, Network: l.NetworkID, Subnet: l.SubnetID, MemberSubnet: l.MemberSubnetID,
		},
		Internal: l.InternalLB, Monitor: l.CreateMonitor, MonitorDelay: orTime(l.MonitorDelay, 5*time.Second), MonitorTimeout: orTime(l.MonitorTimeout, 3*time.Second),
		MonitorRetries: orNumber(l.MonitorMaxRetries, 1), MonitorRetriesDown: orNumber(l.MonitorMaxRetriesDown, 3), ManageGroups: l.ManageSecurityGroups,
		NodeSelector: l.NodeSelector, NoCascade: l.CascadeDelete != nil && !*l.CascadeDelete, Flavor: l.FlavorID, Zone: l.AvailabilityZone,
		TLS: l.DefaultTLS, ExternalStore: l.ContainerStore != "" && l.ContainerStore != "barbican", MaxShared: orNumber(l.MaxSharedLB, 2), Serial: l.Serial,
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func orTime(d duration, other time.Duration) time.Duration {
	if d.Duration == 0 {
		return other
	}
	return d.Duration
}

func orNumber(n *int, other int) int {
	if n == nil {
		return other
	}
	return *n
}

// unknownKeys warns of unknown sections and keys; the official controller ignores them
// silently.
func unknownKeys(err error) annotations.Problems {
	var out annotations.Problems
	for _, unknown := range warnings.WarningsOnly(err) {
		out = append(out, annotations.Problem{Severity: annotations.Warning, Key: "cloud config", Message: "has a section or key that is not known, so it has no effect: " + unknown.Error()})
	}
	return out
}
