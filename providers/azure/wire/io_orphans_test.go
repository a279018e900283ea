package wire

import (
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

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/sessions"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// state returns all resources in the cloud, by id, without etags.
func (r *rig) state() map[string]string {
	r.Helper()
	return sessions.State(r, &r.sim.Cloud.Control, func(object map[string]any) string {
		id, _ := object["id"].(string)
		if object["properties"] == nil {
			return ""
		}
		return strings.ToLower(id)
	})
}

// forget deletes Services while the controller is not running: their resources are
// orphaned.
func (r *rig) forget(svcs ...*corev1.Service) {
	for _, svc := range svcs {
		r.Ledger.Leave(cases.OwnerOf(svc))
	}
	r.Now = r.Now.Add(time.Minute)
}

// another opens the process of another cluster in the same group and network.
func (r *rig) another(cluster string) *rig {
	r.Helper()
	other := *r
	other.Cluster, other.Ledger = cluster, cases.ReadyLedger()
	other.openAs(cluster, r.Config)
	other.Session.limits = r.Session.limits
	return &other
}

func ownerText(svc *corev1.Service, withName bool) string {
	name := svc.Namespace + "/" + svc.Name
	if !withName {
		name = model.BaseName(string(svc.UID))
	}
	return name + " " + model.BaseName(string(svc.UID))[1:]
}

// orphanServices returns Services of every sort.
func orphanServices(first int) []*corev1.Service {
	withLink := func(s *corev1.Service) {
		s.Annotations["service.beta.kubernetes.io/azure-pls-create"] = "true"
		s.Annotations["service.beta.kubernetes.io/azure-pls-ip-configuration-subnet"] = "links"
	}
	return []*corev1.Service{
		numberedService(first, model.Public, nil), numberedService(first+1, model.Public, useLocalPolicy), numberedService(first+2, model.Internal, nil), numberedService(first+3, model.Internal, withLink),
		numberedService(first+4, model.Public, func(s *corev1.Service) {
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
		r.addForeign(rng, "kubernetes")
		r.addForeign(rng, "kubernetes-internal")
		r.addForeignRules(rng)
		alive := orphanServices(11)
		r.runAll(false, alive...)
		r.runAll(false, alive...)
		before := r.state()

		gone := orphanServices(1)
		r.runAll(false, gone...)
		r.forget(gone...)
		// An internal frontend does not tell the Service's name, unless it has a link.
		want := []string{ownerText(gone[2], false), ownerText(gone[0], true), ownerText(gone[1], true), ownerText(gone[3], true), ownerText(gone[4], true)}
		if d := cmp.Diff(want, r.Sweep(alive...)); d != "" {
			t.Errorf("orphans (-want +got):\n%s", d)
		}
		if d := cmp.Diff(before, r.state()); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
		if again := r.Sweep(alive...); len(again) > 0 {
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
		mine, theirs := numberedService(1, model.Public, nil), numberedService(21, model.Public, nil)
		theirs.Name = mine.Name
		r.runAll(false, mine)
		before := slices.Sorted(maps.Keys(r.state()))
		other.runAll(false, theirs)
		if got := r.Sweep(mine); len(got) > 0 {
			t.Errorf("orphans of the first: %v", got)
		}
		r.forget(mine)
		if d := cmp.Diff([]string{ownerText(theirs, true)}, other.Sweep()); d != "" {
			t.Errorf("orphans of the other (-want +got):\n%s", d)
		}
		if d := cmp.Diff(before, slices.Sorted(maps.Keys(r.state()))); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
		if d := cmp.Diff([]string{ownerText(mine, true)}, r.Sweep()); d != "" {
			t.Errorf("orphans of the first (-want +got):\n%s", d)
		}
	})
}

// TestOrphansThatShare: two Services on one public IP. The remaining one keeps it, and the
// resources of the other one are deleted; with both deleted nothing remains.
func TestOrphansThatShare(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		empty := slices.Sorted(maps.Keys(r.state()))
		first := numberedService(1, model.Public, nil)
		r.runAll(false, first)
		r.runAll(false, first)
		address := model.Cloud().Status(r.Input(first), r.Read(false, first)[0].Have).Ingress[0].IP
		second := numberedService(2, model.Public, func(s *corev1.Service) {
			s.Spec.LoadBalancerIP, s.Spec.Ports = address, []corev1.ServicePort{servicePort(8080, 32080)}
		})
		before := r.state()
		r.runAll(false, second)
		r.runAll(false, second)
		r.forget(second)
		if d := cmp.Diff([]string{ownerText(second, true)}, r.Sweep(first)); d != "" {
			t.Errorf("orphans with the first alive (-want +got):\n%s", d)
		}
		if d := cmp.Diff(before, r.state()); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
		r.runAll(false, second)
		r.forget(first)
		if d := cmp.Diff([]string{ownerText(first, true)}, r.Sweep(second)); d != "" {
			t.Errorf("orphans with the second alive (-want +got):\n%s", d)
		}
		if now := model.Cloud().Status(r.Input(second), r.Read(false, second)[0].Have).Ingress; len(now) != 1 || now[0].IP != address {
			t.Errorf("the second has %v, want %s", now, address)
		}
		r.forget(first, second)
		r.Sweep()
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
		gone := []*corev1.Service{numberedService(1, model.Public, useLocalPolicy), numberedService(2, model.Internal, useLocalPolicy), numberedService(3, model.Public, labelFront), numberedService(4, model.Internal, nil)}
		r.runAll(false, gone...)
		r.runAll(false, gone...)
		r.forget(gone...)
		if got := r.Sweep(); len(got) != len(gone) {
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
		if d := cmp.Diff(want, r.Sweep(alive)); d != "" {
			t.Errorf("orphans (-want +got):\n%s", d)
		}
		if d := cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(r.state()))); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
	})
}

// TestOrphansUnseen verifies that nothing is deleted without the right to read everything.
func TestOrphansUnseen(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		r.runAll(false, numberedService(1, model.Public, nil))
		for _, operation := range []string{"LoadBalancers.List", "PublicIPAddresses.List", "PrivateLinkServices.List", "NetworkSecurityGroups.Get", "SecurityGroups.Get"} {
			id, err := r.sim.Cloud.Faults.Add(sim.Fault{Operation: operation, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "AuthorizationFailed"})
			if err != nil {
				t.Fatal(err)
			}
			r.Now = r.Now.Add(time.Minute)
			found, err := r.Session.Orphans(t.Context(), providers.Live{})
			if err == nil && operation != "NetworkSecurityGroups.Get" {
				t.Errorf("%s is denied: found %d orphans, no error", operation, len(found))
			}
			r.sim.Cloud.Faults.Remove(id)
		}
		if found, err := r.Session.Orphans(t.Context(), providers.Live{Services: []stack.Owner{cases.OwnerOf(numberedService(1, model.Public, nil))}}); err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	})
}
