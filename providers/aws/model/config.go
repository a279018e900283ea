package model

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	gcfg "gopkg.in/gcfg.v1"

	"github.com/berth-lb/berth/annotations"
)

// Texts that the cloud configuration compares exactly.
const (
	probeShared      = "Shared"
	probeServicePort = "ServiceNodePort"
	groupModeManaged = "Managed"
)

// Config is the official cloud configuration file, as far as load balancers
// need it. The zero value is a file that says nothing.
type Config struct {
	Region           string // from Zone if that is set, else Region; empty: ask the environment
	VPC              string // empty: that of the own instance
	Subnet           string // fallback when discovery finds no subnet of the cluster
	RoleARN          string // role to assume by STS
	SourceARN        string // sent with it, against a confused deputy
	Cluster          ClusterTag
	DisableNodeRules bool   // never touch the security groups of nodes
	SharedGroup      string // one security group for all Classic Load Balancers
	Probe            Probe
	GroupMode        string // "Managed": Network Load Balancers get a security group of their own; "": none
	Overrides        []ServiceOverride
	Controller       Controller
}

// Probe is the health check of Services whose traffic policy is Cluster.
type Probe struct {
	Mode string // "Shared": of kube-proxy on the node; "ServiceNodePort" or "": of the Service's node port
	Port int32  // of kube-proxy; 0 means 10256
	Path string // of kube-proxy; empty means /healthz
}

// ServiceOverride sends the calls of one AWS service in one region to an
// endpoint of the user's.
type ServiceOverride struct {
	Service       string // the SDK's ServiceID, for example "Elastic Load Balancing v2"
	Region        string
	URL           string
	SigningRegion string
	SigningName   string // empty: the service's own
}

// configFile is the file as the reader library fills it in. Section and key
// names ignore case; their list is also what tells unknown keys.
type configFile struct {
	Global struct {
		Zone                        string
		Region                      string
		VPC                         string
		SubnetID                    string
		RouteTableID                string
		RoleARN                     string
		SourceARN                   string
		KubernetesClusterTag        string
		KubernetesClusterID         string
		DisableSecurityGroupIngress bool
		ElbSecurityGroup            string
		NodeIPFamilies              []string

		ClusterServiceLoadBalancerHealthProbeMode       string
		ClusterServiceSharedLoadBalancerHealthProbePort int32
		ClusterServiceSharedLoadBalancerHealthProbePath string
		SupportedTopologyInstanceTypePattern            string
		NLBSecurityGroupMode                            string
	}
	ServiceOverride map[string]*overrideSection
	Berth           controllerSection
}

type overrideSection struct {
	Service, Region, URL, SigningRegion, SigningMethod, SigningName string
}

// ReadConfig reads the official cloud configuration; a nil reader is no file.
// Unknown keys, and keys that have no effect here, come as warnings; a value
// that cannot be read is an error, as it is for the official controller.
func ReadConfig(r io.Reader) (Config, annotations.Problems, error) {
	if r == nil {
		return Config{}, nil, nil
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	var file configFile
	if err := gcfg.FatalOnly(gcfg.ReadInto(&file, bytes.NewReader(text))); err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	c, problems, err := file.config()
	if err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	return c, append(unknownKeys(text), problems...), nil
}

func (f *configFile) config() (Config, annotations.Problems, error) {
	g := f.Global
	region, err := regionOf(g.Zone, g.Region)
	if err != nil {
		return Config{}, nil, err
	}
	cluster, err := newClusterTag(g.KubernetesClusterTag, g.KubernetesClusterID)
	if err != nil {
		return Config{}, nil, err
	}
	overrides, problems, err := f.overrides()
	if err != nil {
		return Config{}, nil, err
	}
	controller, err := f.Berth.controller()
	if err != nil {
		return Config{}, nil, err
	}
	c := Config{
		Controller: controller,
		Region:     region, VPC: g.VPC, Subnet: g.SubnetID, RoleARN: g.RoleARN, SourceARN: g.SourceARN,
		Cluster: cluster, DisableNodeRules: g.DisableSecurityGroupIngress, SharedGroup: g.ElbSecurityGroup,
		Probe: Probe{
			Mode: g.ClusterServiceLoadBalancerHealthProbeMode,
			Port: g.ClusterServiceSharedLoadBalancerHealthProbePort,
			Path: g.ClusterServiceSharedLoadBalancerHealthProbePath,
		},
		GroupMode: g.NLBSecurityGroupMode, Overrides: overrides,
	}
	return c, append(problems, c.odd()...), nil
}

// regionOf takes the region out of the zone, which wins over the region.
func regionOf(zone, region string) (string, error) {
	if zone == "" {
		return region, nil
	}
	found := regexp.MustCompile(`^([a-zA-Z]+-)+\d+`).FindString(zone)
	if found == "" {
		return "", fmt.Errorf("global zone: %q is no availability zone such as eu-west-1a", zone)
	}
	return found, nil
}

// odd lists unknown modes. They do not stop the program, because the official controller
// refuses them only when it creates a Network Load Balancer.
func (c Config) odd() annotations.Problems {
	var out annotations.Problems
	if c.Probe.modeUnknown() {
		out = append(out, annotations.Problem{
			Key: "ClusterServiceLoadBalancerHealthProbeMode", Value: c.Probe.Mode, Legal: `"Shared" or "ServiceNodePort"`,
			Message: "is not a known mode, so Network Load Balancers are refused", Severity: annotations.Warning,
		})
	}
	if c.groupModeUnknown() {
		out = append(out, annotations.Problem{
			Key: "NLBSecurityGroupMode", Value: c.GroupMode, Legal: `"Managed" or nothing`,
			Message: "is not a known mode, so Network Load Balancers are refused", Severity: annotations.Warning,
		})
	}
	return out
}

func (p Probe) modeUnknown() bool {
	return p.Mode != "" && p.Mode != probeShared && p.Mode != probeServicePort
}

func (c Config) groupModeUnknown() bool { return c.GroupMode != "" && c.GroupMode != groupModeManaged }

// serviceIDs are the SDK's names of the services that can be redirected, by what
// older documents call them. Source: aws-sdk-go-v2 ServiceID constants.
func serviceIDs() map[string]string {
	return map[string]string{
		"ec2": "EC2", "elasticloadbalancing": "Elastic Load Balancing", "elb": "Elastic Load Balancing",
		"elasticloadbalancingv2": "Elastic Load Balancing v2", "elbv2": "Elastic Load Balancing v2", "kms": "KMS",
	}
}

// usedServices are the override names that have an effect here.
func usedServices() []string {
	return []string{"EC2", "Elastic Load Balancing", "Elastic Load Balancing v2", "ec2imds"}
}

// overrides checks the sections [ServiceOverride "..."] in the order of their names.
func (f *configFile) overrides() ([]ServiceOverride, annotations.Problems, error) {
	var out []ServiceOverride
	var problems annotations.Problems
	seen := map[[2]string]bool{}
	for _, name := range sortedKeys(f.ServiceOverride) {
		s := f.ServiceOverride[name]
		o := ServiceOverride{
			Service: strings.TrimSpace(s.Service), Region: strings.TrimSpace(s.Region), URL: strings.TrimSpace(s.URL),
			SigningRegion: strings.TrimSpace(s.SigningRegion), SigningName: strings.TrimSpace(s.SigningName),
		}
		if missing := o.missing(); len(missing) > 0 {
			return nil, nil, fmt.Errorf("ServiceOverride %q: no %s", name, strings.Join(missing, ", no "))
		}
		if seen[[2]string{o.Service, o.Region}] {
			return nil, nil, fmt.Errorf("ServiceOverride %q: %s in %s is set twice", name, o.Service, o.Region)
		}
		seen[[2]string{o.Service, o.Region}] = true
		if p, useless := o.useless(name); useless {
			problems = append(problems, p)
		}
		out = append(out, o)
	}
	return out, problems, nil
}

func (o ServiceOverride) missing() []string {
	var out []string
	for _, need := range []struct{ name, value string }{
		{"Service", o.Service}, {"Region", o.Region}, {"URL", o.URL}, {"SigningRegion", o.SigningRegion},
	} {
		if need.value == "" {
			out = append(out, need.name)
		}
	}
	return out
}

// useless tells what an override names that nothing here calls. Lower-case names
// of older documents have had no effect since the official controller moved to
// the SDK's version 2; following them would send calls somewhere new.
func (o ServiceOverride) useless(section string) (annotations.Problem, bool) {
	if slices.Contains(usedServices(), o.Service) {
		return annotations.Problem{}, false
	}
	p := annotations.Problem{
		Key: fmt.Sprintf("ServiceOverride %q Service", section), Value: o.Service, Severity: annotations.Warning,
		Message: "is no service that is called here, so it has no effect", Legal: `"` + strings.Join(usedServices(), `", "`) + `"`,
	}
	if id, ok := serviceIDs()[o.Service]; ok && o.Service != id {
		p.Message, p.Legal = "is not the name of the service in the AWS SDK, so it has no effect", `"`+id+`"`
	}
	return p, true
}

// Override returns the endpoint override of a service in a region. The address
// of the instance metadata service does not depend on the region.
func (c Config) Override(service, region string) (ServiceOverride, bool) {
	for _, o := range c.Overrides {
		if o.Service == service && (o.Region == region || service == "ec2imds") {
			return o, true
		}
	}
	return ServiceOverride{}, false
}
