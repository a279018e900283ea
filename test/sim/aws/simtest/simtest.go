package simtest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Running is a simulator that serves until the test ends.
type Running struct {
	URL   string
	Cloud *simaws.Cloud
	// Config is for the official SDK's NewFromConfig; it has the URL, the region and
	// credentials that are not verified.
	Config aws.Config
}

// Start serves a new cloud in memory.
func Start(t testing.TB, opt simaws.Options) *Running {
	t.Helper()
	cloud := virtual.Fresh(t, simaws.New, opt)
	return newRunning(virtual.Start(t, cloud), cloud, opt)
}

// StartLoopback serves a new cloud on a free port, for clients outside of virtual time.
func StartLoopback(t testing.TB, opt simaws.Options) *Running {
	t.Helper()
	cloud := virtual.Fresh(t, simaws.New, opt)
	return newRunning(virtual.StartLoopback(t, cloud), cloud, opt)
}

func newRunning(url string, cloud *simaws.Cloud, opt simaws.Options) *Running {
	region := opt.Region
	if region == "" {
		region = "us-east-1"
	}
	return &Running{URL: url, Cloud: cloud, Config: Config(url, region)}
}

// whole hands requests with their bodies in memory to the transport, which then
// sends header and body at once. Otherwise it sends the body first and looks for
// its end afterwards; the SDK closes the body when the answer begins, and an
// answer as quick as the simulator's can come in between and be lost.
// Source: github.com/aws/smithy-go:transport/http/client.go.
type whole struct{ next *http.Transport }

func (w whole) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return w.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	// A round tripper must not change the request it is given.
	out := r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	return w.next.RoundTrip(out)
}

// CloseIdleConnections lets http.Client reach the transport behind.
func (w whole) CloseIdleConnections() { w.next.CloseIdleConnections() }

// Config is a client configuration for a simulator at a URL.
func Config(url, region string) aws.Config {
	return aws.Config{
		Region:       region,
		HTTPClient:   &http.Client{Transport: whole{virtual.Transport()}},
		BaseEndpoint: aws.String(url),
		Credentials:  credentials.NewStaticCredentialsProvider("AKIDSIMULATOR", "secret", ""),
	}
}
