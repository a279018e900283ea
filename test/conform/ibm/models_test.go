package conform

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/docs/permissions"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/ibm"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/conform/models"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const prefix = "service.kubernetes.io/ibm-load-balancer-cloud-provider-"

// recorded is a simulated account whose calls are compared with the models.
type recorded struct {
	*simibm.Cloud
	record       models.Recorder
	url, keyFile string
}

func startRecorded(t testing.TB, opt simibm.Options) *recorded {
	t.Helper()
	r := &recorded{Cloud: virtual.Fresh(t, simibm.New, opt), keyFile: filepath.Join(t.TempDir(), "api-key")}
	if err := os.WriteFile(r.keyFile, []byte(r.Seed.APIKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	r.record = models.Recorder{Simulator: r.Cloud, Judge: judgeCall}
	r.url = virtual.Start(t, &r.record)
	return r
}

func (r *recorded) Config(testing.TB) []byte { return r.Seed.CloudConf(r.url, r.keyFile) }

func (r *recorded) KubernetesNodes() []corev1.Node { return r.Seed.KubernetesNodes() }

func (r *recorded) Control() *sim.Control { return &r.Cloud.Control }

func (r *recorded) Forwards() []account.Forward { return nil }

// judgeCall compares a call with its model. The account's own calls have other paths.
func judgeCall(c models.Call) (name string, differences []string) {
	path, ours := strings.CutPrefix(c.HTTP.URL.Path, "/v1/")
	if !ours {
		return "", nil
	}
	name = c.HTTP.Method + " " + shapeOf(path)
	m, known := modelsOf()[name]
	if !known {
		return name, []string{name + ": no model"}
	}
	return name, slices.Concat(compareText(name+" request", c.Request, m.request), compareText(name+" answer", c.Answer, m.answer))
}

// compareText compares a document with its model, if there is one.
func compareText(path string, text []byte, m reflect.Type) []string {
	if m == nil || len(text) == 0 {
		return nil
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return []string{path + ": " + err.Error()}
	}
	return compareDocument(path, document, m)
}

// shapeOf replaces the identifiers of a path: collections and identifiers alternate.
func shapeOf(path string) string {
	parts := strings.Split(path, "/")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "*"
	}
	return strings.Join(parts, "/")
}

// TestModels serves and changes Services of all kinds, and checks the setup as berth doctor does. Requests and answers must
// fit the models.
func TestModels(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		cloud := account.Cloud[simibm.Options, *recorded]{Entry: providers.EntryOf(ibm.Cloud()), Prefix: prefix, Start: startRecorded}
		w := cloud.Begin(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 6}})
		for n, c := range []props.Case{
			props.Service("plain", nil), props.Service("outbound", cloud.Keys("vpc-allow-outbound-traffic", "80")), props.Service("local", cloud.Keys("enable-features", "proxy-protocol", "vpc-idle-connection-timeout", "120"), props.Local),
			props.Service("private", cloud.Keys("ip-type", "private", "vpc-security-group", "web", "vpc-private-dns-instance-crn", "crn:v1:dns", "vpc-private-dns-zone-id", "example.com:1")),
			props.Service("network", cloud.Keys("enable-features", "nlb", "vpc-health-check-udp", "30080"), props.UDP),
			props.Service("path", cloud.Keys("enable-features", "private-path", "vpc-port-range", "80-90")),
		} {
			svc := c.Service
			svc.Name, svc.UID = c.Name, account.UID(n)
			w.Serve(svc)
			svc.Spec.Ports[1].NodePort++
			w.Serve(svc)
			w.Process.SetNodes(w.Machines[1:])
			w.Serve(svc)
			w.Process.SetNodes(w.Machines)
			full := svc.Spec.Ports
			svc.Spec.Ports = full[:1]
			w.Serve(svc)
			svc.Spec.Ports = full
			if c.Name == "plain" {
				svc.Annotations = cloud.Keys("vpc-security-group", "web", "vpc-subnets", "berthdemo-subnet-10", "vpc-idle-connection-timeout", "60")
			}
			w.Serve(svc)
			w.Restart(svc)
			w.Serve(svc)
			w.Release(svc)
		}
		served := w.Sim.record.Calls()
		roles, err := permissions.Of("ibm")
		if err != nil {
			t.Fatal(err)
		}
		w.Open(t).Diagnose(t.Context(), roles) // its calls are compared as well
		w.Sim.record.Check(t, knownGaps())
		alone := slices.DeleteFunc(w.Sim.record.Calls(), func(name string) bool { return slices.Contains(served, name) })
		if d := cmp.Diff([]string{"GET vpcs"}, alone); d != "" {
			t.Errorf("calls of berth doctor alone (-want +got):\n%s", d)
		}
		if d := cmp.Diff(slices.Sorted(maps.Keys(modelsOf())), w.Sim.record.Calls()); d != "" {
			t.Errorf("calls (-with a model +made):\n%s", d)
		}
	})
}
