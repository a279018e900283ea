package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// loop is a process on the cloud that has drafted what lives.
func (r *rig) loop(cluster string, alive []*corev1.Service) (*reconcile.Reconciler, providers.Live) {
	r.Helper()
	loop := reconcile.New(providers.Bind(model.Cloud(), r.config, cluster, r.session), reconcile.Options{GatherReleases: time.Millisecond})
	live := providers.Live{}
	for _, n := range r.nodes {
		live.Nodes = append(live.Nodes, nodeports.Project(&n, func(string) bool { return true }))
	}
	loop.SetNodes(live.Nodes)
	for _, svc := range alive {
		live.Services = append(live.Services, ownerOf(svc))
		var epslices []*discoveryv1.EndpointSlice
		if r.slices != nil {
			epslices = r.slices
		}
		if _, err := loop.Draft(r.Context(), reconcile.Job{Service: svc, Slices: epslices}); err != nil {
			r.Fatal(err)
		}
	}
	loop.AllKnown()
	return loop, live
}

// sweep deletes all orphans, as the command does, and returns whose they were.
func (r *rig) sweep(cluster string, alive ...*corev1.Service) []string {
	r.Helper()
	var out []string
	for range 5 {
		loop, live := r.loop(cluster, alive)
		drafts, err := loop.Orphans(r.Context(), live)
		if err != nil {
			r.Fatal(err)
		}
		if len(drafts) == 0 {
			return out
		}
		if out == nil {
			for _, d := range drafts {
				out = append(out, d.Owner.String()+" "+d.Owner.UID)
			}
		}
		for _, d := range drafts {
			if res := loop.Run(r.Context(), d, func(plan.Gate) time.Duration { return 0 }); res.Err != nil {
				r.Fatalf("%s: %v", d.Owner, res.Err)
			}
		}
		r.now = r.now.Add(time.Minute)
	}
	r.Fatal("orphans are left after five rounds")
	return nil
}

// state is all that is in the cloud, by id, without etags.
func (r *rig) state() map[string]string {
	r.Helper()
	body, err := json.Marshal(r.sim.Cloud.Control.State())
	if err != nil {
		r.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		r.Fatal(err)
	}
	out := map[string]string{}
	collect(tree, out)
	return out
}

func collect(v any, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		if id, ok := v["id"].(string); ok && v["properties"] != nil {
			dropEtags(v)
			text, _ := json.Marshal(v)
			if len(text) > len(out[strings.ToLower(id)]) { // some are shown in others as well, in part
				out[strings.ToLower(id)] = string(text)
			}
		}
		for _, more := range v {
			collect(more, out)
		}
	case []any:
		for _, more := range v {
			collect(more, out)
		}
	}
}

// forget lets Services go without the program: nobody wants their things any more.
func (r *rig) forget(svcs ...*corev1.Service) {
	for _, svc := range svcs {
		r.book.Leave(ownerOf(svc))
	}
	r.now = r.now.Add(time.Minute)
}

// another opens the process of another cluster in the same group and network.
func (r *rig) another(cluster string) *rig {
	r.Helper()
	other := *r
	other.cluster, other.book = cluster, ledger.New()
	other.book.SetReady()
	var err error
	if other.session, err = open(r.Context(), r.config, providers.Env{Cluster: cluster, UserAgent: "berth-test", Now: func() time.Time { return r.now }}); err != nil {
		r.Fatalf("open: %v", err)
	}
	other.session.limits = r.session.limits
	other.engine = engine.New(other.session.Apply, other.book, engine.Options{})
	return &other
}

func ownerText(svc *corev1.Service, withName bool) string {
	name := svc.Namespace + "/" + svc.Name
	if !withName {
		name = model.BaseName(string(svc.UID))
	}
	return name + " " + model.BaseName(string(svc.UID))[1:]
}

// orphaned are Services of every sort.
func orphaned(first int) []*corev1.Service {
	withLink := func(s *corev1.Service) {
		s.Annotations["service.beta.kubernetes.io/azure-pls-create"] = "true"
		s.Annotations["service.beta.kubernetes.io/azure-pls-ip-configuration-subnet"] = "links"
	}
	return []*corev1.Service{
		numbered(first, model.Public, nil), numbered(first+1, model.Public, local), numbered(first+2, model.Internal, nil), numbered(first+3, model.Internal, withLink),
		numbered(first+4, model.Public, func(s *corev1.Service) {
			s.Annotations["service.beta.kubernetes.io/azure-disable-load-balancer-floating-ip"] = "true"
			s.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"}
		}),
	}
}

// TestOrphans: what Services of every sort leave behind is found and deleted; what
// belongs to Services that live, to another cluster or to a person stays.
func TestOrphans(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Outbound: true, Addresses: 6, Pools: simazure.NodeNIC}, ARM: simarm.Options{Async: simarm.AsyncNone}})
		rng := rand.New(rand.NewPCG(7, 7))
		r.strangers(rng, "kubernetes")
		r.strangers(rng, "kubernetes-internal")
		r.strangeRules(rng)
		alive := orphaned(11)
		r.runAll(false, alive...)
		r.runAll(false, alive...)
		before := r.state()

		gone := orphaned(1)
		r.runAll(false, gone...)
		r.forget(gone...)
		// An internal frontend does not tell the Service's name, unless it has a link.
		want := []string{ownerText(gone[2], false), ownerText(gone[0], true), ownerText(gone[1], true), ownerText(gone[3], true), ownerText(gone[4], true)}
		if d := cmp.Diff(want, r.sweep("kubernetes", alive...)); d != "" {
			t.Errorf("orphans (-want +got):\n%s", d)
		}
		if d := cmp.Diff(before, r.state()); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
		if again := r.sweep("kubernetes", alive...); len(again) > 0 {
			t.Errorf("still orphans: %v", again)
		}
	})
}

// TestOrphansOfAnother: another cluster in the same group has the same Services, and
// both see their own.
func TestOrphansOfAnother(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		other := r.another("other")
		mine, theirs := numbered(1, model.Public, nil), numbered(21, model.Public, nil)
		theirs.Name = mine.Name
		r.runAll(false, mine)
		before := slices.Sorted(maps.Keys(r.state()))
		other.runAll(false, theirs)
		if got := r.sweep("kubernetes", mine); len(got) > 0 {
			t.Errorf("orphans of the first: %v", got)
		}
		r.forget(mine)
		if d := cmp.Diff([]string{ownerText(theirs, true)}, other.sweep("other")); d != "" {
			t.Errorf("orphans of the other (-want +got):\n%s", d)
		}
		if d := cmp.Diff(before, slices.Sorted(maps.Keys(r.state()))); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
		if d := cmp.Diff([]string{ownerText(mine, true)}, r.sweep("kubernetes")); d != "" {
			t.Errorf("orphans of the first (-want +got):\n%s", d)
		}
	})
}

// TestOrphansThatShare: two Services on one public IP. Who is left keeps it, and what
// only the other had goes; with both gone nothing is left.
func TestOrphansThatShare(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		empty := slices.Sorted(maps.Keys(r.state()))
		first := numbered(1, model.Public, nil)
		r.runAll(false, first)
		r.runAll(false, first)
		address := model.Cloud().Status(r.input(first), r.read(false, first)[0].Have).Ingress[0].IP
		second := numbered(2, model.Public, func(s *corev1.Service) {
			s.Spec.LoadBalancerIP, s.Spec.Ports = address, []corev1.ServicePort{port(8080, 32080)}
		})
		before := r.state()
		r.runAll(false, second)
		r.runAll(false, second)
		r.forget(second)
		if d := cmp.Diff([]string{ownerText(second, true)}, r.sweep("kubernetes", first)); d != "" {
			t.Errorf("orphans with the first alive (-want +got):\n%s", d)
		}
		if d := cmp.Diff(before, r.state()); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
		r.runAll(false, second)
		r.forget(first)
		if d := cmp.Diff([]string{ownerText(first, true)}, r.sweep("kubernetes", second)); d != "" {
			t.Errorf("orphans with the second alive (-want +got):\n%s", d)
		}
		if now := model.Cloud().Status(r.input(second), r.read(false, second)[0].Have).Ingress; len(now) != 1 || now[0].IP != address {
			t.Errorf("the second has %v, want %s", now, address)
		}
		r.forget(first, second)
		r.sweep("kubernetes")
		if d := cmp.Diff(empty, slices.Sorted(maps.Keys(r.state()))); d != "" {
			t.Errorf("the cloud (-empty +after):\n%s", d)
		}
	})
}

// TestOrphansOfSeveral: on several load balancers Services have pools of their own.
func TestOrphansOfSeveral(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newMulti(t, simazure.SeedOptions{})
		empty := slices.Sorted(maps.Keys(r.state()))
		gone := []*corev1.Service{numbered(1, model.Public, local), numbered(2, model.Internal, local), numbered(3, model.Public, front), numbered(4, model.Internal, nil)}
		r.runAll(false, gone...)
		r.runAll(false, gone...)
		r.forget(gone...)
		if got := r.sweep("kubernetes"); len(got) != len(gone) {
			t.Errorf("orphans: %v", got)
		}
		if d := cmp.Diff(empty, slices.Sorted(maps.Keys(r.state()))); d != "" {
			t.Errorf("the cloud (-empty +after):\n%s", d)
		}
	})
}

// TestOrphansOfPods: where pools are of pods, everything has a UID as its name.
func TestOrphansOfPods(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := podRig(t, simazure.Options{})
		alive := toPods(11)
		r.runAll(false, alive)
		before := r.state()
		gone := []*corev1.Service{toPods(1), toPods(2)}
		r.runAll(false, gone...)
		r.forget(gone...)
		want := []string{fmt.Sprintf("%s %[1]s", gone[0].UID), fmt.Sprintf("%s %[1]s", gone[1].UID)}
		if d := cmp.Diff(want, r.sweep("kubernetes", alive)); d != "" {
			t.Errorf("orphans (-want +got):\n%s", d)
		}
		if d := cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(r.state()))); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
	})
}

// TestOrphansUnseen: who cannot see everything deletes nothing.
func TestOrphansUnseen(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		r.runAll(false, numbered(1, model.Public, nil))
		for _, operation := range []string{"LoadBalancers.List", "PublicIPAddresses.List", "PrivateLinkServices.List", "NetworkSecurityGroups.Get", "SecurityGroups.Get"} {
			id, err := r.sim.Cloud.Faults.Add(sim.Fault{Operation: operation, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "AuthorizationFailed"})
			if err != nil {
				t.Fatal(err)
			}
			r.now = r.now.Add(time.Minute)
			found, err := r.session.Orphans(t.Context(), providers.Live{})
			if err == nil && operation != "NetworkSecurityGroups.Get" {
				t.Errorf("%s is denied: found %d orphans, no error", operation, len(found))
			}
			r.sim.Cloud.Faults.Remove(id)
		}
		if found, err := r.session.Orphans(t.Context(), providers.Live{Services: []stack.Owner{ownerOf(numbered(1, model.Public, nil))}}); err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	})
}
