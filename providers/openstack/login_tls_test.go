package openstack_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// overTLS serves a cloud over HTTPS to clients that show a certificate, and returns its
// URL and the files of a certificate, which is the server's as well, and its key.
func overTLS(t *testing.T) (url, certFile, keyFile string) {
	t.Helper()
	cloud, err := simopenstack.New(simopenstack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(cloud)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, block *pem.Block) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return server.URL, file("cert.pem", &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), file("key.pem", &pem.Block{Type: "PRIVATE KEY", Bytes: key})
}

// TestLoginsOverTLS verifies that the keys of the official file determine the trusted
// authorities and the client certificate.
func TestLoginsOverTLS(t *testing.T) {
	url, cert, key := overTLS(t)
	const user = "username = " + simopenstack.UserName + "\ndomain-name = Default\ntenant-name = berth\npassword = " + simopenstack.Password + "\n"
	believed, shown := "ca-file = "+cert+"\n", "cert-file = "+cert+"\nkey-file = "+key+"\n"
	nothing := filepath.Join(t.TempDir(), "nothing.pem")
	if err := os.WriteFile(nothing, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]struct{ keys, refused string }{
		"a certificate to believe and one to show": {believed + shown, ""},
		"no check of certificates":                 {"tls-insecure = true\n" + shown, ""},
		"no certificate to trust":                  {shown, "certificate"},
		"nothing to show":                          {believed, "certificate"},
		"a file without a certificate":             {"ca-file = " + nothing + "\n", "ca-file"},
		"a certificate without its key":            {believed + "cert-file = " + cert + "\nkey-file = " + cert + "\n", "cert-file and key-file"},
	} {
		t.Run(name, func(t *testing.T) {
			file := "[Global]\nauth-url = " + url + "/identity/v3\n" + user + l.keys
			_, problems, err := providers.EntryOf(openstack.Cloud()).Open(t.Context(), bytes.NewReader([]byte(file)), providers.Env{Cluster: "kubernetes", Now: time.Now})
			switch {
			case l.refused == "" && (err != nil || len(problems) > 0):
				t.Errorf("not let in: %v, %v", err, problems)
			case l.refused != "" && (err == nil || !strings.Contains(err.Error(), l.refused)):
				t.Errorf("told %v, want %q", err, l.refused)
			}
		})
	}
}
