package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// startCloud runs a cloud until the test ends, and returns its URL and the folder of its seed.
func startCloud(t *testing.T, cloud string, args ...string) (url, dir string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	dir = filepath.Join(t.TempDir(), "seed")
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := runCommand(ctx, append([]string{"--cloud", cloud, "--out", dir, "--throttle"}, args...), out)
		out.CloseWithError(err)
		done <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("stopped with %v, want no error", err)
		}
	})
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), cloud+" simulator ready at ")
	if !ok {
		t.Fatalf("printed %q, want the URL", line)
	}
	return url, dir
}

func TestRun(t *testing.T) {
	url, dir := startCloud(t, "aws", "--nodes", "2")
	resp, err := http.Get(url + "/_sim/throttle")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(body), "ec2-describe") {
		t.Errorf("throttle %s, %v, want the real buckets", body, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	conf, err := os.ReadFile(filepath.Join(dir, "cloud.conf"))
	if err != nil || strings.Count(string(conf), "URL = "+url+"\n") != 3 {
		t.Errorf("cloud.conf %s, %v, want the URL %s three times", conf, err, url)
	}
}

func TestRunAzure(t *testing.T) {
	url, dir := startCloud(t, "azure", "--nodes", "2", "--nodes-as", "flex", "--outbound")
	pem, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	for _, base := range []string{url, strings.Replace(url, "http:", "https:", 1)} {
		resp, err := client.Get(base + "/metadata/endpoints?api-version=2019-05-01")
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK || resp.Body.Close() != nil {
			t.Errorf("%s: status %d", base, resp.StatusCode)
		}
	}
	client.CloseIdleConnections()
	conf, err := os.ReadFile(filepath.Join(dir, "cloud.conf"))
	if err != nil || !strings.Contains(string(conf), `"resourceManagerEndpoint": "`+url+`"`) || !strings.Contains(string(conf), `"vmType": "vmssflex"`) {
		t.Errorf("cloud.conf %s, %v", conf, err)
	}
}

func TestRunAzurePods(t *testing.T) {
	url, dir := startCloud(t, "azure", "--pools", "podIP", "--pods", "3", "--late-gateways", "--write-latency", "1h")
	resp, err := http.Get(url + "/_sim/state")
	if err != nil {
		t.Fatal(err)
	}
	state, err := io.ReadAll(resp.Body)
	if closed := resp.Body.Close(); err != nil || closed != nil || !strings.Contains(string(state), "/serviceGateways/servicegateway/services/default-natgw\"") {
		t.Errorf("state %s, %v, %v, want the default of the gateway", state, err, closed)
	}
	for name, want := range map[string]string{"cloud.conf": `"serviceGatewayEnabled": true`, "nodes.yaml": "podCIDR: 10.64.2.0/24", "seed.json": `"10.64.2.4"`} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v, want %s", name, text, err, want)
		}
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{
		{"--cloud", "nimbus"}, {"--cloud=nimbus"}, {"--nodes", "many"}, {"--nodes", "-1"}, {"--cloud", "azure", "--nodes-as", "pets"}, {"--cloud", "azure", "--pools", "podIP", "--outbound"}, {"--cloud", "azure", "--pods", "251"}, {"extra"}, {"--listen", "nowhere:x"},
	} {
		if err := runCommand(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
