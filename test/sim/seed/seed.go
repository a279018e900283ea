package seed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Machine is where a Node runs.
type Machine struct {
	Name, Region, Zone, Size string
	Spec                     corev1.NodeSpec
	Addresses                []corev1.NodeAddress // besides the hostname, which is last
}

// Node is the Node object of a machine that is ready.
func (m Machine) Node() corev1.Node {
	ready := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: m.Name, Labels: map[string]string{
			corev1.LabelHostname:           m.Name,
			corev1.LabelTopologyZone:       m.Zone,
			corev1.LabelTopologyRegion:     m.Region,
			corev1.LabelInstanceTypeStable: m.Size,
			corev1.LabelArchStable:         "amd64",
			corev1.LabelOSStable:           "linux",
		}},
		Spec: m.Spec,
		Status: corev1.NodeStatus{
			Addresses: append(m.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: m.Name}),
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "simulated node",
				LastHeartbeatTime: ready, LastTransitionTime: ready,
			}},
		},
	}
}

// Manifests gives Nodes as one YAML stream.
func Manifests(nodes []corev1.Node) ([]byte, error) {
	var b bytes.Buffer
	for _, n := range nodes {
		doc, err := yaml.Marshal(n)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
		b.WriteString("---\n")
		b.Write(doc)
	}
	return b.Bytes(), nil
}

// Write writes nodes.yaml, seed.json with what describes the cloud, which a struct
// is that has its URL, and the other files into a folder, which it makes if need be.
func Write(dir string, describes any, nodes []corev1.Node, others map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("seed folder: %w", err)
	}
	doc, err := json.MarshalIndent(describes, "", "  ")
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	manifests, err := Manifests(nodes)
	if err != nil {
		return err
	}
	files := map[string][]byte{"seed.json": append(doc, '\n'), "nodes.yaml": manifests}
	for name, data := range others {
		files[name] = data
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("seed file: %w", err)
		}
	}
	return nil
}
