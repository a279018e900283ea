package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// parallelNodes is how many Nodes are written at once.
const parallelNodes = 8

// Node describes a Node in short. Whatever it cannot say is set on the object.
type Node struct {
	Name       string
	ProviderID string // as the cloud's controllers write it
	// Region, Zone and InstanceType become the well-known labels; an empty one is
	// left out.
	Region, Zone, InstanceType string
	// Labels are further labels.
	Labels                   map[string]string
	InternalIPs, ExternalIPs []string
	Taints                   []corev1.Taint
	Unschedulable            bool
	NotReady                 bool
}

// Object returns the Node with its status, as a kubelet and the cloud's node
// controller together would have written it.
func (n Node) Object() *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{corev1.LabelHostname: n.Name}},
		Spec:       corev1.NodeSpec{ProviderID: n.ProviderID, Taints: n.Taints, Unschedulable: n.Unschedulable},
		Status: corev1.NodeStatus{
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: n.Name}},
			Conditions: []corev1.NodeCondition{readyCondition(!n.NotReady)},
		},
	}
	for key, value := range map[string]string{
		corev1.LabelTopologyRegion:     n.Region,
		corev1.LabelTopologyZone:       n.Zone,
		corev1.LabelInstanceTypeStable: n.InstanceType,
	} {
		if value != "" {
			node.Labels[key] = value
		}
	}
	for key, value := range n.Labels {
		node.Labels[key] = value
	}
	for _, ip := range n.InternalIPs {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip})
	}
	for _, ip := range n.ExternalIPs {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: ip})
	}
	return node
}

func readyCondition(ready bool) corev1.NodeCondition {
	condition := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}
	if !ready {
		condition.Status, condition.Reason = corev1.ConditionFalse, "KubeletNotReady"
	}
	return condition
}

// CreateNodes creates Nodes with the status they carry; the API server keeps the
// status of a new Node.
func (c *Cluster) CreateNodes(ctx context.Context, nodes ...*corev1.Node) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelNodes)
	for _, node := range nodes {
		group.Go(func() error {
			if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("node %s: create: %w", node.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// DeleteNodes deletes Nodes. It returns no error for one that is not found.
func (c *Cluster) DeleteNodes(ctx context.Context, names ...string) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelNodes)
	for _, name := range names {
		group.Go(func() error {
			err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("node %s: delete: %w", name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// SetNodeReady sets the Ready condition of a Node.
func (c *Cluster) SetNodeReady(ctx context.Context, name string, ready bool) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{
		"status": map[string]any{"conditions": []corev1.NodeCondition{readyCondition(ready)}},
	})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("node %s: status: %w", name, err)
	}
	return nil
}

// Nodes creates Nodes and deletes them after the test.
func (c *Cluster) Nodes(t testing.TB, nodes ...*corev1.Node) {
	t.Helper()
	t.Cleanup(func() {
		if c.hasEnded() {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cleanUpWithin)
		defer cancel()
		names := make([]string, 0, len(nodes))
		for _, node := range nodes {
			names = append(names, node.Name)
		}
		if err := c.DeleteNodes(ctx, names...); err != nil {
			t.Errorf("clean-up: %v", err)
		}
	})
	if err := c.CreateNodes(t.Context(), nodes...); err != nil {
		t.Fatal(err)
	}
}

// ReadNodes reads Nodes from a YAML or JSON file: one or more documents, each a
// Node or a list such as kubectl get nodes prints. Unknown fields and other kinds
// are errors. What the server sets by itself is removed, so that the Nodes of one
// cluster can be created in another.
func ReadNodes(path string) ([]*corev1.Node, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var nodes []*corev1.Node
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err == nil {
			nodes, err = appendNodes(nodes, document)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", path, number, err)
		}
	}
}

func appendNodes(nodes []*corev1.Node, document []byte) ([]*corev1.Node, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	var list corev1.NodeList
	switch kind.Kind {
	case "": // Only comments, as before the first separator.
		return nodes, nil
	case "Node":
		list.Items = make([]corev1.Node, 1)
		if err := yaml.UnmarshalStrict(document, &list.Items[0]); err != nil {
			return nil, err
		}
	case "List", "NodeList":
		if err := yaml.UnmarshalStrict(document, &list); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("kind %q is not a Node", kind.Kind)
	}
	for i := range list.Items {
		node := &list.Items[i]
		node.UID, node.ResourceVersion, node.ManagedFields = "", "", nil
		nodes = append(nodes, node)
	}
	return nodes, nil
}
