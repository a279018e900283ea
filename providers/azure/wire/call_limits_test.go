package wire

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

func TestBucketsOf(t *testing.T) {
	const group = "/subscriptions/S/resourceGroups/g/providers/Microsoft."
	for _, c := range []struct {
		method, path string
		want         []string
	}{
		{http.MethodGet, group + "Network/loadBalancers", []string{"resource manager s reads", "microsoft.network reads", "loadbalancers reads"}},
		{http.MethodPut, group + "Network/loadBalancers/lb", []string{"resource manager s writes", "microsoft.network writes", "loadbalancers writes"}},
		{http.MethodDelete, group + "Network/loadBalancers/lb", []string{"resource manager s deletes", "microsoft.network writes", "loadbalancers writes"}},
		{http.MethodPut, group + "Network/loadBalancers/lb/backendAddressPools/p", []string{"resource manager s writes", "microsoft.network writes", "loadbalancers writes"}},
		{http.MethodPost, group + "Network/loadBalancers/lb/migrateToIpBased", []string{"resource manager s writes", "microsoft.network writes", "loadbalancers writes"}},
		{http.MethodPut, group + "Compute/virtualMachineScaleSets/v/virtualMachines/0", []string{"resource manager s writes", "virtualmachinescalesets/virtualmachines writes"}},
		{http.MethodGet, group + "Compute/virtualMachineScaleSets", []string{"resource manager s reads", "virtualmachinescalesets lists"}},
		{http.MethodGet, group + "Compute/virtualMachineScaleSets/v/virtualMachines", []string{"resource manager s reads", "virtualmachinescalesets/virtualmachines reads"}},
		{http.MethodGet, "https://management.azure.com:443/subscriptions/S/providers/Microsoft.Network/locations/l/operations/o?api-version=1", []string{"resource manager s reads", "microsoft.network reads", "locations reads"}},
	} {
		if d := cmp.Diff(c.want, bucketsOf(c.method, c.path)); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.method, c.path, d)
		}
	}
}

// TestRatesOfConfig: the official keys limit the calls; what one client has of its own
// counts for it alone, and none where it is switched off there.
func TestRatesOfConfig(t *testing.T) {
	c := readConfig(t, `{"subscriptionId": "s", "cloudProviderRateLimit": true, "cloudProviderRateLimitQPS": 3, "cloudProviderRateLimitBucketWrite": 7,
		"loadBalancerRateLimit": {"cloudProviderRateLimit": true, "cloudProviderRateLimitQPSWrite": 0.5},
		"interfaceRateLimit": {"cloudProviderRateLimit": false}}`)
	all := model.TypeRates{Reads: model.Rate{Rate: 3, Burst: 5}, Writes: model.Rate{Rate: 3, Burst: 7}}
	want := model.Rates{"loadbalancers": {Reads: model.Rate{Rate: 3, Burst: 5}, Writes: model.Rate{Rate: 0.5, Burst: 7}}}
	for _, kind := range limitedTypes() {
		if !slices.Contains([]string{"loadbalancers", "networkinterfaces", "servicegateways"}, kind) {
			want[kind] = all
		}
	}
	if d := cmp.Diff(want, c.Rates); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := readConfig(t, `{"loadBalancerRateLimit": {"cloudProviderRateLimitQPS": 3}}`).Rates; got != nil {
		t.Errorf("limits that are not switched on: %v", got)
	}
	synctest.Test(t, func(t *testing.T) {
		const share = 0.5 // what the file says is not shared
		classes := map[string]bool{}
		limits, began := newLimits(c, providers.Env{Share: share, Now: time.Now, Waited: func(class string, _ time.Duration) { classes[class] = true }}), time.Now()
		for range 9 {
			ctx := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.User})
			if err := limits.Do(ctx, noCall, bucketsOf(http.MethodPut, "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/lb")...); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("nine writes took %v, want seven at once and two in 4s", took)
		}
		if d := cmp.Diff(map[string]bool{"resource manager writes": true, "microsoft.network writes": true, "loadbalancers writes": true}, classes); d != "" {
			t.Errorf("classes that were waited for (-want +got):\n%s", d)
		}
	})
}

func noCall(ctx context.Context) error { return ctx.Err() }

// TestBlame: Resource Manager and the resource providers have limits of their own.
func TestBlame(t *testing.T) {
	names := []string{"manager", "provider", "type"}
	for code, want := range map[string]string{"SubscriptionRequestsThrottled": "manager", "TooManyRequests": "type", "OperationNotAllowed": "type"} {
		if got := exceededLimits(&fault.Fault{Meaning: fault.Throttled, Code: code}, names); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v, want %s", code, got, want)
		}
	}
}
