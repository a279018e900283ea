package simtest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	armpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Running is a simulator that serves until the test ends.
type Running struct {
	// URL is the HTTPS side; PlainURL is the same address over HTTP.
	URL, PlainURL string
	Cloud         *simazure.Cloud
	// Client trusts the simulator's certificate.
	Client *http.Client
	// Credential returns tokens without a request.
	Credential azcore.TokenCredential
}

// Start serves a new cloud in memory, without connections for plain requests.
func Start(t testing.TB, opt simazure.Options) *Running {
	t.Helper()
	l := virtual.Listen()
	r := startRunning(t, l, l.Name, opt)
	l.AnswerBy(r.Cloud)
	return r
}

// StartLoopback serves a new cloud on a free port, for clients outside of virtual time.
func StartLoopback(t testing.TB, opt simazure.Options) *Running {
	t.Helper()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("azure simulator: %v", err)
	}
	return startRunning(t, inner, inner.Addr().String(), opt)
}

func startRunning(t testing.TB, on net.Listener, host string, opt simazure.Options) *Running {
	t.Helper()
	opt.Hosts = append(opt.Hosts, host)
	c := virtual.Fresh(t, simazure.New, opt)
	transport := virtual.Transport()
	transport.TLSClientConfig = &tls.Config{RootCAs: c.Authority.Pool(), MinVersion: tls.VersionTLS12}
	t.Cleanup(transport.CloseIdleConnections)
	virtual.Serve(t, c.Listener(on), c)
	return &Running{URL: "https://" + host, PlainURL: "http://" + host, Cloud: c, Client: &http.Client{Transport: transport}, Credential: Token{}}
}

// Options points the SDK's clients at the HTTPS side. Retries are short, so that
// faults do not make a test wait.
func (r *Running) Options() *armpolicy.ClientOptions { return r.options(r.URL) }

// PlainOptions does the same over HTTP.
func (r *Running) PlainOptions() *armpolicy.ClientOptions { return r.options(r.PlainURL) }

func (r *Running) options(url string) *armpolicy.ClientOptions {
	return &armpolicy.ClientOptions{ClientOptions: policy.ClientOptions{
		Cloud: cloud.Configuration{
			ActiveDirectoryAuthorityHost: r.URL,
			Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: url, Audience: r.URL}},
		},
		InsecureAllowCredentialWithHTTP: true,
		Transport:                       r.Client,
		Retry:                           policy.RetryOptions{MaxRetries: -1},
	}}
}

// Token is a credential that needs no login.
type Token struct{}

// GetToken gives the same worthless token to everyone.
func (Token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated", ExpiresOn: time.Now().Add(time.Hour)}, nil
}
