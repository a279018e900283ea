package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNodeObject(t *testing.T) {
	got := Node{
		Name: "a", ProviderID: "aws:///z/i-1", Zone: "z", Labels: map[string]string{"pool": "blue"},
		InternalIPs: []string{"10.0.0.1", "fd00::1"}, ExternalIPs: []string{"192.0.2.1"}, NotReady: true,
	}.Object()
	want := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{
			"kubernetes.io/hostname": "a", "topology.kubernetes.io/zone": "z", "pool": "blue",
		}},
		Spec: corev1.NodeSpec{ProviderID: "aws:///z/i-1"},
		Status: corev1.NodeStatus{
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeHostName, Address: "a"},
				{Type: corev1.NodeInternalIP, Address: "10.0.0.1"},
				{Type: corev1.NodeInternalIP, Address: "fd00::1"},
				{Type: corev1.NodeExternalIP, Address: "192.0.2.1"},
			},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("node differs (-want +got):\n%s", diff)
	}
}

func TestReadNodes(t *testing.T) {
	got, err := ReadNodes(filepath.Join("testdata", "nodes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
	want := []*corev1.Node{
		{
			TypeMeta:   kind,
			ObjectMeta: metav1.ObjectMeta{Name: "single"},
			Spec:       corev1.NodeSpec{ProviderID: "aws:///eu-central-1a/i-0a"},
			Status: corev1.NodeStatus{
				Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		},
		{TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{Name: "listed"}, Spec: corev1.NodeSpec{Unschedulable: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes differ (-want +got):\n%s", diff)
	}
}

func TestReadNodesRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"another kind":  "kind: Pod\n",
		"unknown field": "kind: Node\nspec: {provider: x}\n",
		"not YAML":      "{",
	} {
		path := filepath.Join(t.TempDir(), "nodes.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if nodes, err := ReadNodes(path); err == nil {
			t.Errorf("%s: want an error, got %v", name, nodes)
		}
	}
}

func TestLabelPrefix(t *testing.T) {
	for name, want := range map[string]string{
		"TestA/two_words": "testa-two-words",
		"/_/":             "test",
		"TestAVeryLongNameThatGoesOnAndOnUntilItDoesNotFitAnyMore": "testaverylongnamethatgoesonandonuntilitdoesnotfita",
	} {
		if got := labelPrefix(name); got != want {
			t.Errorf("%s: want %q, got %q", name, want, got)
		}
	}
}
