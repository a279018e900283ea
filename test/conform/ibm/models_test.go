package conform

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/ibm"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const prefix = "service.kubernetes.io/ibm-load-balancer-cloud-provider-"

// recorded is a simulated account that compares each call with the models.
type recorded struct {
	*simibm.Cloud
	url, keyFile string

	mu    sync.Mutex
	calls map[string]bool // by method and path
	found map[string]bool // differences
}

func startRecorded(t testing.TB, opt simibm.Options) *recorded {
	t.Helper()
	r := &recorded{Cloud: virtual.Fresh(t, simibm.New, opt), keyFile: filepath.Join(t.TempDir(), "api-key"), calls: map[string]bool{}, found: map[string]bool{}}
	if err := os.WriteFile(r.keyFile, []byte(r.Seed.APIKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	r.url = virtual.Start(t, http.HandlerFunc(r.compare))
	return r
}

func (r *recorded) Config(testing.TB) []byte { return r.Seed.CloudConf(r.url, r.keyFile) }

func (r *recorded) KubernetesNodes() []corev1.Node { return r.Seed.KubernetesNodes() }

func (r *recorded) Control() *sim.Control { return &r.Cloud.Control }

func (r *recorded) Forwards() []account.Forward { return nil }

// compare passes a call on to the simulator, and compares it with the models.
func (r *recorded) compare(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, req)
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a disconnected client is no difference
	path, ours := strings.CutPrefix(req.URL.Path, "/v1/")
	if !ours || answer.Code >= http.StatusBadRequest {
		return
	}
	r.note(req.Method+" "+shapeOf(path), body, answer.Body.Bytes())
}

func (r *recorded) note(call string, request, answer []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[call] = true
	m, known := modelsOf()[call]
	if !known {
		r.found[call+": no model"] = true
		return
	}
	for _, d := range slices.Concat(compareText(call+" request", request, m.request), compareText(call+" answer", answer, m.answer)) {
		r.found[d] = true
	}
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

// TestModels serves and changes Services of all kinds. Requests and answers must fit the models.
func TestModels(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		cloud := account.Cloud[simibm.Options, *recorded]{Entry: providers.EntryOf(ibm.Cloud()), Prefix: prefix, Start: startRecorded}
		w := cloud.Begin(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 6}})
		for n, c := range []props.Case{
			props.Service("plain", nil), props.Service("local", cloud.Keys("enable-features", "proxy-protocol", "vpc-idle-connection-timeout", "120"), props.Local),
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
		unlisted, unused := splitGaps(w.Sim.found)
		for _, f := range slices.Sorted(slices.Values(unlisted)) {
			t.Error(f)
		}
		if len(unused) > 0 {
			t.Errorf("listed and not found: %q", unused)
		}
		if d := cmp.Diff(slices.Sorted(maps.Keys(modelsOf())), slices.Sorted(maps.Keys(w.Sim.calls))); d != "" {
			t.Errorf("calls (-with a model +made):\n%s", d)
		}
	})
}
