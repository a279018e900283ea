package openstack

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim/seed"
)

// KubernetesNodes gives the Node objects of the seeded servers.
func (s Seed) KubernetesNodes() []corev1.Node {
	out := make([]corev1.Node, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		addresses := []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.InternalIP}}
		if n.IPv6 != "" {
			addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: n.IPv6})
		}
		out = append(out, seed.Machine{
			Name: n.Name, Region: s.Region, Zone: "nova", Size: "m1.large", Spec: corev1.NodeSpec{ProviderID: n.ProviderID}, Addresses: addresses,
		}.Node())
	}
	return out
}

// NodesYAML gives the Node manifests as one YAML stream.
func (s Seed) NodesYAML() ([]byte, error) { return seed.Manifests(s.KubernetesNodes()) }

// CloudConf gives a cloud.conf of the official controller.
// Source: kubernetes/cloud-provider-openstack:pkg/client/client.go (AuthOpts).
func (s Seed) CloudConf(url string) []byte {
	return fmt.Appendf(nil, "[Global]\nauth-url = %s/identity/v3\nusername = %s\npassword = %s\ntenant-name = %s\ndomain-name = %s\nregion = %s\n\n[LoadBalancer]\nfloating-network-id = %s\nsubnet-id = %s\n",
		url, UserName, Password, s.Project, domain, s.Region, s.Public.ID, s.Cluster.Subnets[0].ID)
}

// WriteFiles writes seed.json, nodes.yaml and cloud.conf into a folder, which it makes
// if need be.
func (c *Cloud) WriteFiles(dir, url string) error {
	return seed.Write(dir, struct {
		URL string `json:"url"`
		Seed
	}{url, c.Seed}, c.Seed.KubernetesNodes(), map[string][]byte{"cloud.conf": c.Seed.CloudConf(url)})
}
