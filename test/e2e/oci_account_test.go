package e2e

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/cluster"
)

var accountPlane = cluster.Shared{Options: cluster.Options{Audit: true}}

// workloads is what a cluster of Oracle exchanges tokens at, and the environment of a pod
// that finds it.
func (w *world) workloads() []any {
	w.t.Helper()
	target, err := url.Parse(w.Sim.URL)
	w.must(err)
	front := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(target))
	_ = front.Listener.Close()
	w.eventually("the port of the proxy is free", func() error {
		front.Listener, err = (&net.ListenConfig{}).Listen(w.t.Context(), "tcp", "127.0.0.1:12250")
		if err != nil {
			time.Sleep(100 * time.Millisecond)
		}
		return err
	})
	front.StartTLS()
	w.t.Cleanup(front.Close)
	authority := filepath.Join(w.Dir, "proxy.crt")
	w.must(os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}), 0o600))
	variable := func(name, value string) any { return map[string]any{"name": name, "value": value} }
	return []any{
		variable("OCI_RESOURCE_PRINCIPAL_VERSION", "2.2"), variable("OCI_RESOURCE_PRINCIPAL_REGION", "eu-frankfurt-1"),
		variable("KUBERNETES_SERVICE_HOST", "127.0.0.1"), variable("OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH", authority),
	}
}

// TestServiceAccountOnOCI: the chart grants the right to request tokens of one
// ServiceAccount. A Service that names it is served with its identity, from the first call to
// the last. For a Service that names another one, the missing right is reported.
func TestServiceAccountOnOCI(t *testing.T) {
	t.Parallel()
	w := startOn(t, &accountPlane, "oci", 2)
	for _, name := range []string{"balancers", "others"} {
		_, err := w.Client.CoreV1().ServiceAccounts(w.ns).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		w.must(err)
	}
	values := inPlaceOf(w)
	delete(values, "metrics")
	values["extraEnv"] = w.workloads()
	values["oci"] = map[string]any{"workloadServiceAccounts": []any{map[string]any{"namespace": w.ns, "names": []string{"balancers"}}}}
	r := w.install("berth", values)
	r.pod()
	const key = ociShared + "workload-service-account"
	since := w.now()
	svc := w.create("web", setAnnotation(key, "balancers"))
	w.remove(svc)
	entries, err := w.Sim.Journal(t.Context(), since)
	w.must(err)
	deleted := false
	for _, e := range entries {
		if who := e.Request["(workload)"]; e.Service != "auth" && who != w.ns+"/balancers" {
			t.Errorf("%s was called by %q", e.Operation, who)
		}
		deleted = deleted || e.Operation == "DeleteLoadBalancer" && e.Committed
	}
	if !deleted {
		t.Error("the load balancer was not deleted")
	}
	w.must(w.Create(t.Context(), w.service("other", setAnnotation(key, "others"))))
	c := w.condition("other", status.TypeProgrammed, metav1.ConditionFalse, status.ReasonDenied)
	if want := fmt.Sprintf("may not request tokens of service account %s/others", w.ns); !strings.Contains(c.Message, want) {
		t.Errorf("told %q, want %q", c.Message, want)
	}
}
