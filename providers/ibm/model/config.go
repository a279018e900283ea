package model

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	gcfg "gopkg.in/gcfg.v1"
	"gopkg.in/warnings.v0"

	"github.com/berth-lb/berth/annotations"
)

// Config is the official cloud configuration file, as far as load balancers need it.
// Source: IBM-Cloud/cloud-provider-ibm:ibm/ibm.go (CloudConfig).
type Config struct {
	Region        string
	ClusterID     string
	Account       string // of the load balancers
	WorkerAccount string // of the instances
	Credentials   string // path of the file with the API key; empty: credentials of the environment
	ResourceGroup string // name
	VPC           string // name
	Subnets       []string
	// Endpoints in place of those of the region, without a path.
	VPCEndpoint, IAMEndpoint, ResourceEndpoint string
	// Public reports that the public endpoints are used instead of the private ones; from the
	// environment.
	Public bool
}

// configFile is the file as the reader library fills it in.
type configFile struct {
	Global struct {
		Version string `gcfg:"version"`
	}
	Kubernetes struct {
		ConfigFiles           []string `gcfg:"config-file"`
		CalicoDatastore       string   `gcfg:"calico-datastore"`
		SetNetworkUnavailable string   `gcfg:"set-network-unavailable"`
		CNI                   string   `gcfg:"cniProvider"`
	}
	LoadBalancerDeployment struct {
		Image       string `gcfg:"image"`
		Application string `gcfg:"application"`
		VLANConfig  string `gcfg:"vlan-ip-config-map"`
	} `gcfg:"load-balancer-deployment"`
	Provider struct {
		ID               string `gcfg:"providerID"`
		Region           string `gcfg:"region"`
		ClusterID        string `gcfg:"clusterID"`
		AccountID        string `gcfg:"accountID"`
		Default          string `gcfg:"cluster-default-provider"`
		WorkerAccount    string `gcfg:"g2workerServiceAccountID"`
		VPCName          string `gcfg:"g2VpcName"`
		Credentials      string `gcfg:"g2Credentials"`
		ResourceGroup    string `gcfg:"g2ResourceGroupName"`
		SubnetNames      string `gcfg:"g2VpcSubnetNames"`
		VPCEndpoint      string `gcfg:"g2EndpointOverride"`
		IAMEndpoint      string `gcfg:"iamEndpointOverride"`
		ResourceEndpoint string `gcfg:"rmEndpointOverride"`
		PrivateHostname  string `gcfg:"iksPrivateEndpointHostname"`
		CloudCredentials string `gcfg:"cloudCredentials"`
	}
}

// nextGeneration is the value of cluster-default-provider for clusters in a VPC.
const nextGeneration = "g2"

// ReadConfig reads the official cloud configuration; a nil reader means no file. Unknown
// keys are returned as warnings. The error names the first required setting that is missing.
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
		for _, w := range warnings.WarningsOnly(err) {
			unknown = append(unknown, annotations.Problem{Severity: annotations.Warning, Key: "cloud config", Message: "has a section or key that is not known, so it has no effect: " + w.Error()})
		}
	}
	if err := file.check(); err != nil {
		return Config{}, nil, err
	}
	p := file.Provider
	c := Config{
		Region: p.Region, ClusterID: p.ClusterID, Account: p.AccountID, WorkerAccount: p.WorkerAccount, Credentials: p.Credentials, ResourceGroup: p.ResourceGroup, VPC: p.VPCName,
		VPCEndpoint: p.VPCEndpoint, IAMEndpoint: p.IAMEndpoint, ResourceEndpoint: p.ResourceEndpoint,
	}
	for name := range strings.SplitSeq(p.SubnetNames, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(c.Subnets, name) {
			c.Subnets = append(c.Subnets, name)
		}
	}
	return c, unknown, nil
}

// check reports the first setting that is missing or not legal, in the official order; credentials may be in the environment.
func (f *configFile) check() error {
	if v := f.Global.Version; v != "1.0.0" && v != "1.1.0" {
		return fmt.Errorf("cloud config: global.version: %q is not legal; legal are 1.0.0 and 1.1.0", v)
	}
	p := f.Provider
	if p.Default != nextGeneration {
		return fmt.Errorf("cloud config: provider.cluster-default-provider: %q is not served: load balancers of classic infrastructure are pods of the cluster; legal is %s", p.Default, nextGeneration)
	}
	for _, required := range []struct{ key, value string }{
		{"clusterID", p.ClusterID}, {"accountID", p.AccountID}, {"region", p.Region},
		{"g2ResourceGroupName", p.ResourceGroup}, {"g2VpcSubnetNames", p.SubnetNames}, {"g2VpcName", p.VPCName},
	} {
		if required.value == "" {
			return fmt.Errorf("cloud config: provider.%s: is empty, and a cluster in a VPC needs it", required.key)
		}
	}
	return nil
}
