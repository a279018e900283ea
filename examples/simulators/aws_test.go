// Package simulators shows how a test of another program uses a simulated cloud.
package simulators

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/smithy-go"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/aws"
)

// TestLoadBalancer creates a load balancer with the official SDK, is refused once on
// purpose, and reads the journal.
func TestLoadBalancer(t *testing.T) {
	cloud, err := aws.New(aws.Options{Seed: aws.SeedOptions{Nodes: 3}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(cloud)
	defer server.Close()
	client := elbv2.New(elbv2.Options{
		Region:       "us-east-1",
		BaseEndpoint: &server.URL,
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
	})

	_, err = cloud.Faults.Add(sim.Fault{
		Operation: "CreateLoadBalancer", Count: 1,
		Kind: sim.FaultError, Status: http.StatusBadRequest, Code: "TooManyLoadBalancers",
	})
	if err != nil {
		t.Fatal(err)
	}
	input := &elbv2.CreateLoadBalancerInput{
		Name: awssdk.String("web"), Type: "network", Subnets: cloud.Seed.PublicSubnets(),
	}
	var refused smithy.APIError
	if _, err := client.CreateLoadBalancer(t.Context(), input); !errors.As(err, &refused) || refused.ErrorCode() != "TooManyLoadBalancers" {
		t.Fatalf("the first creation: %v", err)
	}
	if _, err := client.CreateLoadBalancer(t.Context(), input); err != nil {
		t.Fatal(err)
	}
	for _, call := range cloud.Journal.Entries() {
		t.Log(call.Operation, call.Status)
	}
	if calls := cloud.Journal.Calls(); calls != 2 {
		t.Errorf("%d calls, want 2", calls)
	}
}
