package wire

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/sessions"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const otherIdentity = "\n[berth]\ncluster-id = fedcba9876543210\ncluster-uid = fedcba9876543210\nkube-system-uid = 99999999-2222-3333-4444-555555555555\n"

// another opens the process of another cluster in the same project and network, on
// machines of its own.
func (r *rig) another(nodes []corev1.Node) *rig {
	r.Helper()
	text := string(r.sim.Cloud.Seed.CloudConf(r.sim.URL)) + otherIdentity
	config, _, err := model.ReadConfig(strings.NewReader(text))
	if err != nil {
		r.Fatal(err)
	}
	other := *r
	other.Config, other.Nodes, other.Ledger = config, nodes, cases.ReadyLedger()
	session := newSessionOn(&other)
	other.Use(session, session.config)
	return &other
}

// mixedServices returns Services of every kind and policy, numbered from first on.
func mixedServices(first int, change func(*corev1.Service)) []*corev1.Service {
	var out []*corev1.Service
	for _, kind := range []string{model.TargetPool, model.NetLB, model.InternalIG, model.InternalNEG} {
		for _, policy := range []func(*corev1.Service){nil, localPolicy} {
			out = append(out, testService(first+len(out), kindClasses()[kind], func(svc *corev1.Service) {
				if policy != nil {
					policy(svc)
				}
				if change != nil {
					change(svc)
				}
			}))
		}
	}
	return out
}

func (r *rig) runEach(svcs []*corev1.Service) {
	r.Helper()
	for _, svc := range svcs {
		if _, err := r.run(svc, false); err != nil {
			r.Fatalf("%s: %v", svc.Name, err)
		}
	}
}

// state is everything in the cloud, by path.
func (r *rig) state() map[string]string {
	r.Helper()
	return sessions.State(r, &r.sim.Cloud.Control, func(object map[string]any) string {
		link, _ := object["selfLink"].(string)
		if link == "" || strings.Contains(link, "/operations/") {
			return ""
		}
		return model.PathOf(link)
	})
}

// TestOrphans: what Services of every kind leave behind is found and deleted, in
// any order of what others use as well; what belongs to Services that live, to
// another cluster or to a person stays exactly as it was.
func TestOrphans(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 8}}, "")
		all := r.Nodes
		r.Nodes = all[:5]
		other := r.another(all[5:])
		alive := mixedServices(11, nil)
		// Another cluster's Services, of which one half has the names of our deleted ones.
		foreign := mixedServices(21, nil)
		for i, svc := range foreign {
			if i%2 == 0 {
				svc.Name = "web-" + svc.Name[len("web-2"):]
			}
		}
		r.runEach(alive)
		other.runEach(foreign)
		r.foreignBackend("somebodys", groupPath(r.Nodes[0].Labels[corev1.LabelTopologyZone], r.Config.GroupName(model.InternalIG)))
		before := r.state()

		gone := mixedServices(1, nil)
		r.runEach(gone)
		for _, svc := range gone {
			r.Ledger.Leave(cases.OwnerOf(svc))
		}
		var want []string
		for i, svc := range gone {
			uid := model.LoadBalancerName(string(svc.UID))[1:]
			if i >= 6 { // the names of internal load balancers with endpoint groups do not tell it
				uid = ""
			}
			want = append(want, "shop/"+svc.Name+" "+uid)
		}
		if d := cmp.Diff(want, r.Sweep(alive...)); d != "" {
			t.Errorf("orphans (-want +got):\n%s", d)
		}
		if d := cmp.Diff(before, r.state()); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
		// The last ones of a cluster take along what only they shared.
		if len(r.Sweep()) != len(alive) {
			t.Error("with no Service left all that lived are orphans")
		}
		after := r.state()
		for _, path := range slices.Sorted(maps.Keys(after)) {
			if name := model.LastOf(path); strings.Contains(name, model.NamesOf(r.Config, stack.Owner{}).ClusterHash()) || strings.Contains(name, r.Config.ClusterID) && !strings.Contains(path, "/instanceGroups/") {
				t.Errorf("left: %s", path)
			}
		}
		if len(other.Sweep()) != len(foreign) {
			t.Error("the other cluster's are found by itself")
		}
	})
}

// TestOrphansOfASuccessor: the Service of that name lives, but under another UID: the
// older names of the one before are orphans, the newer names belong to the one that lives.
func TestOrphansOfASuccessor(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		for i, class := range []string{poolClass, netlbClass, igClass} {
			old, now := testService(1+i, class, nil), testService(11+i, class, nil)
			now.Name = old.Name
			r.runEach([]*corev1.Service{now})
			before := r.state()
			r.runEach([]*corev1.Service{old})
			r.Ledger.Leave(cases.OwnerOf(old))
			got := r.Sweep(now)
			if d := cmp.Diff([]string{model.LoadBalancerName(string(old.UID)) + " " + model.LoadBalancerName(string(old.UID))[1:]}, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", class, d)
			}
			if _, err := r.run(now, false); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(r.state()))); d != "" {
				t.Errorf("%s: the cloud (-before +after):\n%s", class, d)
			}
			r.leave(now)
		}
	})
}

// TestOrphanedFirewalls: a firewall that was left alone is this cluster's if it is for
// its nodes and no other machines.
func TestOrphanedFirewalls(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		alive := []*corev1.Service{testService(11, poolClass, nil)}
		r.runEach(alive)
		made, err := readCall(t.Context(), r.Session.firewallAPI.Get, &computepb.GetFirewallRequest{Project: r.Config.Project, Firewall: "k8s-fw-" + model.LoadBalancerName(string(alive[0].UID))})
		if err != nil || len(made.GetTargetTags()) == 0 {
			t.Fatal(made, err)
		}
		tags := made.GetTargetTags()
		add := func(name string, tags []string) {
			t.Helper()
			text := `{"kubernetes.io/service-name":"shop/gone"}`
			err := writeAndWait(t.Context(), r.Session, r.Session.firewallAPI.Insert, &computepb.InsertFirewallRequest{
				Project: r.Config.Project, FirewallResource: &computepb.Firewall{
					Name: &name, Description: &text, Network: new(r.Session.urlOf(r.Config.Network)), SourceRanges: []string{"0.0.0.0/0"}, TargetTags: tags,
					Allowed: []*computepb.Allowed{{IPProtocol: new("tcp")}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		lb := func(n int) string { return model.LoadBalancerName(string(testService(n, poolClass, nil).UID)) }
		add("k8s-fw-"+lb(31), []string{"somebody"})
		add("k8s-"+lb(32)+"-http-hc", nil)
		add("k8s-"+lb(33)+"-http-hc"+"-x", tags)
		kept := r.state()
		add("k8s-"+lb(1)+"-http-hc", tags)
		add("k8s-fw-"+lb(2), tags)
		if d := cmp.Diff([]string{"shop/gone " + lb(1)[1:], "shop/gone " + lb(2)[1:]}, r.Sweep(alive...)); d != "" {
			t.Errorf("orphans (-want +got):\n%s", d)
		}
		if d := cmp.Diff(kept, r.state()); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
		// Machines of others have the tag as well: the owner of the firewall is unknown.
		add("k8s-"+lb(1)+"-http-hc", tags)
		r.Nodes = r.Nodes[1:]
		if got := r.Sweep(alive...); len(got) > 0 {
			t.Errorf("with a machine that is no node of the cluster: %v", got)
		}
		r.Session.config.SystemUID, r.Session.config.ClusterID = "", ""
		if _, err := r.Session.Orphans(t.Context(), providers.Live{}); err == nil {
			t.Error("without an identity everything would be an orphan, and no error said so")
		}
	})
}

// TestOrphansShared: a resource that Services shared and that is no longer referred to
// is left over too, unless a Service lives that wants it.
func TestOrphansShared(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		empty := r.state()
		pool := testService(1, poolClass, nil)
		r.runEach([]*corev1.Service{pool})
		firewall := "k8s-" + r.Config.ClusterID + "-node-http-hc"
		made, err := readCall(t.Context(), r.Session.firewallAPI.Get, &computepb.GetFirewallRequest{Project: r.Config.Project, Firewall: firewall})
		if err != nil {
			t.Fatal(err)
		}
		r.leave(pool)
		if got := r.Sweep(); len(got) > 0 {
			t.Errorf("after a release: %v", got)
		}
		err = writeAndWait(t.Context(), r.Session, r.Session.firewallAPI.Insert, &computepb.InsertFirewallRequest{Project: r.Config.Project, FirewallResource: &computepb.Firewall{
			Name: made.Name, Description: made.Description, Network: made.Network, SourceRanges: made.SourceRanges, TargetTags: made.TargetTags, Allowed: made.Allowed,
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Sweep(pool); len(got) > 0 {
			t.Errorf("a Service lives that wants it: %v", got)
		}
		if d := cmp.Diff([]string{sharedOrphan + " "}, r.Sweep()); d != "" {
			t.Errorf("orphans (-want +got):\n%s", d)
		}
		if d := cmp.Diff(slices.Sorted(maps.Keys(empty)), slices.Sorted(maps.Keys(r.state()))); d != "" {
			t.Errorf("the cloud (-before +after):\n%s", d)
		}
	})
}

// TestOrphansUnseen: a process that cannot read everything deletes nothing.
func TestOrphansUnseen(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		r.runEach([]*corev1.Service{testService(1, poolClass, nil)})
		for _, operation := range []string{"forwardingRules.list", "firewalls.list", "healthChecks.aggregatedList"} {
			r.fault(sim.Fault{Operation: operation, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "forbidden"})
			if found, err := r.Session.Orphans(t.Context(), providers.Live{}); err == nil {
				t.Errorf("%s is denied: found %d orphans, no error", operation, len(found))
			}
			r.sim.Cloud.Faults.Clear()
		}
	})
}
