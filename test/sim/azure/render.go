package azure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// KubernetesNodes gives the Node objects of the seeded machines.
func (s Seed) KubernetesNodes() []corev1.Node {
	ready := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	out := make([]corev1.Node, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		zone := n.Zone
		if zone == "" {
			// A region without zones shows the fault domain. Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_zones.go.
			zone = "0"
		}
		addresses := []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.PrivateIP}}
		if n.PrivateIP6 != "" {
			addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: n.PrivateIP6})
		}
		out = append(out, corev1.Node{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{
				corev1.LabelHostname:           n.Name,
				corev1.LabelTopologyZone:       zone,
				corev1.LabelTopologyRegion:     s.Location,
				corev1.LabelInstanceTypeStable: nodeSize,
				corev1.LabelArchStable:         "amd64",
				corev1.LabelOSStable:           "linux",
			}},
			Spec: nodeSpec(n),
			Status: corev1.NodeStatus{
				Addresses: append(addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: n.Name}),
				Conditions: []corev1.NodeCondition{{
					Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "simulated node",
					LastHeartbeatTime: ready, LastTransitionTime: ready,
				}},
			},
		})
	}
	return out
}

// nodeSpec names the node's machine and, if there are pods, their ranges.
func nodeSpec(n Node) corev1.NodeSpec {
	spec := corev1.NodeSpec{ProviderID: n.ProviderID, PodCIDRs: n.PodCIDRs}
	if len(n.PodCIDRs) > 0 {
		spec.PodCIDR = n.PodCIDRs[0]
	}
	return spec
}

// NodesYAML gives the Node manifests as one YAML stream.
func (s Seed) NodesYAML() ([]byte, error) {
	var b bytes.Buffer
	for _, n := range s.KubernetesNodes() {
		doc, err := yaml.Marshal(n)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
		b.WriteString("---\n")
		b.Write(doc)
	}
	return b.Bytes(), nil
}

// config is the part of the official cloud config that a controller needs here.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/config.
type config struct {
	Cloud            string   `json:"cloud"`
	Endpoint         string   `json:"resourceManagerEndpoint"`
	Tenant           string   `json:"tenantId"`
	Subscription     string   `json:"subscriptionId"`
	ClientID         string   `json:"aadClientId"`
	ClientSecret     string   `json:"aadClientSecret"`
	ResourceGroup    string   `json:"resourceGroup"`
	Location         string   `json:"location"`
	VMType           string   `json:"vmType"`
	ScaleSet         string   `json:"primaryScaleSetName,omitempty"`
	AvailabilitySet  string   `json:"primaryAvailabilitySetName,omitempty"`
	Network          string   `json:"vnetName"`
	NetworkGroup     string   `json:"vnetResourceGroup"`
	Subnet           string   `json:"subnetName"`
	SecurityGroup    string   `json:"securityGroupName"`
	RouteTable       string   `json:"routeTableName"`
	SKU              string   `json:"loadBalancerSku"`
	Pools            PoolType `json:"loadBalancerBackendPoolConfigurationType"`
	ServiceGateway   bool     `json:"serviceGatewayEnabled,omitempty"`
	InstanceMetadata bool     `json:"useInstanceMetadata"`
}

// CloudConf gives a cloud config of the official controller that points it at a
// URL. The name of the cluster is no part of it: it is the flag --cluster-name.
func (s Seed) CloudConf(url string) ([]byte, error) {
	c := config{
		Cloud: "AzurePublicCloud", Endpoint: url, Tenant: s.Tenant, Subscription: s.Subscription, ClientID: ClientID, ClientSecret: ClientSecret,
		ResourceGroup: s.ResourceGroup, Location: s.Location, VMType: map[NodesAs]string{VM: "standard", VMSS: "vmss", Flex: "vmssflex"}[s.NodesAs],
		ScaleSet: s.ScaleSet, AvailabilitySet: s.AvailabilitySet, Network: s.Network, NetworkGroup: s.NetworkGroup, Subnet: s.Subnet,
		SecurityGroup: s.SecurityGroup, RouteTable: s.RouteTable, SKU: "standard", Pools: s.Pools,
	}
	if s.Pools == PodIP {
		c.SKU, c.ServiceGateway = "service", true
	}
	doc, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("cloud config: %w", err)
	}
	return append(doc, '\n'), nil
}

// WriteFiles writes seed.json, nodes.yaml, cloud.conf and ca.crt, the certificate
// of the HTTPS side, into a folder, which it makes if need be. A cloud that began
// empty has nothing to write, which is an error.
func (c *Cloud) WriteFiles(dir, url string) error {
	s := c.Seed
	if s.ResourceGroup == "" {
		return errors.New("seed: the cloud began empty, there is nothing to write")
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("seed folder: %w", err)
	}
	doc, err := json.MarshalIndent(struct {
		URL string `json:"url"`
		Seed
	}{url, s}, "", "  ")
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	nodes, err := s.NodesYAML()
	if err != nil {
		return err
	}
	conf, err := s.CloudConf(url)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"seed.json": append(doc, '\n'), "nodes.yaml": nodes, "cloud.conf": conf, "ca.crt": c.Authority.PEM} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("seed file: %w", err)
		}
	}
	return nil
}
