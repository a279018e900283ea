package tencent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/rest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// away is a region without machines of the cluster.
const away = "ap-chongqing"

// recorded is the annotation by which Berth finds a load balancer in another region again.
const recorded = "berth-lb.io/tencent-region"

// inAnotherRegion asks for a load balancer in another region than that of the cluster.
func inAnotherRegion(more ...string) map[string]string {
	return inAnotherNetwork(append([]string{cloud + "cross-region-id", away}, more...)...)
}

// recordedAway is inAnotherRegion on a Service that carries the region, as the first run has recorded it.
func recordedAway(more ...string) map[string]string {
	out := inAnotherRegion(more...)
	out[recorded] = away
	return out
}

// TestAnotherRegion: the targets of a load balancer in another region are addresses. They follow nodes and pods, also
// while the Service is refused.
func TestAnotherRegion(t *testing.T) {
	onTencent().Immutable(t, withNodes(4), inAnotherRegion(), map[string]map[string]string{
		"the region of the cluster": nil,
		"no region":                 inAnotherNetwork(),
		"a third region":            onTencent().Keys(cloud+"cross-region-id", "ap-shanghai", cloud+"cross-vpc-id", "vpc-mjekzyps"),
		"broken JSON":               inAnotherRegion(extensive, "{"),
	})
	onTencent().PodsFollow(t, withNodes(3), props.Service("web", inAnotherRegion(direct, "true")).Service, inAnotherRegion(extensive, "{"), "172.16.0.11", "172.16.0.12", "172.16.0.13")
}

// awaySubject has load balancers in another region, which is in their identifiers.
type awaySubject struct{ account.Subject[simulated] }

// PlainID implements props.Placing.
func (awaySubject) PlainID(id string) string {
	_, plain := model.SplitID(id)
	return plain
}

// TestPropertiesAway: the properties hold for load balancers in another region.
func TestPropertiesAway(t *testing.T) {
	fresh := func(t testing.TB) props.Subject { return awaySubject{onTencent().Subject(t, withNodes(6))} }
	props.Run(t, fresh, []props.Case{
		props.Service("away", recordedAway()),
		props.Service("away tuned", recordedAway(kube+"service.listenerParameters", tuned)),
		props.Service("away mixed", recordedAway(), withUDP),
	})
}

// TestRegionIsRecorded: a new process finds the load balancer in its region, whatever the annotation of the user names
// meanwhile. It creates no second one, and deletes the first one with the Service.
func TestRegionIsRecorded(t *testing.T) {
	for name, keys := range map[string]map[string]string{"another region": onTencent().Keys(cloud+"cross-region-id", "ap-shanghai", cloud+"cross-vpc-id", "vpc-6swtxxxx"), "no region": {}} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, withNodes(3))
			svc := props.Service("web", inAnotherRegion()).Service
			w.Serve(svc)
			if svc.Annotations[recorded] != away || strings.Contains(svc.Annotations[kube+"loadbalance-id"], "/") {
				t.Fatalf("annotations %v", svc.Annotations)
			}
			for key := range inAnotherRegion() {
				delete(svc.Annotations, key)
			}
			for key, value := range keys {
				svc.Annotations[key] = value
			}
			w.Restart(svc)
			w.Process.SetNodes(w.Machines[1:])
			res, err := w.Once(svc, false)
			if err != nil || !strings.Contains(fmt.Sprint(res.Draft.Problems), "cannot change on a live load balancer") {
				t.Fatal(err, res.Draft.Problems)
			}
			if all := w.Sim.Cloud.Balancers(); len(all) != 1 || w.Sim.Cloud.Balancer(all[0]).Text("Region") != away {
				t.Errorf("load balancers %v", all)
			}
			for _, f := range w.Sim.Forwards() {
				if len(f.To) != 2 {
					t.Errorf("2 nodes, and %v", f)
				}
			}
			w.Restart()
			w.Release(svc)
			if left := w.Sim.Cloud.Balancers(); len(left) > 0 {
				t.Errorf("load balancers %v are left", left)
			}
		})
	}
}

// TestRegionIsRecordedFirst: a process ends before it has written anything about the load balancer that it created in
// another region, and the user asks for a third region meanwhile. There is one load balancer all the same.
func TestRegionIsRecordedFirst(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(3))
		svc := props.Service("web", inAnotherRegion()).Service
		res, err := w.Once(svc, false)
		if all := w.Sim.Cloud.Balancers(); err != nil || len(all) > 0 || !res.Waits || res.Wait > 5*time.Second {
			t.Fatalf("load balancers %v before the region is recorded; wait %v, %v: %v", all, res.Waits, res.Wait, err)
		}
		if svc.Annotations[recorded] != away {
			t.Fatalf("annotations %v", svc.Annotations)
		}
		before := svc.DeepCopy()
		w.Serve(svc)
		svc = before // what the first process has written of its creation is lost
		for key, value := range onTencent().Keys(cloud+"cross-region-id", "ap-shanghai", cloud+"cross-vpc-id", "vpc-6swtxxxx") {
			svc.Annotations[key] = value
		}
		w.Restart(svc)
		for range 3 {
			if _, err := w.Once(svc, false); err != nil {
				t.Fatal(err)
			}
		}
		if all := w.Sim.Cloud.Balancers(); len(all) != 1 || w.Sim.Cloud.Balancer(all[0]).Text("Region") != away {
			t.Errorf("load balancers %v", all)
		}
		w.Restart()
		w.Release(svc)
		if left := w.Sim.Cloud.Balancers(); len(left) > 0 {
			t.Errorf("load balancers %v are left", left)
		}
	})
}

// TestExistingOfAnotherRegion: an existing load balancer of another region is used by its region and id. Its listeners are
// deleted with the Service, also if the annotation names another region by then.
func TestExistingOfAnotherRegion(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onTencent().Begin(t, withUsers(2))
		users := w.Sim.Cloud.Seed.Users
		w.Sim.Cloud.ChangeBalancer(users, rest.Object{"Region": away, "VpcId": "vpc-mjekzyps", "SnatPro": true})
		svc := props.Service("web", withKey(existed, users)).Service
		res, err := w.Once(svc, false)
		if err != nil || !strings.Contains(fmt.Sprint(res.Draft.Problems), "is not found in the region") {
			t.Fatal(err, res.Draft.Problems)
		}
		svc.Annotations = onTencent().Keys(existed, users, cloud+"cross-region-id", away)
		w.Serve(svc)
		for _, f := range w.Sim.Forwards() {
			if len(f.To) != 2 || strings.Contains(strings.Join(f.To, " "), "ins-") {
				t.Errorf("2 nodes by their addresses, and %v", f)
			}
		}
		svc.Annotations[cloud+"cross-region-id"] = "ap-shanghai"
		w.Restart(svc)
		if res, err := w.Once(svc, false); err != nil || !strings.Contains(fmt.Sprint(res.Draft.Problems), "while the Service has listeners on "+away+"/"+users) {
			t.Fatal(err, res.Draft.Problems)
		}
		w.Restart()
		w.Release(svc)
		if left := w.Sim.Cloud.Forwards(); len(left) > 0 || len(w.Sim.Cloud.Balancers()) != 1 {
			t.Errorf("%v are left", left)
		}
	})
}

// TestUnknownRegion: a Service in a region that the cloud does not have is refused by the cloud, and no other one waits.
func TestUnknownRegion(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := account.Numbered(1, inAnotherRegion())
		svc.Annotations[cloud+"cross-region-id"] = "ap-nowhere"
		if res, err := w.Once(svc, false); err == nil && res.Err == nil || !strings.Contains(fmt.Sprint(err, res.Err), "ap-nowhere") {
			t.Errorf("%v, %v", err, res.Err)
		}
		w.Serve(props.Service("web", nil).Service)
	})
}

// TestOrphansAway: the load balancer of a lost Service in another region is listed if a Service or the configuration names
// the region.
func TestOrphansAway(t *testing.T) {
	for name, regions := range map[string][]string{"named by a Service": nil, "named by the configuration": {away, "ap-guangzhou"}} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, withNodes(2))
			lost := props.Service("web", inAnotherRegion()).Service
			w.Serve(lost)
			w.Sim.regions = regions
			session := w.Open(t)
			if regions == nil {
				named := account.Numbered(1, inAnotherRegion())
				session.Read(t.Context(), []providers.Scope{session.OwnedScope(reconcile.OwnerOf(named), named)})
			}
			found, err := session.Orphans(t.Context(), providers.Live{})
			if err != nil || len(found) != 1 || found[0].Owner.UID != string(lost.UID) || len(found[0].Resources) != 3 {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
}
