package oci_test

import (
	"testing"
	"time"

	"github.com/oracle/oci-go-sdk/v65/common"
	"github.com/oracle/oci-go-sdk/v65/loadbalancer"

	simoci "github.com/berth-lb/berth/test/sim/oci"
)

// expectRefusal fails the test unless the call was refused with this status and code.
func expectRefusal(t *testing.T, err error, status int, code string) {
	t.Helper()
	service, ok := common.IsServiceError(err)
	if !ok || service.GetHTTPStatusCode() != status || service.GetCode() != code {
		t.Errorf("%v, want %d %s", err, status, code)
	}
}

func classicSet(addresses ...string) loadbalancer.BackendSetDetails {
	out := loadbalancer.BackendSetDetails{
		Policy: common.String("ROUND_ROBIN"), HealthChecker: &loadbalancer.HealthCheckerDetails{Protocol: common.String("HTTP"), UrlPath: common.String("/healthz"), Port: common.Int(10256)},
	}
	for _, a := range addresses {
		out.Backends = append(out.Backends, loadbalancer.BackendDetails{IpAddress: common.String(a), Port: common.Int(30080)})
	}
	return out
}

func (w *world) classicDetails(name string) loadbalancer.CreateLoadBalancerDetails {
	return loadbalancer.CreateLoadBalancerDetails{
		CompartmentId: &w.seed.Compartment, DisplayName: &name, ShapeName: common.String("flexible"), SubnetIds: []string{w.seed.Public.ID},
		ShapeDetails: &loadbalancer.ShapeDetails{MinimumBandwidthInMbps: common.Int(10), MaximumBandwidthInMbps: common.Int(100)},
		BackendSets:  map[string]loadbalancer.BackendSetDetails{"TCP-80": classicSet("10.0.129.1", "10.0.129.2")},
		Listeners:    map[string]loadbalancer.ListenerDetails{"TCP-80": {DefaultBackendSetName: common.String("TCP-80"), Port: common.Int(80), Protocol: common.String("TCP")}},
	}
}

// makeClassic makes a load balancer and gives it with its work request.
func (w *world) makeClassic(t *testing.T, details loadbalancer.CreateLoadBalancerDetails) (loadbalancer.LoadBalancer, string) {
	t.Helper()
	made, err := w.lb.CreateLoadBalancer(t.Context(), loadbalancer.CreateLoadBalancerRequest{CreateLoadBalancerDetails: details})
	if err != nil {
		t.Fatal(err)
	}
	all, err := w.lb.ListLoadBalancers(t.Context(), loadbalancer.ListLoadBalancersRequest{CompartmentId: &w.seed.Compartment, DisplayName: details.DisplayName})
	if err != nil || len(all.Items) != 1 {
		t.Fatalf("found %d, %v; want the one that was made", len(all.Items), err)
	}
	return all.Items[0], *made.OpcWorkRequestId
}

func TestClassic(t *testing.T) {
	w := newWorld(t, simoci.Options{})
	lb, id := w.makeClassic(t, w.classicDetails("a b/c"))
	if lb.LifecycleState != loadbalancer.LoadBalancerLifecycleStateActive || len(lb.IpAddresses) != 1 || !*lb.IpAddresses[0].IsPublic {
		t.Errorf("state %s with addresses %v, want ACTIVE with a public one", lb.LifecycleState, lb.IpAddresses)
	}
	set := lb.BackendSets["TCP-80"]
	if len(set.Backends) != 2 || *set.Backends[0].Name != "10.0.129.1:30080" || *set.Backends[0].Weight != 1 || *set.HealthChecker.Retries != 3 {
		t.Errorf("backend set %v, want its backends and what was not given", set)
	}
	work, err := w.lb.GetWorkRequest(t.Context(), loadbalancer.GetWorkRequestRequest{WorkRequestId: &id})
	if err != nil || work.LifecycleState != loadbalancer.WorkRequestLifecycleStateSucceeded || *work.LoadBalancerId != *lb.Id || *work.Type != "CreateLoadBalancer" {
		t.Errorf("work request %v, %v; want a creation that succeeded", work, err)
	}
	_, err = w.lb.UpdateBackendSet(t.Context(), loadbalancer.UpdateBackendSetRequest{LoadBalancerId: lb.Id, BackendSetName: common.String("TCP-80"), UpdateBackendSetDetails: loadbalancer.UpdateBackendSetDetails{
		Policy: common.String("IP_HASH"), HealthChecker: classicSet().HealthChecker, Backends: []loadbalancer.BackendDetails{},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.lb.GetLoadBalancer(t.Context(), loadbalancer.GetLoadBalancerRequest{LoadBalancerId: lb.Id})
	if err != nil || len(got.BackendSets["TCP-80"].Backends) != 0 || *got.BackendSets["TCP-80"].Policy != "IP_HASH" || got.ETag == nil {
		t.Errorf("after the change %v, %v", got.BackendSets, err)
	}
	_, err = w.lb.DeleteBackendSet(t.Context(), loadbalancer.DeleteBackendSetRequest{LoadBalancerId: lb.Id, BackendSetName: common.String("TCP-80")})
	expectRefusal(t, err, 400, "InvalidParameter")
	if _, err := w.lb.DeleteLoadBalancer(t.Context(), loadbalancer.DeleteLoadBalancerRequest{LoadBalancerId: lb.Id}); err != nil {
		t.Fatal(err)
	}
	_, err = w.lb.GetLoadBalancer(t.Context(), loadbalancer.GetLoadBalancerRequest{LoadBalancerId: lb.Id})
	expectRefusal(t, err, 404, "NotAuthorizedOrNotFound")
}

// TestBusy has a work request that runs until the test ends.
func TestBusy(t *testing.T) {
	w := newWorld(t, simoci.Options{Work: time.Hour})
	lb, id := w.makeClassic(t, w.classicDetails("slow"))
	if lb.LifecycleState != loadbalancer.LoadBalancerLifecycleStateCreating || len(lb.IpAddresses) != 0 {
		t.Errorf("state %s with %v, want CREATING without an address", lb.LifecycleState, lb.IpAddresses)
	}
	_, err := w.lb.DeleteListener(t.Context(), loadbalancer.DeleteListenerRequest{LoadBalancerId: lb.Id, ListenerName: common.String("TCP-80")})
	expectRefusal(t, err, 409, "IncorrectState")
	all, err := w.lb.ListWorkRequests(t.Context(), loadbalancer.ListWorkRequestsRequest{LoadBalancerId: lb.Id})
	if err != nil || len(all.Items) != 1 || *all.Items[0].Id != id || all.Items[0].LifecycleState != loadbalancer.WorkRequestLifecycleStateInProgress {
		t.Errorf("work requests %v, %v; want the one that runs", all.Items, err)
	}
}

func TestClassicRefusals(t *testing.T) {
	w := newWorld(t, simoci.Options{NoFixedShapes: true, Limits: simoci.Limits{Listeners: 1}})
	cases := []struct {
		name   string
		change func(*loadbalancer.CreateLoadBalancerDetails)
		status int
		code   string
	}{
		{"fixed shape", func(d *loadbalancer.CreateLoadBalancerDetails) { d.ShapeName = common.String("100Mbps") }, 400, "LimitExceeded"},
		{"unknown shape", func(d *loadbalancer.CreateLoadBalancerDetails) { d.ShapeName = common.String("large") }, 400, "InvalidParameter"},
		{"no bandwidth", func(d *loadbalancer.CreateLoadBalancerDetails) { d.ShapeDetails = nil }, 400, "MissingParameter"},
		{"minimum above", func(d *loadbalancer.CreateLoadBalancerDetails) {
			d.ShapeDetails.MinimumBandwidthInMbps = common.Int(400)
		}, 400, "InvalidParameter"},
		{"unknown subnet", func(d *loadbalancer.CreateLoadBalancerDetails) { d.SubnetIds = []string{"ocid1.subnet.oc1..none"} }, 400, "RelatedResourceNotAuthorizedOrNotFound"},
		{"private subnet", func(d *loadbalancer.CreateLoadBalancerDetails) { d.SubnetIds = []string{w.seed.Private.ID} }, 400, "InvalidParameter"},
		{"one zone", func(d *loadbalancer.CreateLoadBalancerDetails) { d.SubnetIds = []string{w.seed.Zonal[0].ID} }, 400, "InvalidParameter"},
		{"name of a set", func(d *loadbalancer.CreateLoadBalancerDetails) { d.BackendSets["a b"] = classicSet() }, 400, "InvalidParameter"},
		{"no such set", func(d *loadbalancer.CreateLoadBalancerDetails) { d.BackendSets = nil }, 400, "InvalidParameter"},
		{"backend port", func(d *loadbalancer.CreateLoadBalancerDetails) {
			d.BackendSets["TCP-80"].Backends[0].Port = common.Int(0)
		}, 400, "InvalidParameter"},
		{"backend twice", func(d *loadbalancer.CreateLoadBalancerDetails) {
			d.BackendSets["TCP-80"] = classicSet("10.0.0.1", "10.0.0.1")
		}, 400, "InvalidParameter"},
		{"limit", func(d *loadbalancer.CreateLoadBalancerDetails) {
			d.Listeners["HTTP-81"] = loadbalancer.ListenerDetails{DefaultBackendSetName: common.String("TCP-80"), Port: common.Int(81), Protocol: common.String("HTTP")}
		}, 400, "LimitExceeded"},
		{"certificate", func(d *loadbalancer.CreateLoadBalancerDetails) {
			l := d.Listeners["TCP-80"]
			l.SslConfiguration = &loadbalancer.SslConfigurationDetails{CertificateName: common.String("none")}
			d.Listeners["TCP-80"] = l
		}, 400, "InvalidParameter"},
		{"tag", func(d *loadbalancer.CreateLoadBalancerDetails) {
			d.DefinedTags = map[string]map[string]any{"None": {"k": "v"}}
		}, 400, "RelatedResourceNotAuthorizedOrNotFound"},
		{"group", func(d *loadbalancer.CreateLoadBalancerDetails) { d.NetworkSecurityGroupIds = []string{"none"} }, 400, "RelatedResourceNotAuthorizedOrNotFound"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := w.classicDetails(c.name)
			c.change(&d)
			_, err := w.lb.CreateLoadBalancer(t.Context(), loadbalancer.CreateLoadBalancerRequest{CreateLoadBalancerDetails: d})
			expectRefusal(t, err, c.status, c.code)
		})
	}
	all, err := w.lb.ListLoadBalancers(t.Context(), loadbalancer.ListLoadBalancersRequest{CompartmentId: &w.seed.Compartment})
	if err != nil || len(all.Items) != 0 {
		t.Errorf("%d load balancers after refused calls, %v", len(all.Items), err)
	}
}
