package oci_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/oci"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// startGuarded starts a cloud that rejects every call that is not signed with a known
// key.
func startGuarded(t *testing.T) *simtest.Running {
	t.Helper()
	return simtest.StartLoopback(t, simoci.Options{RequireSignature: true, Seed: simoci.SeedOptions{Nodes: 2}})
}

// serveWithConfig opens the cloud with a configuration, serves a Service there, and
// returns the error.
func serveWithConfig(t *testing.T, running *simtest.Running, file string) error {
	t.Helper()
	seed := running.Cloud.Seed
	file += fmt.Sprintf("endpoint: %s\nvcn: %s\nloadBalancer: {subnet1: %s, securityListManagementMode: None}\nrateLimiter: {disableRateLimiter: true}\n", running.URL, seed.VCN, seed.Public.ID)
	cloud, problems, err := providers.EntryOf(oci.Cloud()).Open(t.Context(), strings.NewReader(file), providers.Env{Cluster: "kubernetes", Now: time.Now})
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("%w, %v", err, problems)
	}
	r := reconcile.New(cloud, reconcile.Options{})
	r.SetNodes(props.Project(seed.KubernetesNodes()))
	r.AllKnown()
	d, err := r.Draft(t.Context(), reconcile.Job{Service: props.Service("web", nil).Service})
	if err != nil {
		return err
	}
	if d.Problems.Errors() {
		return fmt.Errorf("problems: %v", d.Problems.Strings())
	}
	return r.Run(t.Context(), d, nil).Err
}

// TestAPIKey: calls are signed with the key of the configuration, and with another one
// nothing is done.
func TestAPIKey(t *testing.T) {
	running := startGuarded(t)
	seed, print := running.Cloud.Seed, "20:3b:97:13:55:1c"
	file, err := seed.CloudConf(running.URL, key(), print)
	if err != nil {
		t.Fatal(err)
	}
	file = file[:bytes.Index(file, []byte("endpoint:"))]
	block, _ := pem.Decode(key())
	own, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	id := seed.Tenancy + "/" + seed.User + "/" + print
	running.Cloud.Trust(id, &other.PublicKey)
	if err := serveWithConfig(t, running, string(file)); err == nil || !strings.Contains(err.Error(), "NotAuthenticated") {
		t.Errorf("with a key that is not the user's: %v", err)
	}
	running.Cloud.Trust(id, &own.PublicKey)
	if err := serveWithConfig(t, running, string(file)); err != nil {
		t.Error(err)
	}
}

// TestInstancePrincipal: the machine's certificate gets the token that calls are signed
// with, and its metadata say region and compartment.
func TestInstancePrincipal(t *testing.T) {
	running := startGuarded(t)
	t.Setenv("OCI_METADATA_BASE_URL", running.URL+"/opc/v2")
	t.Setenv("OCI_SDK_AUTH_CLIENT_REGION_URL", running.URL)
	if err := serveWithConfig(t, running, "useInstancePrincipals: true\n"); err != nil {
		t.Error(err)
	}
	counts := running.Cloud.Journal.Counts()
	if counts["auth.CreateX509Token"] == 0 || counts["auth.GetMetadataInstance"] != 1 || counts["loadbalancer.CreateLoadBalancer"] != 1 {
		t.Errorf("calls: %v", counts)
	}
}

// startProxy starts a cluster's proxy, which exchanges tokens of ServiceAccounts, and
// sets the environment of a pod that uses it.
func startProxy(t *testing.T, running *simtest.Running) {
	t.Helper()
	front := httptest.NewUnstartedServer(running.Cloud)
	_ = front.Listener.Close()
	var err error
	for range 300 { // the port is fixed, and another test may have it
		if front.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:12250"); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	front.StartTLS()
	t.Cleanup(front.Close)
	t.Setenv("OCI_RESOURCE_PRINCIPAL_VERSION", "2.2")
	t.Setenv("OCI_RESOURCE_PRINCIPAL_REGION", running.Cloud.Seed.Region)
	t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
	t.Setenv("OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH", writeFile(t, "ca.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})))
}

func writeFile(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// accountToken is a token of a ServiceAccount with the claims that the API server gives it.
func accountToken(namespace, name string, until time.Time) string {
	part := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"sub": "system:serviceaccount:%s:%s", "exp": %d}`, namespace, name, until.Unix())
	return part([]byte(`{"alg":"RS256"}`)) + "." + part([]byte(claims)) + "." + part([]byte("signed"))
}

// TestWorkloadIdentity: the token of the ServiceAccount gets the one that calls are signed
// with.
func TestWorkloadIdentity(t *testing.T) {
	running := startGuarded(t)
	startProxy(t, running)
	t.Setenv("OCI_WORKLOAD_IDENTITY_TOKEN_PATH", writeFile(t, "token", []byte(accountToken("kube-system", "berth", time.Now().Add(time.Hour)))))
	if err := serveWithConfig(t, running, "useWorkloadIdentity: true\ncompartment: "+running.Cloud.Seed.Compartment+"\n"); err != nil {
		t.Error(err)
	}
	if counts := running.Cloud.Journal.Counts(); counts["auth.CreateWorkloadToken"] == 0 || counts["loadbalancer.CreateLoadBalancer"] != 1 {
		t.Errorf("calls: %v", counts)
	}
}

// TestMachine: what the configuration lacks, the machine says; and where it is silent,
// the error says both.
func TestMachine(t *testing.T) {
	running := startGuarded(t)
	t.Setenv("OCI_METADATA_BASE_URL", running.URL+"/opc/v2")
	open := func() error {
		_, _, err := providers.EntryOf(oci.Cloud()).Open(t.Context(), strings.NewReader("auth: {tenancy: t, user: u, fingerprint: f, key: "+quoteText(key())+"}\n"), providers.Env{Now: time.Now})
		return err
	}
	if err := open(); err != nil {
		t.Error(err)
	}
	t.Setenv("OCI_METADATA_BASE_URL", running.URL+"/nothing")
	if err := open(); err == nil || !strings.Contains(err.Error(), "regionKey: is empty, and the metadata of the machine do not tell it") {
		t.Errorf("told %v", err)
	}
}

func quoteText(text []byte) string { return fmt.Sprintf("%q", text) }
