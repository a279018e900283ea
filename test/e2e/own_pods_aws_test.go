package e2e

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOwnPodsOnAWS: an EndpointSlice written by hand registers pods of another namespace as
// targets, unless --own-pods, or BERTH_OWN_PODS under the stock loop, forbids it. An event
// reports the refusal on the Service.
func TestOwnPodsOnAWS(t *testing.T) {
	w := startWorld(t, 2)
	w.serveController()
	believing := w.controller()
	svc := w.service("mine", podTargets)
	w.must(w.Create(t.Context(), svc))
	w.programmed(*w.get("mine"))
	group := awssdk.ToString(w.onlyGroup().TargetGroupArn)
	there := *w
	there.ns = plane.Cluster(t).Namespace(t)
	foreign := there.kubelet("theirs")
	foreign.from = netip.MustParseAddr("10.0.250.1")
	theirs := foreign.begin(1)
	mine := w.kubelet("mine").run(2)
	w.forge("mine", theirs)
	w.targetsAre(group, append(slices.Clone(mine), theirs...))
	w.must(believing.Stop(limit))

	holding := w.controller("--own-pods")
	w.targetsAre(group, mine)
	w.eventually("the owner is told", func() error {
		return requireWords(strings.Join(w.warnings("mine"), "\n"), "no pod of this namespace", theirs[0].Status.PodIP)
	})
	w.must(holding.Stop(limit))

	believing = w.controller()
	w.targetsAre(group, append(slices.Clone(mine), theirs...))
	w.must(believing.Stop(limit))
	w.Env = append(w.Env, "BERTH_OWN_PODS=true")
	w.plugin()
	w.targetsAre(group, mine)
	w.remove(svc)
}

// forge writes an EndpointSlice of a Service that names pods of another namespace.
func (w *world) forge(name string, pods []corev1.Pod) {
	w.t.Helper()
	ready, port, portName := true, int32(8080), "tcp-80"
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: w.ns, Name: name + "-forged", Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &portName, Port: &port}},
	}
	for _, p := range pods {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{p.Status.PodIP}, NodeName: &p.Spec.NodeName, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		})
	}
	_, err := w.Client.DiscoveryV1().EndpointSlices(w.ns).Create(w.t.Context(), slice, metav1.CreateOptions{})
	w.must(err)
}

// targetsAre waits until a target group has the pods and no others.
func (w *world) targetsAre(group string, pods []corev1.Pod) {
	w.t.Helper()
	w.hasTargets(group, podAddresses(pods)...)
}
