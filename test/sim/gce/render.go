package gce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// KubernetesNodes gives the Node objects of the seeded instances.
func (s Seed) KubernetesNodes() []corev1.Node {
	ready := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	out := make([]corev1.Node, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		out = append(out, corev1.Node{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{
				corev1.LabelHostname:           n.Name,
				corev1.LabelTopologyZone:       n.Zone,
				corev1.LabelTopologyRegion:     s.Region,
				corev1.LabelInstanceTypeStable: "e2-standard-4",
				corev1.LabelArchStable:         "amd64",
				corev1.LabelOSStable:           "linux",
			}},
			Spec: corev1.NodeSpec{ProviderID: n.ProviderID, PodCIDR: n.PodCIDR, PodCIDRs: []string{n.PodCIDR}},
			Status: corev1.NodeStatus{
				Addresses: []corev1.NodeAddress{
					{Type: corev1.NodeInternalIP, Address: n.InternalIP},
					{Type: corev1.NodeExternalIP, Address: n.ExternalIP},
					{Type: corev1.NodeHostName, Address: n.Name},
				},
				Conditions: []corev1.NodeCondition{{
					Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "simulated node",
					LastHeartbeatTime: ready, LastTransitionTime: ready,
				}},
			},
		})
	}
	return out
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
	key, err := c.Identity.KeyFile(s.Project, url)
	if err != nil {
		return err
	}
	conf := s.CloudConf(url)
	for name, data := range map[string][]byte{
		"seed.json": append(doc, '\n'), "nodes.yaml": nodes, "gce.conf": conf, "cloud.conf": conf, "service-account.json": key,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("seed file: %w", err)
		}
	}
	return nil
}
