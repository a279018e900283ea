package aws

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
				corev1.LabelInstanceTypeStable: "m5.large",
				corev1.LabelArchStable:         "amd64",
				corev1.LabelOSStable:           "linux",
			}},
			Spec: corev1.NodeSpec{ProviderID: n.ProviderID},
			Status: corev1.NodeStatus{
				Addresses: []corev1.NodeAddress{
					{Type: corev1.NodeInternalIP, Address: n.PrivateIP},
					{Type: corev1.NodeInternalDNS, Address: n.Name},
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
	for name, data := range map[string][]byte{"seed.json": append(doc, '\n'), "nodes.yaml": nodes, "cloud.conf": s.CloudConf(url)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("seed file: %w", err)
		}
	}
	return nil
}
