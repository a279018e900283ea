package e2e

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/test/harness"
)

const excludeLabel = "node.kubernetes.io/exclude-from-external-load-balancers"

// patchNode changes a Node by a strategic merge patch.
func (w *world) patchNode(name string, patch map[string]any, subresource ...string) {
	w.t.Helper()
	body, err := json.Marshal(patch)
	w.must(err)
	_, err = w.Client.CoreV1().Nodes().Patch(w.t.Context(), name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, subresource...)
	w.must(err)
}

// label sets a label of a Node; nil takes it off.
func (w *world) label(node, key string, value any) {
	w.t.Helper()
	w.patchNode(node, map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}})
}

func (w *world) taint(node string, taints ...corev1.Taint) {
	w.t.Helper()
	w.patchNode(node, map[string]any{"spec": map[string]any{"taints": append([]corev1.Taint{}, taints...)}})
}

// both waits until both Services have the instances as members.
func (w *world) both(what string, instances ...string) {
	w.t.Helper()
	w.eventually(what, func() error {
		classic, err := w.balancer("classic")
		if err != nil {
			return err
		}
		network, err := w.balancer("network")
		if err != nil {
			return err
		}
		return errors.Join(
			diffError("classic", inOrder(slices.Clone(instances)...), classic.Members),
			diffError("network", onPort(80, instances...), network.Members),
		)
	})
}

// seed are the Nodes that the machines have; from the given one on they have
// left the cluster.
func (w *world) seed(joined int) []corev1.Node {
	w.t.Helper()
	nodes, err := w.SeedNodes()
	w.must(err)
	for _, n := range nodes[joined:] {
		w.must(w.LeaveNode(w.t.Context(), n.Name))
	}
	return nodes
}

func TestNodesComeAndGo(t *testing.T) {
	w := startWorld(t, 4)
	nodes, machines := w.seed(3), w.machines()
	w.controller()
	w.create("classic")
	w.create("network", useNetworkType)
	w.both("at first", machines[:3]...)

	w.must(w.JoinNode(t.Context(), &nodes[3]))
	w.both("one joins", machines...)
	w.must(w.LeaveNode(t.Context(), nodes[0].Name))
	w.both("one leaves", machines[1:]...)
	w.label(nodes[1].Name, excludeLabel, "")
	w.both("one is excluded", machines[2:]...)
	w.label(nodes[1].Name, excludeLabel, "false")
	w.both("excluded \"false\" is included", machines[1:]...)
	w.taint(nodes[2].Name, corev1.Taint{Key: "ToBeDeletedByClusterAutoscaler", Value: "1", Effect: corev1.TaintEffectNoSchedule})
	w.both("the autoscaler takes one away", machines[1], machines[3])
	w.taint(nodes[2].Name)
	w.both("the autoscaler has changed its mind", machines[1:]...)
}

// TestHeartbeatsAreFree sends what kubelets write all the time: it must not
// reach the cloud, not even as a read.
func TestHeartbeatsAreFree(t *testing.T) {
	w := startWorld(t, 3)
	nodes := w.seed(3)
	w.controller()
	w.create("classic")
	w.create("network", useNetworkType)
	w.settled(w.meter())
	meter := w.meter()
	for beat := range 5 {
		for _, n := range nodes {
			at := metav1.NewTime(time.Now().Add(time.Duration(beat) * time.Second))
			w.patchNode(n.Name, map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: at, LastTransitionTime: at,
			}}}}, "status")
		}
	}
	w.label(nodes[0].Name, "example.com/nobody-asks", "1")
	w.patchNode(nodes[1].Name, map[string]any{"spec": map[string]any{"unschedulable": true}})
	if calls := w.settled(meter); calls.All > 0 {
		t.Errorf("heartbeats made cloud calls: %v", calls.ByOperation)
	}
}

// TestNodeWithoutProviderID joins as nodes do before their cloud knows them.
func TestNodeWithoutProviderID(t *testing.T) {
	w := startWorld(t, 3)
	nodes, machines := w.seed(2), w.machines()
	w.controller()
	w.create("classic")
	w.create("network", useNetworkType)
	w.both("at first", machines[:2]...)
	meter := w.meter()
	late := nodes[2].DeepCopy()
	id := late.Spec.ProviderID
	late.Spec.ProviderID = ""
	w.must(w.JoinNode(t.Context(), late))
	w.noWrites("a node without provider id", meter)
	w.patchNode(late.Name, map[string]any{"spec": map[string]any{"providerID": id}})
	w.both("it has got one", machines...)
	if warned := append(w.warnings("classic"), w.warnings("network")...); len(warned) > 0 {
		t.Errorf("a node without provider id is no reason to warn: %q", warned)
	}
}

// TestBurstOfNodes lets ten nodes join at once: one call per load balancer that
// registers them.
func TestBurstOfNodes(t *testing.T) {
	w := startWorld(t, 12)
	nodes, machines := w.seed(2), w.machines()
	w.controller()
	w.create("classic")
	w.create("network", useNetworkType, setPorts(80, 0, 443, 0))
	w.settled(w.meter())
	meter := w.meter()
	for i := range nodes[2:] {
		w.must(w.JoinNode(t.Context(), &nodes[2+i]))
	}
	w.becomes("classic", membersOf, inOrder(slices.Clone(machines)...))
	w.becomes("network", membersOf, inOrder(append(onPort(80, machines...), onPort(443, machines...)...)...))
	calls := w.settled(meter)
	if n := calls.ByOperation["elb.RegisterInstancesWithLoadBalancer"]; n != 1 {
		t.Errorf("registered with the Classic Load Balancer by %d calls, want 1", n)
	}
	if n := calls.ByOperation["elbv2.RegisterTargets"]; n != 2 {
		t.Errorf("registered with two target groups by %d calls, want 2", n)
	}
	if calls.Writes != 3 {
		t.Errorf("want 3 writes for ten nodes, got %v", calls.ByOperation)
	}
}

// TestTargetNodeLabels narrows the nodes of one Service down, and keeps the last
// ones when a typing mistake would leave none.
func TestTargetNodeLabels(t *testing.T) {
	w := startWorld(t, 3)
	nodes, machines := w.seed(3), w.machines()
	w.label(nodes[0].Name, "role", "edge")
	w.controller()
	w.create("classic", setAnnotation("target-node-labels", "role=edge"))
	w.create("network", useNetworkType, setAnnotation("target-node-labels", "role=edge"))
	w.both("one is labelled", machines[0])
	w.label(nodes[2].Name, "role", "edge")
	w.both("another is labelled", machines[0], machines[2])
	w.label(nodes[0].Name, "role", nil)
	w.both("the label is taken off", machines[2])

	meter := w.meter()
	w.update("classic", setAnnotation("target-node-labels", "role=egde"))
	w.eventually("a warning that no node matches", func() error {
		return requireWords(strings.Join(w.warnings("classic"), "\n"), "NoMatchingNodes")
	})
	w.noWrites("no node matches", meter)
	w.both("the last ones stay", machines[2])
	if svc := w.get("classic"); len(svc.Status.LoadBalancer.Ingress) == 0 {
		t.Errorf("the address is gone: %s", harness.Conditions(svc))
	}
	w.update("classic", setAnnotation("target-node-labels", ""))
	w.becomes("classic", membersOf, inOrder(slices.Clone(machines)...))
}

// TestNoNodesAtAll starts before any node exists.
func TestNoNodesAtAll(t *testing.T) {
	w := startWorld(t, 2)
	nodes, machines := w.seed(0), w.machines()
	w.controller()
	w.create("classic")
	w.create("network", useNetworkType)
	w.both("nobody")
	for _, name := range []string{"classic", "network"} {
		if err := diffError("warnings", 1, countOf(w.warnings(name), "UnAvailableLoadBalancer")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range nodes {
		w.must(w.JoinNode(t.Context(), &nodes[i]))
	}
	w.both("all", machines...)
}

// countOf counts the texts that have a word in them.
func countOf(texts []string, word string) int {
	n := 0
	for _, text := range texts {
		if strings.Contains(text, word) {
			n++
		}
	}
	return n
}
