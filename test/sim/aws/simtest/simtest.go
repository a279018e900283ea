package simtest

import (
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// Running is a simulator that serves until the test ends.
type Running struct {
	URL   string
	Cloud *simaws.Cloud
	// Config is for the official SDK's NewFromConfig; it has the URL, the region
	// and credentials that nobody checks.
	Config aws.Config
}

// Start serves a new cloud on a free port of the loopback interface.
func Start(t testing.TB, opt simaws.Options) *Running {
	t.Helper()
	cloud, err := simaws.New(opt)
	if err != nil {
		t.Fatalf("aws simulator: %v", err)
	}
	server := httptest.NewServer(cloud)
	t.Cleanup(server.Close)
	region := opt.Region
	if region == "" {
		region = "us-east-1"
	}
	return &Running{URL: server.URL, Cloud: cloud, Config: Config(server.URL, region)}
}

// Config is a client configuration for a simulator at a URL.
func Config(url, region string) aws.Config {
	return aws.Config{
		Region:       region,
		BaseEndpoint: aws.String(url),
		Credentials:  credentials.NewStaticCredentialsProvider("AKIDSIMULATOR", "secret", ""),
	}
}
