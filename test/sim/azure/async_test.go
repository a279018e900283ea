package azure_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/simtest"
)

// TestAsync follows a write with latency through its states, in each of the
// ways that a service can tell of it.
func TestAsync(t *testing.T) {
	for _, mode := range []arm.AsyncMode{arm.AsyncHeader, arm.AsyncLocation, arm.AsyncNone} {
		t.Run(string(mode), func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			w := startWorld(t, simazure.Options{Clock: clock, ARM: arm.Options{Async: mode, Latency: time.Minute, PollAfter: time.Millisecond}})
			client := w.net.NewPublicIPAddressesClient()
			var first *http.Response
			p, err := client.BeginCreateOrUpdate(policy.WithCaptureResponse(t.Context(), &first), w.seed.ResourceGroup, "ip", armnetwork.PublicIPAddress{
				Location: to.Ptr("eastus"), SKU: &armnetwork.PublicIPAddressSKU{Name: to.Ptr(armnetwork.PublicIPAddressSKUNameStandard)},
				Properties: &armnetwork.PublicIPAddressPropertiesFormat{PublicIPAllocationMethod: to.Ptr(armnetwork.IPAllocationMethodStatic)},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if first.StatusCode != http.StatusCreated || (first.Header.Get("Azure-AsyncOperation") != "") != (mode == arm.AsyncHeader) || (first.Header.Get("Location") != "") != (mode == arm.AsyncLocation) {
				t.Errorf("answer %d with %v", first.StatusCode, first.Header)
			}
			if _, err := p.Poll(t.Context()); err != nil || p.Done() {
				t.Errorf("first poll: done %v, %v", p.Done(), err)
			}
			now := mustSucceed[armnetwork.PublicIPAddressesClientGetResponse](t)(client.Get(t.Context(), w.seed.ResourceGroup, "ip", nil))
			if *now.Properties.ProvisioningState != armnetwork.ProvisioningStateUpdating {
				t.Errorf("state %s, want Updating", *now.Properties.ProvisioningState)
			}
			if _, err := w.putLB("lb", w.publicLB("lb", "ip"), ""); errorCode(err) != "ReferencedResourceNotProvisioned" {
				t.Errorf("reference to an unfinished address: %v", err)
			}
			if err := w.deleteIP("ip"); errorCode(err) != "AnotherOperationInProgress" || httpStatus(err) != http.StatusConflict {
				t.Errorf("delete meanwhile: %v", err)
			}
			clock.SetTime(clock.Now().Add(time.Minute))
			out, err := p.PollUntilDone(t.Context(), nil)
			if err != nil || *out.Properties.ProvisioningState != armnetwork.ProvisioningStateSucceeded || *out.Etag == *now.Etag {
				t.Errorf("at the end: %v, state %v, want Succeeded and a new etag", err, out.Properties)
			}
			d, err := client.BeginDelete(t.Context(), w.seed.ResourceGroup, "ip", nil)
			if mode == arm.AsyncNone {
				// A DELETE without any header cannot be followed; the SDK says so.
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			gone := mustSucceed[armnetwork.PublicIPAddressesClientGetResponse](t)(client.Get(t.Context(), w.seed.ResourceGroup, "ip", nil))
			if *gone.Properties.ProvisioningState != armnetwork.ProvisioningStateDeleting {
				t.Errorf("state %s, want Deleting", *gone.Properties.ProvisioningState)
			}
			clock.SetTime(clock.Now().Add(time.Minute))
			if _, err := d.PollUntilDone(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAsyncFailure(t *testing.T) {
	w := startWorld(t, simazure.Options{})
	for _, c := range []struct{ code, state string }{{"InternalServerError", "Failed"}, {"CanceledAndSupersededDueToAnotherOperation", "Failed"}} {
		if _, err := w.Cloud.Faults.Add(sim.Fault{Operation: simazure.AsyncPrefix + "PublicIPAddresses.*", Kind: sim.FaultError, Code: c.code, Count: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.putIP("ip", nil); errorCode(err) != c.code {
			t.Errorf("%s: got %v", c.code, err)
		}
		ip := mustSucceed[armnetwork.PublicIPAddressesClientGetResponse](t)(w.net.NewPublicIPAddressesClient().Get(t.Context(), w.seed.ResourceGroup, "ip", nil))
		if string(*ip.Properties.ProvisioningState) != c.state {
			t.Errorf("state %s, want %s", *ip.Properties.ProvisioningState, c.state)
		}
	}
	if _, err := w.putLB("lb", w.publicLB("lb", "ip"), ""); errorCode(err) != "ReferencedResourceNotProvisioned" {
		t.Errorf("reference to a failed address: %v", err)
	}
	if _, err := w.putIP("ip", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.putLB("lb", w.publicLB("lb", "ip"), ""); err != nil {
		t.Errorf("after a repair: %v", err)
	}
}

func TestSuperseded(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	w := startWorld(t, simazure.Options{Clock: clock, ARM: arm.Options{Latency: time.Minute, PollAfter: time.Millisecond, Overlap: arm.OverlapSupersede}})
	lb := w.internalLB("lb")
	client := w.net.NewLoadBalancersClient()
	first, err := client.BeginCreateOrUpdate(t.Context(), w.seed.ResourceGroup, "lb", lb, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := client.BeginCreateOrUpdate(t.Context(), w.seed.ResourceGroup, "lb", lb, nil)
	if err != nil {
		t.Fatal(err)
	}
	clock.SetTime(clock.Now().Add(time.Minute))
	if _, err := first.PollUntilDone(t.Context(), nil); errorCode(err) != "CanceledAndSupersededDueToAnotherOperation" {
		t.Errorf("first write: %v", err)
	}
	if _, err := second.PollUntilDone(t.Context(), nil); err != nil {
		t.Errorf("second write: %v", err)
	}
}

func TestFaults(t *testing.T) {
	w := startWorld(t, simazure.Options{})
	add := func(f sim.Fault) {
		w.Cloud.Faults.Clear()
		if _, err := w.Cloud.Faults.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	exists := func(name string) bool {
		w.Cloud.Faults.Clear()
		_, err := w.net.NewPublicIPAddressesClient().Get(t.Context(), w.seed.ResourceGroup, name, nil)
		return err == nil
	}
	add(sim.Fault{Service: "network", Operation: "PublicIPAddresses.CreateOrUpdate", Kind: sim.FaultError, Status: 429})
	_, err := w.putIP("a", nil)
	if httpStatus(err) != http.StatusTooManyRequests || exists("a") {
		t.Errorf("error fault: %v, made %v", err, exists("a"))
	}
	add(sim.Fault{Kind: sim.FaultCutBefore, WritesOnly: true})
	if _, err := w.putIP("a", nil); err == nil || exists("a") {
		t.Errorf("cut before: %v, made %v", err, exists("a"))
	}
	add(sim.Fault{Kind: sim.FaultCutAfter, WritesOnly: true})
	if _, err := w.putIP("a", nil); err == nil || !exists("a") {
		t.Errorf("cut after: %v, made %v", err, exists("a"))
	}
	add(sim.Fault{Kind: sim.FaultStale, Operation: "PublicIPAddresses.Get"})
	if err := w.deleteIP("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.net.NewPublicIPAddressesClient().Get(t.Context(), w.seed.ResourceGroup, "a", nil); err != nil {
		t.Errorf("stale read: %v, want the address of before", err)
	}
	if exists("a") {
		t.Error("the address is still there without the fault")
	}
	last := w.Cloud.Journal.Entries()
	if e := last[len(last)-1]; e.Service != "network" || e.Operation != "PublicIPAddresses.Get" || e.Status != 404 || e.Write || e.Request["api-version"] == "" {
		t.Errorf("journal ends with %+v", e)
	}
}

func TestThrottleAndQuota(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	w := startWorld(t, simazure.Options{Clock: clock, Quotas: simazure.Quotas{Reads: 3, Enforce: true}})
	get := func() (*http.Response, error) {
		var resp *http.Response
		_, err := w.net.NewLoadBalancersClient().NewListPager(w.seed.ResourceGroup, nil).NextPage(policy.WithCaptureResponse(t.Context(), &resp))
		return resp, err
	}
	for left := 2; left >= 0; left-- {
		resp, err := get()
		if err != nil || resp.Header.Get("x-ms-ratelimit-remaining-subscription-reads") != strconv.Itoa(left) || resp.Header.Get("x-ms-request-id") == "" || resp.Header.Get("x-ms-correlation-request-id") == "" {
			t.Errorf("want %d left: %v, %v", left, resp, err)
		}
	}
	resp, err := get()
	if errorCode(err) != "SubscriptionRequestsThrottled" || httpStatus(err) != 429 || resp.Header.Get("Retry-After") != "3600" {
		t.Errorf("beyond the quota: %v, Retry-After %q", err, resp.Header.Get("Retry-After"))
	}
	if _, err := w.putIP("ip", nil); errorCode(err) != "SubscriptionRequestsThrottled" {
		t.Errorf("a write whose polls are refused: %v", err)
	}
	clock.SetTime(clock.Now().Add(time.Hour))
	if _, err := get(); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	if err := w.Cloud.Throttle.Set(sim.Bucket{Name: "lb", Service: "network", Operations: []string{"LoadBalancers.*"}, Capacity: 1, Refill: 0.1}); err != nil {
		t.Fatal(err)
	}
	if _, err := get(); err != nil {
		t.Error(err)
	}
	resp, err = get()
	if errorCode(err) != "TooManyRequests" || resp.Header.Get("Retry-After") != "10" {
		t.Errorf("throttled: %v, Retry-After %q, want 10", err, resp.Header.Get("Retry-After"))
	}
	if err := w.Cloud.Throttle.Set(simazure.RealThrottle()...); err != nil {
		t.Error(err)
	}
}

func TestPaging(t *testing.T) {
	w := startWorld(t, simazure.Options{ARM: arm.Options{PageSize: 2}, Seed: simazure.SeedOptions{Addresses: 5}})
	pages, names := 0, ""
	pager := w.net.NewPublicIPAddressesClient().NewListPager(w.seed.ResourceGroup, nil)
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, p := range page.Value {
			names += (*p.Name)[len("user-ip-"):]
		}
	}
	if pages != 3 || names != "12345" {
		t.Errorf("%d pages with %s, want 3 with 12345", pages, names)
	}
	if n := w.Cloud.Journal.Counts()["network.PublicIPAddresses.List"]; n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

// TestConcurrentWriters adds probes from many sides; If-Match and retries must
// leave none out.
func TestConcurrentWriters(t *testing.T) {
	const writers = 8
	r := simtest.Start(t, simazure.Options{})
	w := connectClients(t, r, r.PlainOptions())
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("lb", w.internalLB("lb"), ""))
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			for {
				lb := w.getLB("lb")
				lb.Properties.Probes = append(lb.Properties.Probes, tcpProbe("probe-"+strconv.Itoa(n)))
				_, err := w.putLB("lb", lb, *lb.Etag)
				if httpStatus(err) == http.StatusPreconditionFailed {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	wg.Wait()
	if n := len(w.getLB("lb").Properties.Probes); n != writers+1 {
		t.Errorf("%d probes, want %d", n, writers+1)
	}
}
