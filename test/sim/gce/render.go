package gce

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
			Name: n.Name, Region: s.Region, Zone: n.Zone, Size: "e2-standard-4",
			Spec: corev1.NodeSpec{ProviderID: n.ProviderID, PodCIDR: n.PodCIDR, PodCIDRs: []string{n.PodCIDR}},
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: n.InternalIP},
				{Type: corev1.NodeExternalIP, Address: n.ExternalIP},
			},
		}.Node())
	}
	return out
}

// NodesYAML gives the Node manifests as one YAML stream.
func (s Seed) NodesYAML() ([]byte, error) { return seed.Manifests(s.KubernetesNodes()) }

// CloudConf gives a gce.conf of the official controllers. Network and subnetwork
// are given as the URLs that the API answers with, because names would be turned
// into URLs of the endpoint and then differ from those.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce.go (ConfigGlobal).
func (s Seed) CloudConf(url string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "[global]\nproject-id = %s\n", s.Project)
	if s.NetworkProject != s.Project {
		fmt.Fprintf(&b, "network-project-id = %s\n", s.NetworkProject)
	}
	fmt.Fprintf(&b, "network-name = %s\nsubnetwork-name = %s\n", s.Network, s.Subnets[0].URL)
	fmt.Fprintf(&b, "node-tags = %s\nnode-instance-prefix = %s\nregional = true\nmultizone = true\nlocal-zone = %s\n", s.NodeTag, s.NodePrefix, s.Zones[0])
	fmt.Fprintf(&b, "api-endpoint = %s/compute/v1/\ntoken-url = %s/token\ntoken-body = \"{}\"\n", url, url)
	return []byte(b.String())
}

// WriteFiles writes seed.json, nodes.yaml, gce.conf, the same as cloud.conf, and
// a service account key into a folder, which it makes if need be. A cloud that
// began empty has nothing to write, which is an error.
func (c *Cloud) WriteFiles(dir, url string) error {
	s := c.Seed
	if s.Network == "" {
		return errors.New("seed: the cloud began empty, there is nothing to write")
	}
	key, err := c.Identity.KeyFile(s.Project, url)
	if err != nil {
		return err
	}
	conf := s.CloudConf(url)
	return seed.Write(dir, struct {
		URL string `json:"url"`
		Seed
	}{url, s}, s.KubernetesNodes(), map[string][]byte{"gce.conf": conf, "cloud.conf": conf, "service-account.json": key})
}
