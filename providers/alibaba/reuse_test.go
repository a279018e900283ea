package alibaba_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// usersWorld is a world with a load balancer and a server group of a user, and a listener on port 9000.
func usersWorld(t *testing.T) (w *world, lb, group string) {
	t.Helper()
	w = beginWorld(t, withUsers(3))
	lb, group = w.Sim.Cloud.Seed.Users, w.Sim.Cloud.Seed.UsersGroup
	w.Sim.Cloud.AddListener(lb, "tcp", 9000, "made by hand")
	return w, lb, group
}

// TestReuse: with and without listeners of its own a Service is served on a load balancer of the user,
// and its release leaves what others have there.
func TestReuse(t *testing.T) {
	for _, override := range []string{"", "false", "true"} {
		virtual.Run(t, "override "+override, func(t *testing.T) {
			w, lb, _ := usersWorld(t)
			before := w.Sim.Cloud.TagsOf(lb)
			svc := props.Service("web", withKeys("id", lb, "force-override-listeners", override)).Service
			res := w.Serve(svc)
			if len(w.Sim.Cloud.Balancers()) != 1 || res.Status.Labels["service.k8s.alibaba/loadbalancer-id"] != lb || len(res.Status.Ingress) != 1 {
				t.Errorf("load balancers %v, status %+v", w.Sim.Cloud.Balancers(), res.Status)
			}
			if got := w.Sim.Cloud.ServersOf("k8s/30080/web/shop/berthdemo"); len(got) != 3 {
				t.Errorf("servers %v", got)
			}
			if ports := len(w.Sim.Cloud.Forwards()); (ports == 2) != (override == "true") {
				t.Errorf("%d ports", ports)
			}
			if w.Sim.Cloud.TagsOf(lb)["kubernetes.reused.by.user"] != "true" {
				t.Errorf("tags %v", w.Sim.Cloud.TagsOf(lb))
			}
			w.Restart(svc)
			w.Control().Journal.Reset()
			w.Serve(svc)
			if n := w.Control().Journal.Writes(); n != 0 {
				t.Errorf("%d writes of a new process", n)
			}
			w.Restart(svc)
			w.Release(svc)
			after := w.Sim.Cloud.TagsOf(lb)
			delete(after, "kubernetes.reused.by.user") // stays, as by the official controller
			if d := cmp.Diff(before, after); d != "" || w.Sim.Cloud.Description(lb, "tcp", 9000) != "made by hand" || len(w.Sim.Cloud.GroupIDs("k8s/30080/web/shop/berthdemo")) != 0 {
				t.Errorf("tags %s, groups %v", d, w.Sim.Cloud.GroupIDs("k8s/30080/web/shop/berthdemo"))
			}
		})
	}
}

// TestReuseRefused: load balancers that a controller has created, and server groups that are not of
// the load balancer or of a controller, are named.
func TestReuseRefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(w *world, lb string) []string
		want    string
	}{
		"of a controller": {func(w *world, lb string) []string {
			w.Sim.Cloud.Tag(lb, "ack.aliyun.com", "another")
			return nil
		}, "has the tag ack.aliyun.com"},
		"another group": {func(*world, string) []string { return []string{"vgroup-port", "rsp-unknown:80"} }, "has rsp-unknown, which is no server group of the load balancer"},
		"a group of a controller": {func(w *world, lb string) []string {
			return []string{"vgroup-port", w.Sim.Cloud.AddGroup(lb, "k8s/1/a/b/c") + ":80"}
		}, `which a controller has created as "k8s/1/a/b/c"`},
		"another address type": {func(*world, string) []string { return []string{"address-type", "intranet"} }, "cannot change on a live load balancer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, lb, _ := usersWorld(t)
			more := c.prepare(w, lb)
			res, err := w.Once(props.Service("web", withKeys(append([]string{"id", lb}, more...)...)).Service, false)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(res.Draft.Problems.Strings(), "\n"); !strings.Contains(text, c.want) || w.Control().Journal.Writes() != 0 {
				t.Errorf("problems %q, %d writes", text, w.Control().Journal.Writes())
			}
		})
	}
}

// TestNamedGroup: the servers of a Service share a server group of the user with other servers, with
// the weight that the Service has, and only they are removed with it.
func TestNamedGroup(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w, lb, group := usersWorld(t)
		w.Sim.Cloud.AddServer("users", w.Sim.Cloud.Seed.Nodes[0].InstanceID, 7000, "mine")
		svc := props.Service("web", withKeys("id", lb, "vgroup-port", group+":80", "weight", "50")).Service
		w.Serve(svc)
		if got := w.Sim.Cloud.ServersOf("users"); len(got) != 4 {
			t.Errorf("servers %v", got)
		}
		w.Sim.Cloud.UseGroup(lb, "tcp", 9000, group)
		w.Machines = w.Machines[1:]
		w.Process.SetNodes(w.Machines)
		w.Serve(svc)
		for _, f := range w.Sim.Cloud.Forwards() {
			if f.Port == 9000 && len(f.Servers) != 3 {
				t.Errorf("servers %v", f.Servers)
			}
		}
		w.Restart(svc)
		w.Release(svc)
		if got := w.Sim.Cloud.ServersOf("users"); len(got) != 1 || !strings.HasSuffix(got[0], ":7000") {
			t.Errorf("servers %v", got)
		}
	})
}

// TestAttachedGroup: a server group of the Service that the user has attached to a listener stays without
// servers when the Service is deleted.
func TestAttachedGroup(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w, lb, _ := usersWorld(t)
		svc := props.Service("web", withKeys("id", lb)).Service
		w.Serve(svc)
		const name = "k8s/30080/web/shop/berthdemo"
		w.Sim.Cloud.UseGroup(lb, "tcp", 9000, w.Sim.Cloud.GroupIDs(name)[0])
		w.Restart(svc)
		w.Release(svc)
		if len(w.Sim.Cloud.GroupIDs(name)) != 1 || len(w.Sim.Cloud.ServersOf(name)) != 0 {
			t.Errorf("groups %v, servers %v", w.Sim.Cloud.GroupIDs(name), w.Sim.Cloud.ServersOf(name))
		}
	})
}

// TestTwoServices: two Services of different ports share a load balancer, and of one port the second is
// reported with the description of the first.
func TestTwoServices(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w, lb, _ := usersWorld(t)
		first, second := props.Service("web", withKeys("id", lb, "force-override-listeners", "true")).Service, props.Service("web", withKeys("id", lb, "force-override-listeners", "true")).Service
		second.Name, second.UID = "second", account.UID(5)
		second.Spec.Ports = slices.Clone(second.Spec.Ports)
		second.Spec.Ports[1].Port, second.Spec.Ports[1].NodePort = 8443, 31000
		second.Spec.Ports[0].NodePort = 31001
		w.Serve(first)
		res, err := w.Once(second, false)
		if text := strings.Join(res.Draft.Problems.Strings(), "\n"); err != nil || !strings.Contains(text, "k8s/80/web/shop/berthdemo") {
			t.Errorf("%v, problems %q", err, text)
		}
		if got := w.Sim.Cloud.Description(lb, "tcp", 80); got != "k8s/80/web/shop/berthdemo" {
			t.Errorf("the listener is %q", got)
		}
		if ports := len(w.Sim.Cloud.Forwards()); ports != 3 {
			t.Errorf("%d ports are forwarded, want 80, 443 and 8443", ports)
		}
	})
}

// TestLeave: a Service on a load balancer of the user neither moves to another one nor to its own.
func TestLeave(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w, lb, _ := usersWorld(t)
		svc := props.Service("web", withKeys("id", lb, "force-override-listeners", "true")).Service
		w.Serve(svc)
		before := w.Sim.Cloud.Forwards()
		for _, keys := range [][]string{{}, {"id", w.Sim.Cloud.AddBalancer("other", "internet")}} {
			svc.Annotations = withKeys(keys...)
			for _, restarts := range []bool{false, true} {
				if restarts {
					w.Restart(svc)
				}
				w.Control().Journal.Reset()
				res, err := w.Once(svc, false)
				if text := strings.Join(res.Draft.Problems.Strings(), "\n"); err != nil || !strings.Contains(text, "has listeners or servers on the load balancer "+lb) || w.Control().Journal.Writes() != 0 {
					t.Errorf("%v: %v, problems %q, %d writes", keys, err, text, w.Control().Journal.Writes())
				}
			}
		}
		if d := cmp.Diff(before, w.Sim.Cloud.Forwards()); d != "" {
			t.Error(d)
		}
		w.Restart(svc)
		w.Release(svc)
		if left := w.Sim.Cloud.Forwards(); len(left) != 0 || len(w.Sim.Cloud.GroupIDs("k8s/30080/web/shop/berthdemo")) != 0 {
			t.Errorf("left %+v", left)
		}
	})
}

// TestOwnStays: a Service with a load balancer of its own does not move to one of the user.
func TestOwnStays(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w, lb, _ := usersWorld(t)
		svc := props.Service("web", nil).Service
		w.Serve(svc)
		svc.Annotations = withKeys("id", lb)
		res, err := w.Once(svc, false)
		if text := strings.Join(res.Draft.Problems.Strings(), "\n"); err != nil || !strings.Contains(text, "cannot replace the load balancer") {
			t.Errorf("%v, problems %q", err, text)
		}
	})
}

// TestListsStay: lists of a listener stay without their annotations, also in the process that has created it.
func TestListsStay(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", withKeys("acl-status", "on", "acl-id", defaultSeed().Lists[0], "acl-type", "white")).Service
		w.Serve(svc)
		before := w.Sim.Cloud.Forwards()
		svc.Annotations = withKeys("scheduler", "wrr")
		w.Serve(svc)
		if d := cmp.Diff(before, w.Sim.Cloud.Forwards()); d != "" {
			t.Errorf("forwards (-before +after):\n%s", d)
		}
	})
}

// TestEmptyList: an admitting list without entries is refused for a new Service, and for a live one,
// which keeps its clients.
func TestEmptyList(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(3))
		lists := w.Sim.Cloud.Seed.Lists
		keys := func(list string) map[string]string {
			return withKeys("acl-status", "on", "acl-id", list, "acl-type", "white")
		}
		svc := props.Service("web", keys(lists[2])).Service
		for range 2 {
			res, err := w.Once(svc, false)
			if text := strings.Join(res.Draft.Problems.Strings(), "\n"); err != nil || !strings.Contains(text, "the cloud admits everyone by an empty list") {
				t.Fatalf("%v, problems %q", err, text)
			}
			svc.Annotations = keys(lists[0])
			w.Serve(svc)
			svc.Annotations = keys(lists[2])
		}
		for _, f := range w.Sim.Cloud.Forwards() {
			if fmt.Sprint(f.Admits) != "[203.0.113.0/24]" {
				t.Errorf("%+v", f)
			}
		}
	})
}

// TestElasticAddress: the status has the elastic IP addresses of the load balancer, and its own address
// while it has none.
func TestElasticAddress(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", withKeys("address-type", "intranet", "external-ip-type", "eip")).Service
		if got := w.Serve(svc).Status.Ingress; len(got) != 1 || !strings.HasPrefix(got[0].IP, "192.168.") {
			t.Errorf("status %+v", got)
		}
		w.Sim.Cloud.Associate(w.Sim.Cloud.Balancers()[0], "47.99.0.7")
		w.Restart(svc)
		time.Sleep(time.Minute) // a new process keeps the addresses of the Service at first
		if got := w.Serve(svc).Status.Ingress; len(got) != 1 || got[0].IP != "47.99.0.7" {
			t.Errorf("status %+v", got)
		}
	})
}

// TestSizeOfLive: a live load balancer that is paid by its size gets another size without the
// annotation about how it is paid.
func TestSizeOfLive(t *testing.T) {
	w := beginWorld(t, withNodes(2))
	svc := props.Service("web", withKeys("instance-charge-type", "PayBySpec")).Service
	w.Serve(svc)
	svc.Annotations = withKeys("spec", "slb.s2.small")
	w.Serve(svc)
	if n := w.Control().Journal.Counts()["slb.ModifyLoadBalancerInstanceSpec"]; n != 1 {
		t.Errorf("%d calls", n)
	}
}
