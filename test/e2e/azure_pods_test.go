package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/cluster"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

var podsPlane cluster.Shared

// gatewayFinalizer is what the official controller has on Services of this mode.
const gatewayFinalizer = "servicegateway.azure.com/service-cleanup"

// TestAzurePods: Services send to their pods by a service gateway. The pods move, the
// controller is killed in the middle, and in the end nothing is left, of the finalizer
// of the official controller either.
func TestAzurePods(t *testing.T) {
	t.Parallel()
	w := startOn(t, &podsPlane, "azure", 3, "--pools=podIP", "--pods=8")
	before := w.dump()
	nodes := w.podNodes()
	var fleet []corev1.Service
	for i := range 12 {
		fleet = append(fleet, w.service(fmt.Sprintf("pods-%d", i), func(s *corev1.Service) { s.Finalizers = []string{gatewayFinalizer} }))
	}
	w.slowWrites()
	w.must(w.Create(t.Context(), fleet...))
	for i, svc := range fleet {
		w.podsAt(svc.Name, nodes, i%3)
	}
	meter := w.meter()
	for _, writes := range []int{3, 20} {
		w.killAfter(w.controller(), meter, writes)
	}
	controller := w.controller()
	w.programmed(fleet...)
	w.placesAre(fleet, func(i int) int { return i % 3 })
	for i, svc := range fleet {
		w.podsAt(svc.Name, nodes, 4+i%2)
	}
	w.placesAre(fleet, func(i int) int { return 4 + i%2 })
	w.nothingPlanned()
	w.must(w.Delete(t.Context(), fleet...))
	w.killAfter(controller, w.meter(), 10)
	w.controller()
	w.gone(fleet...)
	w.nothingLeft(before)
}

// nothingPlanned wants that the command line, which reads the pods of the cluster for
// itself, has nothing to do either.
func (w *world) nothingPlanned() {
	w.t.Helper()
	plan := exec.CommandContext(w.t.Context(), w.Binaries.Berth, "plan", "-A", "--provider", "azure",
		"--cloud-config", filepath.Join(w.Sim.Dir, "cloud.conf"), "--kubeconfig", w.Cluster.Kubeconfig(""))
	plan.Env = append(os.Environ(), w.Credentials()...)
	if said, err := plan.CombinedOutput(); err != nil {
		w.t.Errorf("plan: %v\n%s", err, said)
	}
}

// podNodes are the machines with the addresses of their pods.
func (w *world) podNodes() []simazure.Node {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Sim.Dir, "seed.json"))
	w.must(err)
	var seed simazure.Seed
	w.must(json.Unmarshal(text, &seed))
	return seed.Nodes
}

// podsAt says that a Service has the n-th pod of every node, as the controller of
// endpoints would.
func (w *world) podsAt(name string, nodes []simazure.Node, n int) {
	w.t.Helper()
	ready, port, portName := true, int32(8080), "tcp-80"
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Service", Name: name, UID: w.get(name).UID}
	epslice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.ns, Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}, OwnerReferences: []metav1.OwnerReference{owner},
		},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &portName, Port: &port}},
	}
	for _, node := range nodes {
		epslice.Endpoints = append(epslice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{node.Pods[n]}, NodeName: &node.Name, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		})
	}
	epslices := w.Client.DiscoveryV1().EndpointSlices(w.ns)
	if _, err := epslices.Get(w.t.Context(), name, metav1.GetOptions{}); err == nil {
		_, err = epslices.Update(w.t.Context(), epslice, metav1.UpdateOptions{})
		w.must(err)
		return
	}
	_, err := epslices.Create(w.t.Context(), epslice, metav1.CreateOptions{})
	w.must(err)
}

// placesAre waits until the gateway has every Service on its pods and nowhere else,
// and its load balancer on the address that its status says.
func (w *world) placesAre(fleet []corev1.Service, pod func(i int) int) {
	w.t.Helper()
	want := map[string][]string{}
	for i, svc := range fleet {
		for _, node := range w.podNodes() {
			uid := strings.ToLower(string(w.get(svc.Name).UID))
			want[uid] = append(want[uid], node.PrivateIP+" "+node.Pods[pod(i)])
		}
		slices.Sort(want[strings.ToLower(string(w.get(svc.Name).UID))])
	}
	c, err := dialAzure(w.Sim.URL)
	w.must(err)
	w.eventually("places of pods", func() error {
		got, err := w.podPlaces(c)
		if err != nil {
			return err
		}
		return diffError("places by service", want, got)
	})
	for _, svc := range fleet {
		w.eventually("status of "+svc.Name, func() error {
			now := w.get(svc.Name)
			ip, err := c.NewPublicIPAddressesClient().Get(w.t.Context(), azureGroup, strings.ToLower(string(now.UID))+"-pip", nil)
			if err != nil {
				return err
			}
			var said []string
			for _, in := range now.Status.LoadBalancer.Ingress {
				said = append(said, in.IP)
			}
			if ip.Properties.IPAddress == nil {
				return fmt.Errorf("the cloud has given %s no address", *ip.Name)
			}
			return diffError("addresses", []string{*ip.Properties.IPAddress}, said)
		})
	}
}

// podPlaces are the nodes and addresses of pods that the gateway sends to, by Service.
func (w *world) podPlaces(c *armnetwork.ClientFactory) (map[string][]string, error) {
	pager := c.NewServiceGatewaysClient().NewGetAddressLocationsPager(azureGroup, "servicegateway", nil)
	all, err := readPages(w.t.Context(), pager.More, pager.NextPage,
		func(p armnetwork.ServiceGatewaysClientGetAddressLocationsResponse) []*armnetwork.ServiceGatewayAddressLocationResponse {
			return p.Value
		})
	got := map[string][]string{}
	for _, location := range all {
		for _, address := range location.Addresses {
			for _, service := range address.Services {
				got[*service] = append(got[*service], *location.AddressLocation+" "+*address.Address)
			}
		}
	}
	for _, list := range got {
		slices.Sort(list)
	}
	return got, err
}
