package oci_test

import (
	"testing"
	"time"

	"github.com/oracle/oci-go-sdk/v65/common"
	"github.com/oracle/oci-go-sdk/v65/loadbalancer"
	"github.com/oracle/oci-go-sdk/v65/networkloadbalancer"

	simoci "github.com/berth-lb/berth/test/sim/oci"
)

func (w *world) networkDetails(name string) networkloadbalancer.CreateNetworkLoadBalancerDetails {
	set := networkloadbalancer.BackendSetDetails{
		HealthChecker: &networkloadbalancer.HealthChecker{Protocol: networkloadbalancer.HealthCheckProtocolsHttp, UrlPath: common.String("/healthz"), Port: common.Int(10256)},
		Policy:        networkloadbalancer.NetworkLoadBalancingPolicyFiveTuple,
	}
	for _, n := range w.seed.Nodes {
		set.Backends = append(set.Backends, networkloadbalancer.Backend{TargetId: common.String(n.InstanceID), Port: common.Int(30053)})
	}
	return networkloadbalancer.CreateNetworkLoadBalancerDetails{
		CompartmentId: &w.seed.Compartment, DisplayName: &name, SubnetId: &w.seed.Public.ID, IsPrivate: common.Bool(false),
		BackendSets: map[string]networkloadbalancer.BackendSetDetails{"TCP_AND_UDP-53": set},
		Listeners: map[string]networkloadbalancer.ListenerDetails{"TCP_AND_UDP-53": {
			Name: common.String("TCP_AND_UDP-53"), DefaultBackendSetName: common.String("TCP_AND_UDP-53"), Port: common.Int(53), Protocol: networkloadbalancer.ListenerProtocolsTcpAndUdp,
		}},
	}
}

func TestNetwork(t *testing.T) {
	w := newWorld(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 2, DualStack: true}})
	made, err := w.nlb.CreateNetworkLoadBalancer(t.Context(), networkloadbalancer.CreateNetworkLoadBalancerRequest{CreateNetworkLoadBalancerDetails: w.networkDetails("ns/svc/uid")})
	if err != nil {
		t.Fatal(err)
	}
	if made.Etag == nil || made.OpcWorkRequestId == nil || len(made.IpAddresses) != 2 {
		t.Errorf("made %v with addresses %v, want a public and a private one", made.Etag, made.IpAddresses)
	}
	backend := made.BackendSets["TCP_AND_UDP-53"].Backends[0]
	if *backend.IpAddress != w.seed.Nodes[0].InternalIP || *backend.Name != w.seed.Nodes[0].InstanceID+":30053" {
		t.Errorf("backend %v, want the address of its instance", backend)
	}
	_, err = w.nlb.CreateListener(t.Context(), networkloadbalancer.CreateListenerRequest{NetworkLoadBalancerId: made.Id, CreateListenerDetails: networkloadbalancer.CreateListenerDetails{
		Name: common.String("UDP-53"), DefaultBackendSetName: common.String("TCP_AND_UDP-53"), Port: common.Int(53), Protocol: networkloadbalancer.ListenerProtocolsUdp,
	}})
	expectRefusal(t, err, 409, "NotAuthorizedOrResourceAlreadyExists")
	if _, err := w.nlb.UpdateNetworkLoadBalancer(t.Context(), networkloadbalancer.UpdateNetworkLoadBalancerRequest{NetworkLoadBalancerId: made.Id, UpdateNetworkLoadBalancerDetails: networkloadbalancer.UpdateNetworkLoadBalancerDetails{
		NlbIpVersion: networkloadbalancer.NlbIpVersionIpv4AndIpv6,
	}}); err != nil {
		t.Fatal(err)
	}
	got, err := w.nlb.GetNetworkLoadBalancer(t.Context(), networkloadbalancer.GetNetworkLoadBalancerRequest{NetworkLoadBalancerId: made.Id})
	if err != nil || len(got.IpAddresses) != 3 || *got.IpAddresses[0].IpAddress != *made.IpAddresses[0].IpAddress {
		t.Errorf("addresses %v, %v; want those of before and one of IPv6", got.IpAddresses, err)
	}
	if _, err := w.nlb.DeleteNetworkLoadBalancer(t.Context(), networkloadbalancer.DeleteNetworkLoadBalancerRequest{NetworkLoadBalancerId: made.Id}); err != nil {
		t.Fatal(err)
	}
	all, err := w.nlb.ListWorkRequests(t.Context(), networkloadbalancer.ListWorkRequestsRequest{CompartmentId: &w.seed.Compartment})
	if err != nil || len(all.Items) != 3 || all.Items[0].Status != networkloadbalancer.OperationStatusSucceeded || *all.Items[0].Resources[0].Identifier != *made.Id {
		t.Errorf("work requests %v, %v; want three that succeeded", all.Items, err)
	}
}

func TestNetworkBusy(t *testing.T) {
	w := newWorld(t, simoci.Options{Work: time.Hour})
	made, err := w.nlb.CreateNetworkLoadBalancer(t.Context(), networkloadbalancer.CreateNetworkLoadBalancerRequest{CreateNetworkLoadBalancerDetails: w.networkDetails("slow")})
	if err != nil || made.LifecycleState != networkloadbalancer.LifecycleStateCreating || len(made.IpAddresses) != 0 {
		t.Errorf("state %s with %v, %v; want CREATING without an address", made.LifecycleState, made.IpAddresses, err)
	}
	_, err = w.nlb.DeleteNetworkLoadBalancer(t.Context(), networkloadbalancer.DeleteNetworkLoadBalancerRequest{NetworkLoadBalancerId: made.Id})
	expectRefusal(t, err, 409, "Conflict")
}

func TestBrokenWork(t *testing.T) {
	w := newWorld(t, simoci.Options{Breaks: "bad"})
	made, err := w.nlb.CreateNetworkLoadBalancer(t.Context(), networkloadbalancer.CreateNetworkLoadBalancerRequest{CreateNetworkLoadBalancerDetails: w.networkDetails("bad")})
	if err != nil || made.LifecycleState != networkloadbalancer.LifecycleStateFailed {
		t.Fatalf("state %s, %v; want FAILED", made.LifecycleState, err)
	}
	why, err := w.nlb.ListWorkRequestErrors(t.Context(), networkloadbalancer.ListWorkRequestErrorsRequest{WorkRequestId: made.OpcWorkRequestId, CompartmentId: &w.seed.Compartment})
	if err != nil || len(why.Items) != 1 {
		t.Errorf("errors %v, %v; want one", why.Items, err)
	}
	lb, id := w.makeClassic(t, w.classicDetails("bad"))
	work, err := w.lb.GetWorkRequest(t.Context(), loadbalancer.GetWorkRequestRequest{WorkRequestId: &id})
	if err != nil || work.LifecycleState != loadbalancer.WorkRequestLifecycleStateFailed || len(work.ErrorDetails) != 1 || lb.LifecycleState != loadbalancer.LoadBalancerLifecycleStateFailed {
		t.Errorf("work request %v of one that is %s, %v; want FAILED with a reason", work, lb.LifecycleState, err)
	}
	if _, err := w.lb.DeleteLoadBalancer(t.Context(), loadbalancer.DeleteLoadBalancerRequest{LoadBalancerId: lb.Id}); err != nil {
		t.Errorf("what has failed cannot be deleted: %v", err)
	}
}
