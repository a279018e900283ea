package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestOwnPods: with --own-pods an EndpointSlice written by hand leads to pods of its own
// namespace only, and an event reports it on the Service. A pod that gets its address later
// than the slice is found. Without the option every address is used.
func TestOwnPods(t *testing.T) {
	w := startOn(t, &plane, "azure", 2, "--pools=podIP", "--pods=6")
	elsewhere := plane.Cluster(t).Namespace(t)
	before := w.dump()
	nodes := w.podNodes()
	believing := w.controller()
	svc := w.service("mine")
	w.must(w.Create(t.Context(), svc))
	w.runPods(elsewhere, nodes, 1)
	w.podsAt("mine", nodes, 1)
	w.placesAre([]corev1.Service{svc}, func(int) int { return 1 })
	w.must(believing.Stop(limit))

	w.controller("--own-pods")
	w.placesAre(nil, nil) // those of the other namespace get no traffic any more
	w.addUnmatched("mine", nodes, 1)
	w.runPods(w.ns, nodes, 2)
	w.podsAt("mine", nodes, 2)
	w.placesAre([]corev1.Service{svc}, func(int) int { return 2 })
	w.podsAt("mine", nodes, 3) // not there yet
	w.placesAre(nil, nil)
	w.runPods(w.ns, nodes, 3)
	w.placesAre([]corev1.Service{svc}, func(int) int { return 3 })
	w.programmed(svc)
	if text, code := w.berth("plan", "-A", "--own-pods"); code != 0 {
		t.Errorf("plan: exit code %d\n%s", code, text)
	}
	w.podsAt("mine", nodes, 1)
	w.placesAre(nil, nil)
	if text, code := w.berth("plan", "-A", "--own-pods"); code != 0 || !strings.Contains(text, "no pod of this namespace") {
		t.Errorf("plan with strays: exit code %d\n%s", code, text)
	}
	if text, code := w.berth("plan", "-A"); code == 0 {
		t.Errorf("without the option the slice is not believed:\n%s", text)
	}
	w.remove(svc)
	w.nothingLeft(before)
}

// strays waits until an event on a Service lists the addresses that were left out.
func (w *world) addUnmatched(name string, nodes []simazure.Node, n int) {
	w.t.Helper()
	w.eventually("the owner is told", func() error {
		told := strings.Join(w.warnings(name), "\n")
		var all error
		for _, node := range nodes {
			all = errors.Join(all, requireWords(told, "no pod of this namespace", node.Pods[n]))
		}
		return all
	})
}

// runPods says that the n-th address of every node is that of a pod of a namespace.
func (w *world) runPods(namespace string, nodes []simazure.Node, n int) {
	w.t.Helper()
	ctx, core := w.t.Context(), w.Client.CoreV1()
	accounts := core.ServiceAccounts(namespace)
	if _, err := accounts.Get(ctx, "default", metav1.GetOptions{}); err != nil {
		_, err = accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
		w.must(err)
	}
	for i, node := range nodes {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d-%d", n, i)}}
		pod.Spec.NodeName, pod.Spec.Containers = node.Name, []corev1.Container{{Name: "web", Image: "example.com/web"}}
		made, err := core.Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		w.must(err)
		made.Status.Phase, made.Status.PodIP = corev1.PodRunning, node.Pods[n]
		made.Status.PodIPs = []corev1.PodIP{{IP: node.Pods[n]}}
		_, err = core.Pods(namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
		w.must(err)
	}
}
