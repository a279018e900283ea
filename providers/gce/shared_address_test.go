package gce_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	raw "google.golang.org/api/compute/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
)

// allClasses are the classes of the four kinds of load balancers.
func allClasses() []string {
	return []string{"l4-regional-external-legacy", "l4-regional-external", "l4-regional-internal-legacy", "l4-regional-internal"}
}

// sharedIP reserves an address that several forwarding rules of the class may have.
func sharedIP(t *testing.T, api *raw.Service, class string) string {
	t.Helper()
	a := &raw.Address{Name: "shared"}
	if strings.Contains(class, "internal") {
		a.AddressType, a.Purpose, a.Subnetwork = "INTERNAL", "SHARED_LOADBALANCER_VIP", "regions/us-central1/subnetworks/default"
	}
	if _, err := api.Addresses.Insert(demo, "us-central1", a).Do(); err != nil {
		t.Fatal(err)
	}
	got, err := api.Addresses.Get(demo, "us-central1", a.Name).Do()
	if err != nil {
		t.Fatal(err)
	}
	return got.Address
}

// serviceAt gives the k-th Service an address and one TCP port.
func serviceAt(k int, class, ip string, port int32) *corev1.Service {
	svc := numberedService(k, class)
	svc.Spec.LoadBalancerIP = ip
	svc.Spec.Ports = []corev1.ServicePort{{Port: port, NodePort: 30000 + port, Protocol: corev1.ProtocolTCP}}
	return svc
}

// openSources returns the sources that the firewalls of the project admit to a TCP port of the address.
func openSources(t *testing.T, api *raw.Service, ip, port string) []string {
	t.Helper()
	list, err := api.Firewalls.List(demo).Do()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range list.Items {
		if !slices.Contains(f.DestinationRanges, ip) {
			continue
		}
		for _, a := range f.Allowed {
			if a.IPProtocol == "tcp" && slices.Contains(a.Ports, port) {
				out = append(out, f.SourceRanges...)
			}
		}
	}
	slices.Sort(out)
	return out
}

// servedPorts returns the port ranges and lists of the forwarding rules of the address.
func servedPorts(t *testing.T, api *raw.Service, ip string) []string {
	t.Helper()
	list, err := api.ForwardingRules.List(demo, "us-central1").Do()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range list.Items {
		if f.IPAddress == ip {
			out = append(out, f.PortRange+strings.Join(f.Ports, ","))
		}
	}
	slices.Sort(out)
	return out
}

// runRounds works on a Service some times, as the loop does while something is refused, and
// returns the last result.
func runRounds(t *testing.T, r *reconcile.Reconciler, svc *corev1.Service) reconcile.Result {
	t.Helper()
	var last reconcile.Result
	for range 4 {
		res, err := props.Work(t.Context(), r, reconcile.Job{Service: svc})
		if err != nil {
			t.Fatal(err)
		}
		last = res
		time.Sleep(10 * time.Minute)
	}
	return last
}

// wantProblem fails unless one problem of the result contains all texts.
func wantProblem(t *testing.T, res reconcile.Result, texts ...string) {
	t.Helper()
	for _, p := range res.Draft.Problems {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(p.String(), text) }) {
			return
		}
	}
	t.Errorf("no problem contains %q: %v", texts, res.Draft.Problems)
}

// trimRanges writes ranges of one port as that port.
func trimRanges(ranges []string) []string {
	var out []string
	for _, r := range ranges {
		if from, to, many := strings.Cut(r, "-"); many && from == to {
			r = from
		}
		out = append(out, r)
	}
	return out
}

// TestSharedAddress: a Service whose ports are refused on an address that another Service has
// opens nothing there, neither when it is created nor when its ports are changed, and
// whether or not the other forwarding rule can be seen.
func TestSharedAddress(t *testing.T) {
	for _, class := range allClasses() {
		t.Run(class, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := slowCloud(t, 0)
				api := n.user(t)
				ip := sharedIP(t, api, class)
				first, third := serviceAt(1, class, ip, 443), serviceAt(3, class, ip, 8080)
				first.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"}
				r := n.process(t)
				reconcileFully(t, r, first, reconcile.Job{NeverProvisioned: true})
				reconcileFully(t, r, third, reconcile.Job{NeverProvisioned: true})

				changed := third.DeepCopy()
				changed.Spec.Ports[0].Port = 443
				wantProblem(t, runRounds(t, r, changed), "spec.ports", "443/TCP", "is taken on "+ip+" by Service shop/web-1 ")
				wantProblem(t, runRounds(t, n.process(t, first), changed), "shop/web-1")
				if got := servedPorts(t, api, ip); !slices.Equal(trimRanges(got), []string{"443", "8080"}) {
					t.Errorf("the forwarding rules of the address have ports %v", got)
				}
				if got := openSources(t, api, ip, "443"); !slices.Equal(got, []string{"10.0.0.0/8"}) {
					t.Errorf("after the change the port of the other Service is open to %v", got)
				}
				wantProblem(t, runRounds(t, r, serviceAt(4, class, ip, 443)), "shop/web-1")
				if got := openSources(t, api, ip, "443"); !slices.Equal(got, []string{"10.0.0.0/8"}) {
					t.Errorf("after the creation the port of the other Service is open to %v", got)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
}

// TestRefusedRuleOpensNothing: whatever Google Cloud refuses a forwarding rule for, the
// firewall admits no port, client or address before the rule exists.
func TestRefusedRuleOpensNothing(t *testing.T) {
	for _, class := range allClasses() {
		t.Run(class, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := slowCloud(t, 0)
				api := n.user(t)
				ip := sharedIP(t, api, class)
				svc := serviceAt(1, class, ip, 8080)
				svc.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"}
				r := n.process(t)
				reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true})
				fault := sim.Fault{Kind: sim.FaultError, Operation: "forwardingRules.insert", Status: http.StatusForbidden, Code: "QUOTA_EXCEEDED"}
				if _, err := n.cloud.Faults.Add(fault); err != nil {
					t.Fatal(err)
				}
				svc.Spec.Ports[0].Port, svc.Spec.LoadBalancerSourceRanges = 443, []string{"10.0.0.0/8", "192.0.2.0/24"}
				runRounds(t, r, svc)
				runRounds(t, n.process(t), svc)
				runRounds(t, r, serviceAt(2, class, ip, 443))
				if got := openSources(t, api, ip, "443"); len(got) > 0 {
					t.Errorf("443 is open to %v without a forwarding rule", got)
				}
				if got := openSources(t, api, ip, "8080"); !slices.Equal(got, []string{"10.0.0.0/8"}) {
					t.Errorf("8080 is open to %v", got)
				}
				n.cloud.Faults.Clear()
				reconcileFully(t, r, svc, reconcile.Job{})
				if got := openSources(t, api, ip, "443"); !slices.Equal(got, []string{"10.0.0.0/8", "192.0.2.0/24"}) {
					t.Errorf("once the rule exists 443 is open to %v", got)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
}

// TestAddressOfAnother: an internal address that another Service's forwarding rule has is
// refused before the rule of the Service is deleted, and its own address stays.
func TestAddressOfAnother(t *testing.T) {
	for _, class := range allClasses()[2:] {
		t.Run(class, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := slowCloud(t, 0)
				api := n.user(t)
				first, second := serviceAt(1, class, "", 443), serviceAt(2, class, "", 8080)
				r := n.process(t)
				reconcileFully(t, r, first, reconcile.Job{NeverProvisioned: true})
				reconcileFully(t, r, second, reconcile.Job{NeverProvisioned: true})
				taken, own := first.Status.LoadBalancer.Ingress[0].IP, second.Status.LoadBalancer.Ingress[0].IP
				second.Spec.LoadBalancerIP = taken
				wantProblem(t, runRounds(t, r, second), "spec.loadBalancerIP", taken, "shop/web-1")
				wantProblem(t, runRounds(t, n.process(t, first), second), "spec.loadBalancerIP", taken, "shop/web-1")
				if got := servedPorts(t, api, own); !slices.Equal(trimRanges(got), []string{"8080"}) {
					t.Errorf("the forwarding rules of %s have ports %v", own, got)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
}

// TestAddressOnceAdmitted: the address of a new load balancer is published when the firewall
// admits clients to it, and not while the firewall is refused.
func TestAddressOnceAdmitted(t *testing.T) {
	for _, class := range allClasses() {
		t.Run(class, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := slowCloud(t, 0)
				svc := serviceAt(1, class, "", 443)
				r := n.process(t)
				fault := sim.Fault{Kind: sim.FaultError, Operation: "firewalls.insert", Status: http.StatusForbidden, Code: "forbidden"}
				if _, err := n.cloud.Faults.Add(fault); err != nil {
					t.Fatal(err)
				}
				for _, process := range []*reconcile.Reconciler{r, n.process(t)} {
					if res := runRounds(t, process, svc); len(res.Status.Ingress) > 0 || res.Err == nil {
						t.Errorf("published %v while no client is admitted; error %v", res.Status.Ingress, res.Err)
					}
				}
				n.cloud.Faults.Clear()
				reconcileFully(t, r, svc, reconcile.Job{})
				if len(svc.Status.LoadBalancer.Ingress) != 1 {
					t.Errorf("published %v", svc.Status.LoadBalancer.Ingress)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
}
