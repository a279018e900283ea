package oci_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim"
)

// TestWithoutWorkloadIdentity verifies that the error for a missing workload identity names
// what is missing and the next step, and keeps the informative part of the SDK's message.
func TestWithoutWorkloadIdentity(t *testing.T) {
	const version, region, host = "OCI_RESOURCE_PRINCIPAL_VERSION", "OCI_RESOURCE_PRINCIPAL_REGION", "KUBERNETES_SERVICE_HOST"
	set := func(name, value string) func(*testing.T) {
		return func(t *testing.T) { t.Helper(); t.Setenv(name, value) }
	}
	unset := func(name string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			t.Setenv(name, "")
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		lack func(*testing.T)
		want string
	}{
		"no version": {unset(version), version + " is not set for the controller; set it to 2.2, by extraEnv of the chart"},
		"a version":  {set(version, "3.0"), version + ` is "3.0" for the controller; set it to 2.2, by extraEnv of the chart`},
		"no region":  {unset(region), region + " is not set for the controller; set it to the cluster's region, such as eu-frankfurt-1, by extraEnv of the chart"},
		"no cluster": {unset(host), host + " is not set for the controller; run the controller in a pod of the cluster, where it is set"},
		"no certificate": {set("OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH", "/nowhere"), "the certificate of the cluster cannot be read: open /nowhere: no such file or directory; " +
			"let the pod have the token of its ServiceAccount mounted, or name the file in OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH"},
		"no token": {set("OCI_WORKLOAD_IDENTITY_TOKEN_PATH", "/nowhere"), "its token cannot be used; let the pod have it mounted, or name the file in OCI_WORKLOAD_IDENTITY_TOKEN_PATH " +
			"(reading service account token: open /nowhere: no such file or directory)"},
	} {
		t.Run(name, func(t *testing.T) {
			running := startGuarded(t)
			startProxy(t, running)
			c.lack(t)
			err := serveWithConfig(t, running, "useWorkloadIdentity: true\ncompartment: "+running.Cloud.Seed.Compartment+"\n")
			if want := "the controller gets no workload identity: " + c.want; err == nil || !strings.HasSuffix(strings.TrimSuffix(err.Error(), ", []"), want) {
				t.Errorf("told %v\nwant %s", err, want)
			}
		})
	}
}

// TestServiceWithoutWorkloadIdentity verifies the same message for the ServiceAccount that
// a Service names, including the answer of the cluster's proxy.
func TestServiceWithoutWorkloadIdentity(t *testing.T) {
	s, _, r := startWithAccounts(t, "balancers")
	_, err := s.Control().Faults.Add(sim.Fault{Operation: "CreateWorkloadToken", Kind: sim.FaultError, Status: http.StatusForbidden, Code: "NotAuthorized", Message: "no workload"})
	if err != nil {
		t.Fatal(err)
	}
	told := func() (fault.Meaning, string) {
		t.Helper()
		_, err := r.Draft(t.Context(), reconcile.Job{Service: serviceWithAccount("web", "balancers", 0)})
		if err == nil {
			t.Fatal("it was drafted")
		}
		return fault.Of(err), conditions.FailedText(err)
	}
	meaning, text := told()
	begin := "service account shop/balancers gets no workload identity: the cluster's proxy at 127.0.0.1:12250 gives none for its token; " +
		"the cluster must be an enhanced one, and the controller reach that port; the controller retries (Status: 403 Forbidden, Message: "
	if meaning != fault.Unavailable || !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, ")") || strings.Contains(text, "sdk_authentication") {
		t.Errorf("told %s: %s", meaning, text)
	}
	t.Setenv("OCI_RESOURCE_PRINCIPAL_VERSION", "3.0")
	r = reconcile.New(s.Open(t), reconcile.Options{})
	want := `service account shop/balancers gets no workload identity: OCI_RESOURCE_PRINCIPAL_VERSION is "3.0" for the controller; set it to 2.2, by extraEnv of the chart`
	if meaning, text = told(); meaning != fault.Denied || text != want {
		t.Errorf("told %s: %s", meaning, text)
	}
}
