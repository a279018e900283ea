package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestDocumentedRates reads in one minute as often as the documents allow: the machines of a
// scale set each have a limit of their own, and Resource Manager reports the remainder of its
// bucket.
func TestDocumentedRates(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	w := startWorld(t, simazure.Options{Clock: clock, Seed: simazure.SeedOptions{Nodes: 2}})
	if err := w.Cloud.Throttle.Set(simazure.RealThrottle()...); err != nil {
		t.Fatal(err)
	}
	get := func(instance string) (*http.Response, error) {
		var resp *http.Response
		_, err := w.comp.NewVirtualMachineScaleSetVMsClient().Get(policy.WithCaptureResponse(t.Context(), &resp), w.seed.ResourceGroup, w.seed.ScaleSet, instance, nil)
		return resp, err
	}
	const each = 36
	for n := range each {
		resp, err := get("0")
		if err != nil {
			t.Fatalf("read %d: %v", n, err)
		}
		if left := resp.Header.Get("x-ms-ratelimit-remaining-subscription-reads"); n == 0 && left != "249" {
			t.Errorf("%s reads left after the first, want 249", left)
		}
	}
	resp, err := get("0")
	if httpStatus(err) != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "5" {
		t.Errorf("read %d of one machine: %v, Retry-After %q, want 429 and 5 seconds", each+1, err, resp.Header.Get("Retry-After"))
	}
	if _, err := get("1"); err != nil {
		t.Errorf("another machine: %v", err)
	}
	clock.SetTime(clock.Now().Add(5 * time.Second))
	if _, err := get("0"); err != nil {
		t.Errorf("after the wait: %v", err)
	}
	last := w.Cloud.Journal.Entries()
	if got := sim.Ideal(simazure.RealThrottle(), []sim.Call{last[len(last)-1].Call()}); got != 0 {
		t.Errorf("one call takes %v, want no time", got)
	}
}
