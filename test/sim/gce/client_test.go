package gce_test

import (
	"context"
	"errors"
	"testing"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/protobuf/proto"

	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/simtest"
)

// newClient creates a REST client of the newer library and closes it when the test
// ends.
func newClient[C interface{ Close() error }](t *testing.T, r *simtest.Running, make func(context.Context, ...option.ClientOption) (C, error)) C {
	t.Helper()
	c, err := make(t.Context(), r.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestRESTClients builds a load balancer with the newer client library, which
// reads answers as protocol buffers.
func TestRESTClients(t *testing.T) {
	r := simtest.StartLoopback(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 4}})
	checks, services := newClient(t, r, compute.NewRegionHealthChecksRESTClient), newClient(t, r, compute.NewRegionBackendServicesRESTClient)
	rules, operations := newClient(t, r, compute.NewForwardingRulesRESTClient), newClient(t, r, compute.NewRegionOperationsRESTClient)
	wait := func(op *compute.Operation, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		out, err := operations.Wait(t.Context(), &computepb.WaitRegionOperationRequest{Project: project, Region: region, Operation: op.Name()})
		if err != nil || out.GetStatus() != computepb.Operation_DONE || out.GetError() != nil {
			t.Fatalf("operation %v, %v", out, err)
		}
	}
	wait(checks.Insert(t.Context(), &computepb.InsertRegionHealthCheckRequest{Project: project, Region: region, HealthCheckResource: &computepb.HealthCheck{
		Name: proto.String("hc"), Type: proto.String("HTTP"), HttpHealthCheck: &computepb.HTTPHealthCheck{Port: proto.Int32(10256)}, TimeoutSec: proto.Int32(1),
	}}))
	wait(services.Insert(t.Context(), &computepb.InsertRegionBackendServiceRequest{Project: project, Region: region, BackendServiceResource: &computepb.BackendService{
		Name: proto.String("lb"), LoadBalancingScheme: proto.String("EXTERNAL"), HealthChecks: []string{"projects/berth-demo/regions/us-central1/healthChecks/hc"},
	}}))
	op, err := rules.Insert(t.Context(), &computepb.InsertForwardingRuleRequest{Project: project, Region: region, ForwardingRuleResource: &computepb.ForwardingRule{
		Name: proto.String("lb"), BackendService: proto.String("projects/berth-demo/regions/us-central1/backendServices/lb"), Ports: []string{"80", "443"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := op.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	rule, err := rules.Get(t.Context(), &computepb.GetForwardingRuleRequest{Project: project, Region: region, ForwardingRule: "lb"})
	if err != nil || rule.GetIPProtocol() != "TCP" || rule.GetIPAddress() == "" || rule.GetId() == 0 {
		t.Errorf("rule %v, %v", rule, err)
	}
	_, err = rules.Get(t.Context(), &computepb.GetForwardingRuleRequest{Project: project, Region: region, ForwardingRule: "ghost"})
	if e := (*googleapi.Error)(nil); !errors.As(err, &e) || e.Code != 404 || e.Errors[0].Reason != "notFound" {
		t.Errorf("missing rule: %v, want 404 notFound", err)
	}
}

func TestRESTIterators(t *testing.T) {
	r := simtest.StartLoopback(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 9}})
	instances := newClient(t, r, compute.NewInstancesRESTClient)
	var names []string
	list := instances.List(t.Context(), &computepb.ListInstancesRequest{Project: project, Zone: zoneA, MaxResults: proto.Uint32(2), Filter: proto.String("name eq berth-demo.*")})
	for {
		i, err := list.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, i.GetName())
	}
	if diff := cmp.Diff([]string{"berth-demo-node-1", "berth-demo-node-5", "berth-demo-node-9"}, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if n := r.Cloud.Journal.Counts()["compute.instances.list"]; n != 2 {
		t.Errorf("%d calls, want 2 pages", n)
	}
}
