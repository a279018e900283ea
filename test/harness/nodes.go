package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// RegisterNodes creates the missing Nodes of the simulator's machines, all at once.
func (w *World) RegisterNodes(ctx context.Context) error {
	nodes, err := w.SeedNodes()
	if err != nil {
		return err
	}
	for i := range nodes {
		if err := w.JoinNode(ctx, &nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

// SeedNodes are the Nodes of the simulator's machines, by name.
func (w *World) SeedNodes() ([]corev1.Node, error) {
	body, err := os.ReadFile(filepath.Join(w.Sim.Dir, "nodes.yaml"))
	if err != nil {
		return nil, err
	}
	return decodeDocuments[corev1.Node](body)
}

// Pods are the addresses that the simulator's machines have for pods, machine by machine.
func (w *World) Pods() ([]string, error) {
	body, err := os.ReadFile(filepath.Join(w.Sim.Dir, "seed.json"))
	if err != nil {
		return nil, err
	}
	var seed struct {
		Nodes []struct {
			Pods []string `json:"pods"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(body, &seed); err != nil {
		return nil, fmt.Errorf("seed.json: %w", err)
	}
	var out []string
	for _, n := range seed.Nodes {
		out = append(out, n.Pods...)
	}
	return out, nil
}

// JoinNode creates a Node with its status, as a kubelet does.
func (w *World) JoinNode(ctx context.Context, n *corev1.Node) error {
	if _, err := w.Client.CoreV1().Nodes().Create(ctx, n.DeepCopy(), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	return nil
}

// LeaveNode deletes a Node.
func (w *World) LeaveNode(ctx context.Context, name string) error {
	return w.Client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
}

// decodeDocuments reads the YAML documents of one type.
func decodeDocuments[T any](body []byte) ([]T, error) {
	reader := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(body), 4096)
	var out []T
	for {
		var one T
		err := reader.Decode(&one)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
}
