package model

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
)

// Config is the official cloud configuration file, as far as load balancers need it.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/config/cloud_config.go.
type Config struct {
	Region        string
	ClusterID     string
	VPC           string
	VSwitches     []string // in the order of the file
	ResourceGroup string
	KeyID, Secret string // of the access key; empty: from elsewhere
	TokenFile     string // with the credentials of the addon
	PodBackends   bool   // backends are pods unless a Service asks for nodes
	NoPublic      bool   // no load balancer of the Internet is created
	TypeKey       bool   // the annotation loadbalancer-type is read
	DualStack     bool   // backends may have IPv6 addresses
	// Endpoints are addresses in place of those of the region, by API.
	Endpoints map[string]string
}

// APIs of the cloud, by the names of their hosts.
const (
	APIBalancer = "slb"
	APIMachine  = "ecs"
	APINetwork  = "vpc"
	APIToken    = "sts"
	APINet      = "nlb"
	APIQuota    = "quotas" // read by berth doctor alone
)

// Settings that annotations depend on, and the value of an enabled feature gate.
const (
	settingDual     = "featureGates IPv6DualStack"
	settingBackends = "serviceBackendType"
	gateOn          = "true"
)

// Settings returns the values of the configuration that annotations depend on.
func Settings(c Config) map[string]string {
	out := map[string]string{}
	if c.DualStack {
		out[settingDual] = gateOn
	}
	if c.PodBackends {
		out[settingBackends] = ServerENI
	}
	return out
}

// addonFile is where ACK puts the credentials of the controller.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/base/token.go.
const addonFile = "/var/addon/token-config"

// defaultCluster stands for a cluster without an id.
const defaultCluster = "clusterid"

// configFile is the file. Keys that load balancers do not need are declared, so that others can
// be reported.
type configFile struct {
	Global struct {
		UID            string `json:"uid"`
		KeyID          string `json:"accessKeyID"`
		Secret         string `json:"accessKeySecret"`
		ClusterID      string `json:"clusterID"`
		ClusterTag     string `json:"kubernetesClusterTag"`
		Region         string `json:"region"`
		VPC            string `json:"vpcid"`
		VSwitches      string `json:"vswitchid"`
		Zone           string `json:"zoneid"`
		ResourceGroup  string `json:"resourceGroupID"`
		BackendType    string `json:"serviceBackendType"`
		DisablePublic  bool   `json:"disablePublicSLB"`
		Services       int    `json:"serviceMaxConcurrentReconciles"`
		Nodes          int    `json:"nodeMaxConcurrentReconciles"`
		NodePeriod     int64  `json:"nodeMonitorPeriod"`
		NodeAddrPeriod int64  `json:"nodeAddrSyncPeriod"`
		RouteTables    string `json:"routeTableIDs"`
		Routes         int    `json:"routeMaxConcurrentReconciles"`
		FeatureGates   string `json:"featureGates"`
		// The addresses are Berth's own keys.
		BalancerAddress string `json:"slbEndpoint"`
		NetAddress      string `json:"nlbEndpoint"`
		MachineAddress  string `json:"ecsEndpoint"`
		NetworkAddress  string `json:"vpcEndpoint"`
		TokenAddress    string `json:"stsEndpoint"`
		QuotaAddress    string `json:"quotasEndpoint"`
		TokenFile       string `json:"tokenFile"`
	} `json:"Global"`
}

// ReadConfig reads the official cloud configuration, YAML or JSON; a nil reader means no file.
// Unknown keys are returned as warnings. The error names the setting at fault.
func ReadConfig(r io.Reader) (Config, annotations.Problems, error) {
	if r == nil {
		return Config{}, nil, errors.New("cloud config: a file is required")
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	var file configFile
	if err := yaml.Unmarshal(text, &file); err != nil {
		return Config{}, nil, fmt.Errorf("cloud config: %w", err)
	}
	g := file.Global
	c := Config{
		Region: g.Region, ClusterID: g.ClusterID, VPC: g.VPC, VSwitches: vswitchesOf(g.VSwitches), ResourceGroup: strings.TrimSpace(g.ResourceGroup),
		PodBackends: g.BackendType == ServerENI, NoPublic: g.DisablePublic, TypeKey: gateOf(g.FeatureGates, "LoadBalancerTypeAnnotation", false),
		DualStack: gateOf(g.FeatureGates, "IPv6DualStack", false) && gateOf(g.FeatureGates, "EndpointSlice", true),
		Endpoints: map[string]string{APIBalancer: g.BalancerAddress, APIMachine: g.MachineAddress, APINetwork: g.NetworkAddress, APIToken: g.TokenAddress, APINet: g.NetAddress, APIQuota: g.QuotaAddress}, TokenFile: g.TokenFile,
	}
	if c.ClusterID == "" {
		c.ClusterID = defaultCluster
	}
	if c.TokenFile == "" {
		c.TokenFile = addonFile
	}
	for _, key := range []struct {
		name, text string
		to         *string
	}{{"accessKeyID", g.KeyID, &c.KeyID}, {"accessKeySecret", g.Secret, &c.Secret}} {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(key.text))
		if err != nil {
			return Config{}, nil, fmt.Errorf("cloud config: Global.%s: is not the base64 of an access key", key.name)
		}
		*key.to = strings.TrimSpace(string(raw))
	}
	if (c.KeyID == "") != (c.Secret == "") {
		return Config{}, nil, errors.New("cloud config: Global.accessKeyID and Global.accessKeySecret: one of them is empty; set both or neither")
	}
	problems := unknownKeys(text, file)
	if g.UID != "" && c.KeyID != "" {
		problems = append(problems, annotations.Problem{Severity: annotations.Warning, Key: "cloud config", Value: "Global.uid", Message: "has no effect: the program servicetoken is not run, and the access key is used as it is"})
	}
	return c, problems, nil
}

// vswitchesOf returns the ids of a list of zone:id. An item of another form is skipped, as by the
// official controller.
func vswitchesOf(list string) []string {
	var out []string
	for item := range strings.SplitSeq(list, ",") {
		if parts := strings.Split(strings.TrimSpace(item), ":"); len(parts) == 2 && parts[1] != "" {
			out = append(out, parts[1])
		}
	}
	return out
}

// gateOf reports whether a list of feature gates enables one, which is otherwise as it is by default.
func gateOf(list, name string, standard bool) bool {
	for item := range strings.SplitSeq(list, ",") {
		if key, value, _ := strings.Cut(strings.TrimSpace(item), "="); key == name {
			return value == "true"
		}
	}
	return standard
}

// unknownKeys returns a warning for each key of the file that no controller reads.
func unknownKeys(text []byte, file configFile) annotations.Problems {
	var given struct {
		Global map[string]any `json:"Global"`
	}
	known := map[string]map[string]any{}
	if out, err := yaml.Marshal(file); err != nil || yaml.Unmarshal(out, &known) != nil || yaml.Unmarshal(text, &given) != nil {
		return nil // the file itself was read before
	}
	var out annotations.Problems
	for _, key := range slices.Sorted(maps.Keys(given.Global)) {
		if _, ok := known["Global"][key]; !ok {
			out = append(out, annotations.Problem{Severity: annotations.Warning, Key: "cloud config", Value: "Global." + key, Message: "is a key that is not known, so it has no effect"})
		}
	}
	return out
}
