package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

const (
	// etcdSocket and peerSocket are socket files in the data folder, which is the
	// working directory of both sides. etcd reads them as host and port, hence
	// the number; the relative name keeps clear of the length limit of socket
	// paths. Sockets need no free ports and no other etcd can answer on them.
	etcdSocket = "etcd:1"
	peerSocket = "peer:1"

	tokensFile  = "tokens.csv"
	keyFile     = "service-account.key"
	policyFile  = "audit-policy.json"
	certDir     = "certificates"
	certificate = certDir + "/apiserver.crt"
)

func etcdArgs() []string {
	return []string{
		"--data-dir=etcd.data",
		"--listen-client-urls=unix://" + etcdSocket,
		"--advertise-client-urls=unix://" + etcdSocket,
		"--listen-peer-urls=unix://" + peerSocket,
		"--initial-advertise-peer-urls=unix://" + peerSocket,
		"--initial-cluster=default=unix://" + peerSocket,
		// The data is not needed after a crash.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func apiServerArgs(o Options, port int) []string {
	ranges := "10.96.0.0/12"
	if o.DualStack {
		ranges += ",fd00:10:96::/112"
	}
	args := []string{
		"--etcd-servers=unix://" + etcdSocket,
		"--secure-port=" + strconv.Itoa(port),
		"--permit-port-sharing=true",
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		// The server makes its own certificate in an empty folder.
		"--cert-dir=" + certDir,
		"--service-cluster-ip-range=" + ranges,
		// The usual range has 2,768 ports, too few for load tests.
		"--service-node-port-range=1024-65000",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + keyFile,
		"--service-account-signing-key-file=" + keyFile,
		"--token-auth-file=" + tokensFile,
		"--authorization-mode=RBAC",
		// ServiceAccount would refuse Pods, for no controller makes the default
		// service accounts; TaintNodesByCondition would taint every new Node
		// as not ready, and no controller takes the taint away.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		// The server's own address is loopback, which validation refuses.
		"--endpoint-reconciler-type=none",
		// Load tests measure the controller, not the server's throttling.
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=4000",
		"--max-mutating-requests-inflight=2000",
	}
	if o.EmulatedVersion != "" {
		args = append(args, "--emulated-version="+o.EmulatedVersion)
	}
	if !o.WatchLists {
		args = append(args, "--feature-gates=WatchList=false")
	}
	if o.Audit {
		args = append(args, "--audit-policy-file="+policyFile, "--audit-log-path="+auditLog(o.Out))
	}
	return args
}

func auditLog(out string) string { return filepath.Join(out, "audit.log") }

func controllerManagerArgs(kubeconfigPath string) []string {
	return []string{
		"--kubeconfig=" + kubeconfigPath,
		"--controllers=endpointslice-controller",
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials=false",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

// etcdReady returns a probe that asks etcd for its health over its socket.
func etcdReady(data string) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialSocket(ctx, data, etcdSocket)
		},
	}}
	return func(ctx context.Context) error { return getURL(ctx, client, "http://etcd/health", "") }
}

func dialSocket(ctx context.Context, data, name string) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, "unix", filepath.Join(data, name))
}

// apiServerReady returns a probe for /readyz. It trusts only the certificate in
// the data folder, so no other server can answer in this one's place.
func apiServerReady(data, url string, c credential) func(context.Context) error {
	return func(ctx context.Context) error {
		ca, err := os.ReadFile(filepath.Join(data, certificate))
		if err != nil {
			return err
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(ca) {
			return errors.New("certificate is not complete")
		}
		client := &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		}}
		return getURL(ctx, client, url+"/readyz", c.secret)
	}
}

func getURL(ctx context.Context, client *http.Client, url, token string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d: %s", url, response.StatusCode, body)
	}
	return nil
}
