package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var plane Shared

func TestMain(m *testing.M) { plane.Main(m) }

// soon is far more than anything here takes on a busy machine.
const soon = 30 * time.Second

func newClient(t *testing.T, c *Cluster) kubernetes.Interface {
	t.Helper()
	api, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func clientFor(t *testing.T, config *rest.Config, err error) kubernetes.Interface {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func loadBalancer(namespace, name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeLoadBalancer,
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80}, {Name: "https", Port: 443}},
		},
	}
}

func TestNodesKeepTheirStatus(t *testing.T) {
	c := plane.Cluster(t)
	var want []*corev1.Node
	for i := range 20 {
		want = append(want, Node{
			Name:        fmt.Sprintf("node-%02d", i),
			ProviderID:  fmt.Sprintf("aws:///eu-central-1a/i-%02d", i),
			Zone:        "eu-central-1a",
			InternalIPs: []string{fmt.Sprintf("10.0.0.%d", i+1)},
		}.Object())
	}
	c.Nodes(t, want...)
	nodes, err := newClient(t, c).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes.Items) != len(want) {
		t.Fatalf("want %d nodes, got %d", len(want), len(nodes.Items))
	}
	for i, got := range nodes.Items {
		if diff := cmp.Diff(want[i].Status.Addresses, got.Status.Addresses); diff != "" {
			t.Errorf("%s: addresses differ (-want +got):\n%s", got.Name, diff)
		}
		if diff := cmp.Diff(want[i].Spec, got.Spec); diff != "" {
			t.Errorf("%s: spec differs, a taint perhaps (-want +got):\n%s", got.Name, diff)
		}
	}
	if err := c.SetNodeReady(t.Context(), "node-07", false); err != nil {
		t.Fatal(err)
	}
	node, err := newClient(t, c).CoreV1().Nodes().Get(t.Context(), "node-07", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]corev1.NodeCondition{readyCondition(false)}, node.Status.Conditions); diff != "" {
		t.Errorf("conditions differ (-want +got):\n%s", diff)
	}
}

func TestServiceGetsWhatTheServerAllocates(t *testing.T) {
	c := plane.Cluster(t)
	api := newClient(t, c).CoreV1().Services(c.Namespace(t))
	wish := loadBalancer("", "web")
	dual := corev1.IPFamilyPolicyRequireDualStack
	wish.Spec.IPFamilyPolicy = &dual
	wish.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	service, err := api.Create(t.Context(), wish, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int32]bool{0: true}
	for _, port := range []int32{service.Spec.Ports[0].NodePort, service.Spec.Ports[1].NodePort, service.Spec.HealthCheckNodePort} {
		if seen[port] {
			t.Errorf("node port: want one of its own, got %d", port)
		}
		seen[port] = true
	}
	if len(service.Spec.ClusterIPs) != 2 {
		t.Errorf("cluster addresses: want one per family, got %v", service.Spec.ClusterIPs)
	}

	patch := []byte(`{"status":{"loadBalancer":{"ingress":[{"hostname":"lb.example.com"}]}}}`)
	if _, err := api.Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	if service, err = api.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []corev1.LoadBalancerIngress{{Hostname: "lb.example.com"}}
	if diff := cmp.Diff(want, service.Status.LoadBalancer.Ingress); diff != "" {
		t.Errorf("status differs (-want +got):\n%s", diff)
	}
}

func TestEndpointSliceControllerRuns(t *testing.T) {
	c := plane.Cluster(t)
	api, namespace := newClient(t, c), c.Namespace(t)
	if _, err := api.CoreV1().Services(namespace).Create(t.Context(), loadBalancer("", "web"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	Eventually(t, soon, func() error {
		slices, err := api.DiscoveryV1().EndpointSlices(namespace).List(t.Context(), metav1.ListOptions{
			LabelSelector: discoveryv1.LabelServiceName + "=web",
		})
		if err == nil && len(slices.Items) == 0 {
			err = errors.New("service web has no EndpointSlice")
		}
		return err
	})
}

func TestNamespaceLeavesNoServices(t *testing.T) {
	c := plane.Cluster(t)
	var namespaces []string
	t.Run("uses two", func(t *testing.T) {
		for range 2 {
			namespace := c.Namespace(t)
			namespaces = append(namespaces, namespace)
			held := loadBalancer("", "held")
			held.Finalizers = []string{"service.kubernetes.io/load-balancer-cleanup"}
			for _, service := range []*corev1.Service{held, loadBalancer("", "free")} {
				if _, err := newClient(t, c).CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	if namespaces[0] == namespaces[1] {
		t.Errorf("want two namespaces, got %s twice", namespaces[0])
	}
	for _, namespace := range namespaces {
		services, err := newClient(t, c).CoreV1().Services(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(services.Items) != 0 {
			t.Errorf("%s: want no services, got %d", namespace, len(services.Items))
		}
	}
}

func TestImpersonateHasOnlyBoundRights(t *testing.T) {
	c := plane.Cluster(t)
	namespace := c.Namespace(t)
	config, err := c.Impersonate("viewer-" + namespace)
	viewer := clientFor(t, config, err)
	if _, err := viewer.CoreV1().Services(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("without a binding: want forbidden, got %v", err)
	}
	// The role view of every cluster is empty here: a controller fills it.
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "services"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"list"}}},
	}
	if _, err := newClient(t, c).RbacV1().Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "services"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "services"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "viewer-" + namespace}},
	}
	if _, err := newClient(t, c).RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	Eventually(t, soon, func() error {
		_, err := viewer.CoreV1().Services(namespace).List(t.Context(), metav1.ListOptions{})
		return err
	})
}

// TestOptionsAndStop starts a control plane of its own with unusual options and verifies what
// remains after Stop.
func TestOptionsAndStop(t *testing.T) {
	c, err := Start(t.Context(), Options{
		SingleStack: true, NoEndpointSlices: true, Audit: true, EmulatedVersion: "1.34",
		Tokens: []Token{{Name: "ops", User: "olga", Groups: []string{"system:masters"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	config, err := c.RESTConfig("ops")
	ops := clientFor(t, config, err)
	version, err := ops.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.EmulationMinor != "34" {
		t.Errorf("emulated minor: want 34, got %q", version.EmulationMinor)
	}
	wish := loadBalancer("", "dual")
	dual := corev1.IPFamilyPolicyRequireDualStack
	wish.Spec.IPFamilyPolicy = &dual
	if _, err := ops.CoreV1().Services(c.Namespace(t)).Create(t.Context(), wish, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("dual stack on a single-stack cluster: want invalid, got %v", err)
	}
	audit, err := os.ReadFile(c.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(audit), `"username":"olga"`) {
		t.Error("audit log: the user of the token is not in it")
	}
	if _, err := c.RESTConfig("nobody"); err == nil {
		t.Error("unknown token: want an error")
	}

	processes := c.Processes()
	if _, ok := processes["kube-apiserver"]; !ok || len(processes) != 2 {
		t.Errorf("want etcd and kube-apiserver, got %v", processes)
	}
	if err := c.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	for name, pid := range processes {
		if isRunning(pid) {
			t.Errorf("%s still runs after stop", name)
		}
	}
	if _, err := os.Stat(c.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder of the cluster: want it gone, got %v", err)
	}
}

func TestKilledCommandLeavesNoProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux ends the children of a killed process")
	}
	c, err := Start(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "made"), Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	Eventually(t, soon, func() error {
		for name, pid := range c.Processes() {
			if isRunning(pid) {
				return fmt.Errorf("%s still runs", name)
			}
		}
		return nil
	})
	if err := c.Stop(); err == nil {
		t.Error("stop of a killed control plane: want an error")
	}
}

func TestEndOfAProgramIsToldByStop(t *testing.T) {
	c, err := Start(t.Context(), Options{NoEndpointSlices: true, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.Processes()["kube-apiserver"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.ended
	if err := c.Stop(); err == nil {
		t.Error("want an error that tells of kube-apiserver")
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, err := Start(ctx, Options{Progress: io.Discard})
	if err == nil {
		_ = c.Stop()
		t.Fatal("want an error")
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want context.Canceled, got %v", err)
	}
}

// isRunning reports whether a process runs; one that has ended and waits to be
// collected does not.
func isRunning(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
