package wire

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// Classes of calls, by what they do. Only Compute counts lists apart from reads.
const (
	reads    = "reads"
	listings = "lists"
	writes   = "writes"
	deletes  = "deletes"
)

// managerBuckets are the limits of Resource Manager for a principal in a subscription.
// Source: learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling.
func managerBuckets(subscription string) []kit.Bucket {
	name := managerPrefix + strings.ToLower(subscription) + " "
	return []kit.Bucket{
		{Name: name + reads, Rate: 25, Burst: 250}, {Name: name + writes, Rate: 10, Burst: 200}, {Name: name + deletes, Rate: 10, Burst: 200},
	}
}

// providerBuckets are the limits of the resource providers: that of the network counts
// in five minutes, that of machines in one. Sources: the page above;
// learn.microsoft.com/azure/virtual-machines/compute-throttling-limits.
func providerBuckets() []kit.Bucket {
	const minute, fiveMinutes = 60.0, 300.0
	out := []kit.Bucket{
		{Name: networkPrefix + reads, Rate: 10000 / fiveMinutes, Burst: 10000},
		{Name: networkPrefix + writes, Rate: 1000 / fiveMinutes, Burst: 1000},
	}
	for _, b := range []struct {
		name  string
		rate  float64 // calls a minute
		burst int
	}{
		{"virtualmachines " + reads, 8000, 24000}, {"virtualmachines " + listings, 300, 900}, {"virtualmachines " + writes, 500, 1500},
		{"virtualmachinescalesets " + reads, 800, 2400}, {"virtualmachinescalesets " + listings, 360, 1080}, {"virtualmachinescalesets " + writes, 500, 1500},
		{"virtualmachinescalesets/virtualmachines " + reads, 2000, 6000}, {"virtualmachinescalesets/virtualmachines " + writes, 500, 1500},
	} {
		out = append(out, kit.Bucket{Name: b.name, Rate: b.rate / minute, Burst: b.burst})
	}
	return out
}

const (
	managerPrefix = "resource manager "
	networkPrefix = "microsoft.network "
)

// newLimits are the buckets of a session: Resource Manager's, the resource providers',
// and one for each type of resource, whose limit only refusals show unless the
// configuration sets it.
func newLimits(c model.Config, env providers.Env) *kit.Limits {
	buckets := providerBuckets()
	for _, subscription := range slices.Compact([]string{strings.ToLower(c.Subscription), strings.ToLower(c.SubscriptionOfNetwork())}) {
		buckets = append(buckets, managerBuckets(subscription)...)
	}
	for _, kind := range limitedTypes() {
		for _, class := range []string{reads, writes} {
			name := kind + " " + class
			if !slices.ContainsFunc(buckets, func(b kit.Bucket) bool { return b.Name == name }) {
				buckets = append(buckets, kit.Bucket{Name: name})
			}
		}
	}
	share := cmp.Or(env.Share, kit.DefaultShare)
	for i, b := range buckets {
		kind, class, _ := strings.Cut(b.Name, " ")
		if own, ok := c.Rates.Of(kind, class == writes); ok && !math.IsInf(share, 1) {
			// What the configuration says is for this program alone.
			buckets[i].Rate, buckets[i].Burst = own.Rate/share, max(1, int(float64(own.Burst)/share+0.5))
		}
	}
	return kit.NewLimits(kit.LimitOptions{Buckets: buckets, Share: share, Now: env.Now, Blame: exceededLimits, Waited: reportWaits(env.Waited)})
}

// reportWaits reports to the observer how long a call waited for a token, by the class
// of the bucket: subscriptions are not named.
func reportWaits(observe func(string, time.Duration)) func(string, time.Duration) {
	if observe == nil {
		return nil
	}
	return func(bucket string, d time.Duration) {
		if rest, is := strings.CutPrefix(bucket, managerPrefix); is {
			_, class, _ := strings.Cut(rest, " ")
			bucket = managerPrefix + class
		}
		observe(bucket, d)
	}
}

// limitedTypes are the types of resources that calls are made about, below their
// resource provider.
func limitedTypes() []string {
	return []string{
		"loadbalancers", "publicipaddresses", "networksecuritygroups", "networkinterfaces", "privatelinkservices", "virtualnetworks", "servicegateways",
		"virtualmachines", "virtualmachinescalesets", "virtualmachinescalesets/virtualmachines",
	}
}

// bucketsOf names the buckets that a call takes a token of: of Resource Manager, of the
// resource provider where that has one for all its types, and of the type.
func bucketsOf(method, path string) []string {
	segments, list := typeSegments(path)
	class := writes
	switch {
	case method == http.MethodGet && list:
		class = listings
	case method == http.MethodGet:
		class = reads
	}
	kind := strings.Join(segments, "/")
	if len(segments) > 1 && kind != "virtualmachinescalesets/virtualmachines" {
		kind = segments[0] // parts are limited with the whole
	}
	manager, provider := class, class
	switch {
	case class == listings:
		manager, provider = reads, reads
		if kind != "virtualmachines" && kind != "virtualmachinescalesets" {
			class = reads
		}
	case method == http.MethodDelete:
		manager = deletes
	}
	out := []string{managerPrefix + model.SegmentAfter(path, "subscriptions") + " " + manager}
	if model.SegmentAfter(path, "providers") == strings.TrimSpace(networkPrefix) {
		out = append(out, networkPrefix+provider)
	}
	return append(out, kind+" "+class)
}

// typeSegments are the types in a path, in lower case, and whether it names no
// resource of the last of them.
func typeSegments(path string) (kinds []string, list bool) {
	path, _, _ = strings.Cut(strings.ToLower(path), "?")
	_, rest, _ := strings.Cut(path, "/providers/")
	parts := strings.Split(strings.Trim(rest, "/"), "/")[1:]
	for i := 0; i < len(parts); i += 2 {
		kinds = append(kinds, parts[i])
	}
	return kinds, len(parts)%2 == 1
}

// typeOf is the type of a resource, such as "loadbalancers/backendaddresspools".
func typeOf(path string) string {
	kinds, _ := typeSegments(path)
	return strings.Join(kinds, "/")
}

// codeOfManager is how Resource Manager itself refuses; resource providers have other
// codes. Source: the page of managerBuckets.
const codeOfManager = "SubscriptionRequestsThrottled"

// exceededLimits returns the limits that a refusal is about: Resource Manager's, or
// that of the type.
func exceededLimits(err error, names []string) []string {
	if f, ok := errors.AsType[*fault.Fault](err); ok && strings.EqualFold(f.Code, codeOfManager) {
		return names[:1]
	}
	return names[len(names)-1:]
}

// heed takes over how many calls Azure says are left. Source: the page of managerBuckets.
func (s *Session) heed(r request, header http.Header) {
	names := bucketsOf(r.method, r.path)
	for _, scope := range []string{"subscription", "subscription-global"} {
		class := names[0][strings.LastIndex(names[0], " ")+1:]
		if left, err := strconv.Atoi(header.Get("X-Ms-Ratelimit-Remaining-" + scope + "-" + class)); err == nil {
			s.limits.Remaining(names[0], left)
		}
	}
	// "Microsoft.Compute/GetVMScaleSet3Min;197,Microsoft.Compute/GetVMScaleSet30Min;1297"
	for _, policy := range strings.Split(header.Get("X-Ms-Ratelimit-Remaining-Resource"), ",") {
		_, number, _ := strings.Cut(policy, ";")
		if left, err := strconv.Atoi(number); err == nil {
			s.limits.Remaining(names[len(names)-1], left)
		}
	}
}
