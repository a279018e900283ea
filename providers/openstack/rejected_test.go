package openstack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/providers/openstack/wire"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/openstack/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestRejectedGroups: the port of a node gets the security groups of many Services, of
// which some have been deleted by hand.
func TestRejectedGroups(t *testing.T) {
	props.RejectedMembers(t, func(t *testing.T) props.Shared {
		const gone = "0bad0bad-0bad-4bad-8bad-0bad0bad0"
		running := simtest.Start(t, simopenstack.Options{Seed: simopenstack.SeedOptions{Nodes: 1}})
		config, _, err := model.ReadConfig(strings.NewReader(string(running.Cloud.Seed.CloudConf(running.URL)) + managed))
		if err != nil {
			t.Fatal(err)
		}
		session, _, err := wire.Open(t.Context(), config, providers.Env{Cluster: "kubernetes"})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{TB: t, subject: subject{running: running}}
		var node string
		for _, p := range w.tables()["ports"] {
			if name, _ := p["device_owner"].(string); strings.HasPrefix(name, "compute:") {
				node, _ = p["id"].(string)
			}
		}
		group := func(o stack.Owner) string {
			target := stack.Resource{Key: stack.Key{Kind: model.KindGroup}, Spec: model.Group{Name: o.Name}}
			step := plan.Step{ID: plan.StepID{Owner: o, Key: target.Key, Action: plan.Create}, Target: target}
			out := session.Apply(t.Context(), plan.Batch{Steps: []plan.Step{step}})
			if out[0].Err != nil {
				t.Fatal(out[0].Err)
			}
			return out[0].After.ID
		}
		return props.Shared{
			Engine: engine.New(session.Apply, nil, engine.Options{PerOwner: 100}), Mark: gone,
			Calls: func() int { return running.Cloud.Journal.Counts()["network.UpdatePort"] },
			Step: func(n int, bad bool) plan.Step {
				o := stack.Owner{Namespace: "shop", Name: fmt.Sprintf("web-%d", n), UID: fmt.Sprintf("uid-%d", n)}
				target := stack.Resource{Key: stack.Key{Kind: model.KindGroupPorts}, ID: fmt.Sprintf("%s%03d", gone, n), Spec: model.GroupPorts{Ports: []string{node}}}
				if !bad {
					target.ID = group(o)
				}
				return plan.Step{ID: plan.StepID{Owner: o, Key: target.Key, Action: plan.Create}, Target: target, Batch: model.BatchPorts}
			},
		}
	})
}

// TestRejectedOnOneBalancer: of the Services that share a load balancer some want what
// Octavia refuses. The others are served with as many calls as without them, and the
// refused ones cost what their own parts do, three times over.
func TestRejectedOnOneBalancer(t *testing.T) {
	calls := func(t *testing.T, good, bad int) int {
		t.Helper()
		w := startWorld(t, simopenstack.Options{}, fmt.Sprintf("max-shared-lb = %d\n", good+bad))
		host := namedService("web-0", 8000)
		w.serve(host)
		w.Control().Journal.Reset()
		for i := 1; i < good+bad; i++ {
			svc := withAnnotations(namedService(fmt.Sprintf("web-%d", i), int32(8000+10*i)), map[string]string{idKey: host.Annotations[idKey]})
			if i%(1+good/max(bad, 1)) != 1 || bad == 0 {
				w.serve(svc)
				continue
			}
			svc.Annotations[prefix+"member-subnet-id"] = "0bad0bad-0bad-4bad-8bad-0bad0bad0bad"
			for range 3 {
				if res, err := w.once(svc, false); err == nil && res.Err == nil && res.Clean {
					t.Errorf("%s is served", svc.Name)
				}
			}
		}
		return w.Control().Journal.Writes()
	}
	virtual.Test(t, func(t *testing.T) {
		const good, bad, each = 12, 4, 20
		alone := calls(t, good, 0)
		if n := calls(t, good, bad); n > alone+bad*each {
			t.Errorf("%d writing calls beside %d bad ones, %d without", n, bad, alone)
		}
	})
}
