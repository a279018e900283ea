package tencent_test

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestServiceConfig: wrong settings of one listener stop neither the others nor its targets, and a missing
// object is reported by the key.
func TestServiceConfig(t *testing.T) {
	for name, want := range map[string]struct {
		live    bool
		ports   int
		problem string
	}{
		"a new listener":  {false, 1, "healthNum"},
		"a live listener": {true, 2, "healthNum"},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, withNodes(4))
			w.Given = namedObjects(w.Sim.Cloud.Seed)
			svc := props.Service("web", nil).Service
			if want.live {
				w.Machines = w.Machines[:3]
				w.Restart()
				w.Serve(svc)
				w.Machines = w.Nodes()
				w.Restart(svc)
			}
			svc.Annotations = withKey(cloud+"tke-service-config", "one-wrong")
			res, err := w.Once(svc, false)
			if err != nil || res.Err != nil {
				t.Fatal(err, res.Err)
			}
			if text := strings.Join(res.Draft.Problems.Strings(), "\n"); !strings.Contains(text, want.problem) || !strings.Contains(text, "TCP 80") {
				t.Errorf("problems %q", text)
			}
			lb := w.Sim.Cloud.Balancers()[0]
			if got := w.Sim.Cloud.Setting(lb, "TCP", 443, "HealthCheck", "IntervalTime"); got != "30" {
				t.Errorf("the interval of the other listener is %s", got)
			}
			forwards := w.Sim.Cloud.Forwards()
			if len(forwards) != want.ports {
				t.Errorf("%d ports", len(forwards))
			}
			for _, f := range forwards {
				if len(f.Targets) != 4 {
					t.Errorf("port %d has the targets %v", f.Port, f.Targets)
				}
			}
		})
	}
}

// TestMissingServiceConfig: without the object, or its API, the Service is served and the key is reported.
func TestMissingServiceConfig(t *testing.T) {
	w := beginWorld(t, withNodes(2))
	w.Given = map[providers.Reference]providers.Object{configReference("shop"): {Why: "cannot be read: the API server does not serve tkeserviceconfigs.cloud.tencent.com"}}
	res := w.Serve(props.Service("web", withKey(cloud+"tke-service-config", "shop")).Service)
	if text := strings.Join(res.Draft.Problems.Strings(), "\n"); !strings.Contains(text, cloud+"tke-service-config") || !strings.Contains(text, "does not serve tkeserviceconfigs") {
		t.Errorf("problems %q", text)
	}
	if n := len(w.Sim.Cloud.Forwards()); n != 2 {
		t.Errorf("%d ports", n)
	}
}
