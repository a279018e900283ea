package oci_test

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/service/conditions"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// setExchange gives the environment of a pod whose identity an identity domain gives, and returns
// the configuration.
func setExchange(t *testing.T, running *simtest.Running) string {
	t.Helper()
	for name, value := range map[string]string{
		"DOMAIN_URL": running.URL, "RESOURCE_TYPE": "berth", "CLIENT_ID": simoci.DomainClient, "CLIENT_SECRET": simoci.DomainSecret,
		"TOKEN_PATH": writeFile(t, "token", []byte(accountToken("kube-system", "berth", time.Now().Add(time.Hour)))),
	} {
		t.Setenv("OCI_WORKLOAD_IDENTITY_"+name, value)
	}
	return "useWorkloadIdentity: true\nregionKey: " + running.Cloud.Seed.Region + "\ncompartment: " + running.Cloud.Seed.Compartment + "\n"
}

// TestTokenExchange: an identity domain gives the token that calls are signed with, to a client
// or to the machine.
func TestTokenExchange(t *testing.T) {
	for name, machine := range map[string]bool{"client": false, "machine": true} {
		t.Run(name, func(t *testing.T) {
			running := startGuarded(t)
			file := setExchange(t, running)
			if machine {
				t.Setenv("OCI_WORKLOAD_IDENTITY_CLIENT_ID", "")
				t.Setenv("OCI_WORKLOAD_IDENTITY_USE_INSTANCE_PRINCIPAL_FOR_TOKEN_EXCHANGE", "true")
				t.Setenv("OCI_METADATA_BASE_URL", running.URL+"/opc/v2")
				t.Setenv("OCI_SDK_AUTH_CLIENT_REGION_URL", running.URL)
			}
			if err := serveWithConfig(t, running, file); err != nil {
				t.Error(err)
			}
			if counts := running.Cloud.Journal.Counts(); counts["auth.ExchangeToken"] == 0 || counts["auth.CreateWorkloadToken"] != 0 || counts["loadbalancer.CreateLoadBalancer"] != 1 {
				t.Errorf("calls: %v", counts)
			}
		})
	}
}

// TestWithoutTokenExchange: the error names what is missing, and the next step.
func TestWithoutTokenExchange(t *testing.T) {
	const begin = "the controller gets no workload identity: "
	for name, c := range map[string]struct{ variable, value, want string }{
		"no URL":      {"DOMAIN_URL", "idcs-0", `OCI_WORKLOAD_IDENTITY_DOMAIN_URL is "idcs-0", which is no URL; set it to the URL of the identity domain, by extraEnv of the chart`},
		"no resource": {"RESOURCE_TYPE", "", "OCI_WORKLOAD_IDENTITY_RESOURCE_TYPE is not set for the controller; set it to the resource type of the domain's trust, by extraEnv of the chart"},
		"no client":   {"CLIENT_ID", "", "; set OCI_WORKLOAD_IDENTITY_CLIENT_ID and OCI_WORKLOAD_IDENTITY_CLIENT_SECRET, or OCI_WORKLOAD_IDENTITY_USE_INSTANCE_PRINCIPAL_FOR_TOKEN_EXCHANGE to true, by extraEnv of the chart"},
		"no boolean":  {"USE_INSTANCE_PRINCIPAL_FOR_TOKEN_EXCHANGE", "yes!", `OCI_WORKLOAD_IDENTITY_USE_INSTANCE_PRINCIPAL_FOR_TOKEN_EXCHANGE is "yes!"; set it to true or false`},
		"no token":    {"TOKEN_PATH", "/nowhere", "its token cannot be used; let the pod have it mounted, or name the file in OCI_WORKLOAD_IDENTITY_TOKEN_PATH (reading service account token: open /nowhere: no such file or directory)"},
		"a stranger":  {"CLIENT_SECRET", "guessed", "gives none for its token; check the domain's trust of the cluster's issuer, the client, and OCI_WORKLOAD_IDENTITY_RESOURCE_TYPE; the controller retries (invalid token endpoint response 401 Unauthorized)"},
	} {
		t.Run(name, func(t *testing.T) {
			running := startGuarded(t)
			file := setExchange(t, running)
			t.Setenv("OCI_WORKLOAD_IDENTITY_"+c.variable, c.value)
			err := serveWithConfig(t, running, file)
			if err == nil {
				t.Fatal("it was served")
			}
			if text := conditions.FailedText(err); !strings.Contains(text, begin) || !strings.Contains(text, c.want) {
				t.Errorf("told %s\nwant %s", text, c.want)
			}
		})
	}
}
