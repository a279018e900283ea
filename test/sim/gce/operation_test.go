package gce_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/compute/v1"
	"google.golang.org/api/googleapi"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

func TestOperationsTakeTime(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	opt := simgce.Options{Clock: clock}
	opt.Compute.OperationDelay, opt.Compute.WaitLimit = 8*time.Second, 50*time.Millisecond
	w := startWorld(t, opt)
	op, err := w.api.TargetPools.Insert(project, region, &compute.TargetPool{Name: "pool"}).Do()
	if err != nil {
		t.Fatal(err)
	}
	rule := &compute.ForwardingRule{Name: "r", Target: "regions/us-central1/targetPools/pool", PortRange: "80"}
	status := func() string {
		got, err := w.api.RegionOperations.Get(project, region, op.Name).Do()
		if err != nil {
			t.Fatal(err)
		}
		return got.Status
	}
	_, notReady := w.api.ForwardingRules.Insert(project, region, rule).Do()
	waited, err := w.api.RegionOperations.Wait(project, region, op.Name).Do()
	if err != nil {
		t.Fatal(err)
	}
	got := []string{op.Status, status(), errorCode(notReady), waited.Status}
	clock.SetTime(clock.Now().Add(4 * time.Second))
	got = append(got, status())
	clock.SetTime(clock.Now().Add(4 * time.Second))
	got = append(got, status())
	_, err = w.api.ForwardingRules.Insert(project, region, rule).Do()
	got = append(got, errorCode(err))
	clock.SetTime(clock.Now().Add(8 * time.Second))
	_, err = w.api.ForwardingRules.Delete(project, region, "r").Do()
	got = append(got, errorCode(err), w.getRule("r").Name) // It exists until the operation is done.
	_, err = w.api.ForwardingRules.Insert(project, region, rule).Do()
	got = append(got, errorCode(err))
	clock.SetTime(clock.Now().Add(8 * time.Second))
	_, err = w.api.ForwardingRules.Get(project, region, "r").Do()
	got = append(got, errorCode(err))
	want := []string{"PENDING", "PENDING", "400 resourceNotReady", "PENDING", "RUNNING", "DONE", "", "", "r", "400 resourceNotReady", "404 notFound"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWaitEndsWithTheOperation(t *testing.T) {
	opt := simgce.Options{}
	opt.Compute.OperationDelay = 150 * time.Millisecond
	w := startWorld(t, opt)
	begin := time.Now()
	w.must(w.api.TargetPools.Insert(project, region, &compute.TargetPool{Name: "pool"}).Do())
	if took := time.Since(begin); took < opt.Compute.OperationDelay || took > 10*time.Second {
		t.Errorf("the wait took %v, want the time of the operation, %v", took, opt.Compute.OperationDelay)
	}
}

// TestOperationsDiffer has operations of different lengths, all within the bounds,
// and an address that is about to be reserved until its own has ended.
func TestOperationsDiffer(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	opt := simgce.Options{Clock: clock}
	opt.Compute.OperationDelay, opt.Compute.OperationSpread, opt.Compute.WaitLimit = 3*time.Second, 12*time.Second, time.Millisecond
	w := startWorld(t, opt)
	const addresses = 4
	for n := range addresses {
		if _, err := w.api.Addresses.Insert(project, region, &compute.Address{Name: "a" + strconv.Itoa(n)}).Do(); err != nil {
			t.Fatal(err)
		}
	}
	ready := func(after time.Duration) (n int) {
		clock.SetTime(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(after))
		list, err := w.api.Addresses.List(project, region).Do()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list.Items {
			switch a.Status {
			case "RESERVED":
				n++
			case "RESERVING":
			default:
				t.Errorf("%s is %s", a.Name, a.Status)
			}
		}
		return n
	}
	early, late := ready(3*time.Second-time.Millisecond), ready(15*time.Second)
	if early != 0 || late != addresses {
		t.Errorf("%d addresses before the shortest time, %d after the longest, want 0 and %d", early, late, addresses)
	}
	several := map[int]bool{}
	for after := 3 * time.Second; after < 15*time.Second; after += 100 * time.Millisecond {
		several[ready(after)] = true
	}
	if len(several) < 3 {
		t.Errorf("numbers of addresses over time %v: the operations end at once", several)
	}
}

func TestTooManyRequests(t *testing.T) {
	for _, tooMany := range []bool{false, true} {
		w := startWorld(t, simgce.Options{TooMany: tooMany})
		if err := w.cloud.Throttle.Set(sim.Bucket{Name: "none"}); err != nil {
			t.Fatal(err)
		}
		_, err := w.api.Addresses.List(project, region).Do()
		want := map[bool]string{false: "403 rateLimitExceeded", true: "429 rateLimitExceeded"}[tooMany]
		if errorCode(err) != want {
			t.Errorf("%s, want %s", errorCode(err), want)
		}
	}
}

func TestRequestID(t *testing.T) {
	w := startWorld(t, simgce.Options{})
	insert := func(id string) (*compute.Operation, error) {
		return w.api.TargetPools.Insert(project, region, &compute.TargetPool{Name: "pool"}).RequestId(id).Do()
	}
	const id = "c0ffee00-1234-4abc-8def-0123456789ab"
	first, err := insert(id)
	if err != nil {
		t.Fatal(err)
	}
	again, err := insert(id)
	if err != nil || again.Name != first.Name {
		t.Errorf("%+v, %v, want the operation %s again", again, err, first.Name)
	}
	_, err = insert("c0ffee00-1234-4abc-8def-0123456789ac")
	_, bad := insert("not-a-uuid")
	if got := errorCode(err) + ", " + errorCode(bad); got != "409 alreadyExists, 400 invalid" {
		t.Errorf("another id and a bad one: %s", got)
	}
}

func TestFaults(t *testing.T) {
	w := startWorld(t, simgce.Options{})
	get := func() string {
		_, err := w.api.TargetPools.Get(project, region, "pool").Do()
		return errorCode(err)
	}
	insert := func() string {
		_, err := w.api.TargetPools.Insert(project, region, &compute.TargetPool{Name: "pool"}).Do()
		if e := (*googleapi.Error)(nil); err != nil && !errors.As(err, &e) {
			return "no answer"
		}
		return errorCode(err)
	}
	arm := func(f sim.Fault) {
		w.cloud.Faults.Clear()
		if _, err := w.cloud.Faults.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	arm(sim.Fault{Kind: sim.FaultError, Service: "compute", Operation: "targetPools.insert", Code: "quotaExceeded"})
	got = append(got, insert(), get())
	arm(sim.Fault{Kind: sim.FaultCutBefore, Operation: "targetPools.insert"})
	got = append(got, insert(), get())
	arm(sim.Fault{Kind: sim.FaultCutAfter, Operation: "targetPools.insert"})
	got = append(got, insert(), get())
	arm(sim.Fault{Kind: sim.FaultStale, Operation: "targetPools.*"})
	w.must(w.api.TargetPools.Delete(project, region, "pool").Do())
	got = append(got, get())
	arm(sim.Fault{Kind: sim.FaultError, Operation: "targetPools.insert", Status: 200, Code: "RESOURCE_NOT_READY"})
	got = append(got, w.done(w.api.TargetPools.Insert(project, region, &compute.TargetPool{Name: "pool"}).Do()), get())
	w.cloud.Faults.Clear()
	if err := w.cloud.Throttle.Set(sim.Bucket{Name: "all", Capacity: 1}); err != nil {
		t.Fatal(err)
	}
	got = append(got, get(), get())
	want := []string{
		"403 quotaExceeded", "404 notFound", "no answer", "404 notFound", "no answer", "", "", "400 RESOURCE_NOT_READY", "404 notFound", "404 notFound", "403 rateLimitExceeded",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, e := range w.cloud.Journal.Entries() {
		switch {
		case e.Operation == "targetPools.insert" && e.Request["name"] != "pool":
			t.Errorf("entry %+v, want the name of the pool", e)
		case e.Operation == "targetPools.insert" && e.Committed != (len(e.Faults) == 1 && e.Faults[0] == sim.FaultCutAfter):
			t.Errorf("entry %+v: committed is wrong", e)
		case e.Write != (e.Operation == "targetPools.insert" || e.Operation == "targetPools.delete"):
			t.Errorf("entry %+v: write is wrong", e)
		}
	}
}

// TestWordsThatControllersMatch are texts that the official controllers look
// for. Source: kubernetes/ingress-gce:pkg/l4/resources/user_error.go and
// pkg/utils/utils.go, kubernetes/cloud-provider-gcp:providers/gce.
func TestWordsThatControllersMatch(t *testing.T) {
	w := startWorld(t, simgce.Options{})
	w.check("hc")
	pool := w.pool("pool")
	if got := w.service("in", "INTERNAL", nil) + w.service("out", "EXTERNAL", nil) + w.rule(&compute.ForwardingRule{Name: "r", Target: pool, PortRange: "80"}); got != "" {
		t.Fatal(got)
	}
	in := func(ip string) *compute.ForwardingRule {
		return &compute.ForwardingRule{Name: "x", LoadBalancingScheme: "INTERNAL", IPAddress: ip, Ports: []string{"80"}, BackendService: "regions/us-central1/backendServices/in"}
	}
	w.must(w.api.ForwardingRules.Insert(project, region, &compute.ForwardingRule{
		Name: "inner", LoadBalancingScheme: "INTERNAL", IPAddress: "10.128.9.9", Ports: []string{"80"}, BackendService: "regions/us-central1/backendServices/in",
	}).Do())
	ip := w.getRule("r").IPAddress
	texts := map[string]func() error{
		"being used by": func() error { _, err := w.api.TargetPools.Delete(project, region, "pool").Do(); return err },
		"Specified IP address is in-use and would result in a conflict.": func() error {
			_, err := w.api.ForwardingRules.Insert(project, region, &compute.ForwardingRule{Name: "x", Target: pool, PortRange: "80", IPAddress: ip}).Do()
			return err
		},
		"IP_IN_USE_BY_ANOTHER_RESOURCE": func() error {
			_, err := w.api.ForwardingRules.Insert(project, region, in("10.128.9.9")).Do()
			return err
		},
		"Requested internal IP address is outside the network/subnetwork range": func() error {
			_, err := w.api.ForwardingRules.Insert(project, region, in("192.0.2.1")).Do()
			return err
		},
		"The network tier of external IP is PREMIUM, that of Address must be the same.": func() error {
			_, err := w.api.Addresses.Insert(project, region, &compute.Address{Name: "a", Address: ip, NetworkTier: "STANDARD"}).Do()
			return err
		},
	}
	for text, call := range texts {
		if err := call(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}

// TestParallel is for the race detector.
func TestParallel(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 8}})
	var group sync.WaitGroup
	for n := range 8 {
		name := "lb-" + string(rune('a'+n))
		group.Go(func() {
			vm := "zones/" + w.cloud.Seed.Nodes[n].Zone + "/instances/" + w.cloud.Seed.Nodes[n].Name
			if got := w.done(w.api.TargetPools.Insert(project, region, &compute.TargetPool{Name: name, Instances: []string{vm}}).Do()); got != "" {
				t.Error(got)
			}
		})
		group.Go(func() {
			if _, err := w.api.Instances.AggregatedList(project).Do(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestUnknownPlaces(t *testing.T) {
	w := startWorld(t, simgce.Options{})
	get := func(path string) int {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, w.url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		return res.StatusCode
	}
	for path, want := range map[string]int{
		"/compute/v1/projects/nobody/regions": 404, "/compute/v1/projects/berth-demo/regions/mars/addresses": 404, "/compute/v1/projects/berth-demo/zones/mars": 404,
		"/compute/v1/projects/berth-demo/global/disks": 404, "/compute/v2/projects/berth-demo": 404, "/nowhere": 404,
		"/compute/v1/projects/berth-demo": 200, "/v1/projects/berth-demo/regions": 200, "/compute/beta/projects/berth-demo/global/networks/default": 200,
	} {
		if got := get(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}
