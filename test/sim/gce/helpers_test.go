package gce_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/model"
)

const (
	project = "berth-demo"
	region  = "us-central1"
	zoneA   = "us-central1-a"
	zoneB   = "us-central1-b"
	base    = "https://www.googleapis.com/compute/v1/projects/" + project + "/"
)

// world is a simulator whose answers are compared with the API's description,
// and a client of google.golang.org/api.
type world struct {
	*testing.T
	url   string
	cloud *simgce.Cloud
	api   *compute.Service
}

// described reads the API's description once.
var described = sync.OnceValues(model.Load)

func startWorld(t *testing.T, opt simgce.Options) world {
	t.Helper()
	api, err := described()
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := simgce.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.Handler(t, cloud, func(r *http.Request) string {
		path, ok := strings.CutPrefix(r.URL.Path, "/compute/v1/")
		if !ok {
			return ""
		}
		route, _, _ := cloud.Compute.Find(r.Method, path)
		return route.ID
	}))
	t.Cleanup(server.Close)
	client, err := compute.NewService(t.Context(), option.WithEndpoint(server.URL+"/compute/v1/"), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	return world{t, server.URL, cloud, client}
}

// errorCode returns the result of a call: empty for success, else the HTTP status and the reason,
// or the code of the operation in capitals.
func errorCode(err error) string {
	if e := (*googleapi.Error)(nil); errors.As(err, &e) {
		if len(e.Errors) == 0 {
			return fmt.Sprint(e.Code)
		}
		return fmt.Sprintf("%d %s", e.Code, e.Errors[0].Reason)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// done waits for an operation and returns its result.
func (w world) done(op *compute.Operation, err error) string {
	w.Helper()
	if err != nil {
		return errorCode(err)
	}
	if op.Status == "DONE" {
		w.Errorf("%s: answered as done", op.OperationType)
	}
	switch {
	case op.Zone != "":
		op, err = w.api.ZoneOperations.Wait(project, op.Zone[strings.LastIndex(op.Zone, "/")+1:], op.Name).Context(w.Context()).Do()
	case op.Region != "":
		op, err = w.api.RegionOperations.Wait(project, region, op.Name).Context(w.Context()).Do()
	default:
		op, err = w.api.GlobalOperations.Wait(project, op.Name).Context(w.Context()).Do()
	}
	if err != nil {
		return errorCode(err)
	}
	if op.Status != "DONE" {
		return op.Status
	}
	if op.Error != nil {
		return fmt.Sprintf("%d %s", op.HttpErrorStatusCode, op.Error.Errors[0].Code)
	}
	return ""
}

// must ends the test if a change fails.
func (w world) must(op *compute.Operation, err error) {
	w.Helper()
	if got := w.done(op, err); got != "" {
		w.Fatal(got, err)
	}
}

func (w world) check(name string) string {
	w.Helper()
	w.must(w.api.RegionHealthChecks.Insert(project, region, &compute.HealthCheck{Name: name, Type: "HTTP", HttpHealthCheck: &compute.HTTPHealthCheck{Port: 10256, RequestPath: "/healthz"}}).Do())
	return base + "regions/" + region + "/healthChecks/" + name
}

func (w world) group(zone, name string, nodes ...string) string {
	w.Helper()
	w.must(w.api.InstanceGroups.Insert(project, zone, &compute.InstanceGroup{Name: name}).Do())
	if len(nodes) > 0 {
		w.must(w.api.InstanceGroups.AddInstances(project, zone, name, &compute.InstanceGroupsAddInstancesRequest{Instances: instanceRefs(zone, nodes...)}).Do())
	}
	return base + "zones/" + zone + "/instanceGroups/" + name
}

func (w world) neg(zone, name string) string {
	w.Helper()
	w.must(w.api.NetworkEndpointGroups.Insert(project, zone, &compute.NetworkEndpointGroup{
		Name: name, NetworkEndpointType: "GCE_VM_IP", Network: w.cloud.Seed.Network, Subnetwork: w.cloud.Seed.Subnets[0].URL,
	}).Do())
	return base + "zones/" + zone + "/networkEndpointGroups/" + name
}

// service makes a backend service; change may alter it before.
func (w world) service(name, scheme string, change func(*compute.BackendService)) string {
	s := &compute.BackendService{Name: name, LoadBalancingScheme: scheme, Protocol: "TCP", HealthChecks: []string{"regions/" + region + "/healthChecks/hc"}}
	if change != nil {
		change(s)
	}
	return w.done(w.api.RegionBackendServices.Insert(project, region, s).Do())
}

func (w world) rule(r *compute.ForwardingRule) string {
	return w.done(w.api.ForwardingRules.Insert(project, region, r).Do())
}

func (w world) getRule(name string) *compute.ForwardingRule {
	w.Helper()
	r, err := w.api.ForwardingRules.Get(project, region, name).Do()
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w world) pool(name string) string {
	w.Helper()
	w.must(w.api.TargetPools.Insert(project, region, &compute.TargetPool{Name: name}).Do())
	return "regions/" + region + "/targetPools/" + name
}

func instanceRefs(zone string, nodes ...string) []*compute.InstanceReference {
	var out []*compute.InstanceReference
	for _, n := range nodes {
		out = append(out, &compute.InstanceReference{Instance: "zones/" + zone + "/instances/" + n})
	}
	return out
}
