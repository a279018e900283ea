package azure

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim/seed"
)

// KubernetesNodes gives the Node objects of the seeded machines.
func (s Seed) KubernetesNodes() []corev1.Node {
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
		out = append(out, seed.Machine{Name: n.Name, Region: s.Location, Zone: zone, Size: nodeSize, Spec: nodeSpec(n), Addresses: addresses}.Node())
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
		Cloud: "AzureCloud", Endpoint: url, Tenant: s.Tenant, Subscription: s.Subscription, ClientID: ClientID, ClientSecret: ClientSecret,
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
	conf, err := s.CloudConf(url)
	if err != nil {
		return err
	}
	return seed.Write(dir, struct {
		URL string `json:"url"`
		Seed
	}{url, s}, s.KubernetesNodes(), map[string][]byte{"cloud.conf": conf, "ca.crt": c.Authority.PEM})
}
