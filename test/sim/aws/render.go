package aws

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim/seed"
)

// KubernetesNodes gives the Node objects of the seeded instances.
func (s Seed) KubernetesNodes() []corev1.Node {
	out := make([]corev1.Node, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		out = append(out, seed.Machine{
			Name: n.Name, Region: s.Region, Zone: n.Zone, Size: "m5.large",
			Spec: corev1.NodeSpec{ProviderID: n.ProviderID},
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: n.PrivateIP},
				{Type: corev1.NodeInternalDNS, Address: n.Name},
			},
		}.Node())
	}
	return out
}

// NodesYAML gives the Node manifests as one YAML stream.
func (s Seed) NodesYAML() ([]byte, error) { return seed.Manifests(s.KubernetesNodes()) }

// CloudConf gives a cloud config of the official controller that points all
// three services at a URL. Source: kubernetes/cloud-provider-aws:pkg/providers/v1/config/config.go.
func (s Seed) CloudConf(url string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "[Global]\nZone = %s\nVPC = %s\nSubnetID = %s\nKubernetesClusterID = %s\n", s.Zones[0], s.VPC, s.PrivateSubnets()[0], s.ClusterID)
	for n, service := range []string{"EC2", "Elastic Load Balancing", "Elastic Load Balancing v2"} {
		fmt.Fprintf(&b, "\n[ServiceOverride \"%d\"]\nService = %s\nRegion = %s\nURL = %s\nSigningRegion = %s\n", n+1, service, s.Region, url, s.Region)
	}
	return []byte(b.String())
}

// WriteFiles writes seed.json, nodes.yaml and cloud.conf into a folder, which
// it makes if need be. A cloud that began empty has nothing to write, which is an error.
func (s Seed) WriteFiles(dir, url string) error {
	if s.VPC == "" {
		return errors.New("seed: the cloud began empty, there is nothing to write")
	}
	return seed.Write(dir, struct {
		URL string `json:"url"`
		Seed
	}{url, s}, s.KubernetesNodes(), map[string][]byte{"cloud.conf": s.CloudConf(url)})
}
