package kit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/test/harness"
)

// limit bounds a wait for something that must happen.
const limit = 10 * time.Minute

// World is a cluster and a cloud, in which no controller runs yet.
type World struct {
	*harness.World
	T         *testing.T
	Namespace string
	Made      map[string]string // what Prepare has made, by name
	Theirs    string            // path of the official controller

	suite *Suite
	mark  int // the last call before the phase that is counted
}

// NewWorld makes a world whose cloud configuration has what testdata has for it. It
// is not for parallel tests: Nodes are one for all.
func (s *Suite) NewWorld(t *testing.T, config string) *World {
	t.Helper()
	built := s.programs(t)
	shared := s.plane.Cluster(t)
	namespace := shared.Namespace(t)
	hw, err := harness.Start(t.Context(), harness.Options{
		Cloud: s.Cloud, Nodes: s.Nodes, Cluster: shared, Binaries: built.Binaries,
		SimArgs: append(slices.Clone(s.SimFlags), strings.Fields(string(readOptional(t, config, "cloudsim.flags")))...),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &World{World: hw, T: t, Namespace: namespace, Made: map[string]string{}, Theirs: built.official, suite: s}
	t.Cleanup(func() {
		if t.Failed() {
			w.tellLogs()
		}
		if err := hw.Close(); err != nil {
			t.Errorf("clean-up: %v", err)
		}
	})
	if s.Prepare != nil {
		s.Prepare(w)
	}
	w.configure(config)
	if !slices.Contains(s.Whole, config) {
		w.excludeLastNode()
	}
	return w
}

// Must ends the test on an error.
func (w *World) Must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Seed reads what the simulated cloud started with.
func (w *World) Seed(into any) {
	w.T.Helper()
	body, err := os.ReadFile(filepath.Join(w.Sim.Dir, "seed.json"))
	w.Must(err)
	w.Must(json.Unmarshal(body, into))
}

// excludeLastNode keeps a node out of all load balancers.
func (w *World) excludeLastNode() {
	w.T.Helper()
	var seed struct{ Nodes []struct{ Name string } }
	w.Seed(&seed)
	patch := []byte(`{"metadata":{"labels":{"` + corev1.LabelNodeExcludeBalancers + `":""}}}`)
	_, err := w.Client.CoreV1().Nodes().Patch(w.T.Context(), seed.Nodes[w.suite.Nodes-1].Name, types.MergePatchType, patch, metav1.PatchOptions{})
	w.Must(err)
}

// readOptional reads a file of testdata that a configuration may have.
func readOptional(t *testing.T, config, file string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", config, file))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return body
}

func (w *World) configure(config string) {
	w.T.Helper()
	more := readOptional(w.T, config, "global.conf")
	conf, err := os.ReadFile(w.CloudConfig())
	w.Must(err)
	w.Must(os.WriteFile(w.CloudConfig(), []byte(w.suite.Configure(string(conf), w.Fill(more))), 0o600))
}

// CloudConfig is the file of --cloud-config.
func (w *World) CloudConfig() string { return filepath.Join(w.Sim.Dir, "cloud.conf") }

// Official starts the official controller with its stock loop. Only Kill is sure to
// end it: not every one answers a signal.
func (w *World) Official() *harness.Process {
	w.T.Helper()
	flags := append([]string{"--configure-cloud-routes=false", "--kube-api-qps=100", "--kube-api-burst=200", "-v=2"}, w.suite.Program.Flags...)
	p, err := w.Manager("official", w.Theirs, flags...)
	w.Must(err)
	return p
}

// Berth starts our controller.
func (w *World) Berth(flags ...string) *harness.Process {
	w.T.Helper()
	p, err := w.Controller("berth", flags...)
	w.Must(err)
	return p
}

// Stop ends a process that answers signals.
func (w *World) Stop(p *harness.Process) {
	w.T.Helper()
	w.Must(p.Stop(limit))
}

// Eventually waits for the answer nil.
func (w *World) Eventually(what string, ask func(context.Context) error) {
	w.T.Helper()
	if err := harness.EventuallySlow(w.T.Context(), limit, ask); err != nil {
		w.T.Fatalf("%s: %v", what, err)
	}
}

// tellLogs shows the ends of the logs, for a test that failed.
func (w *World) tellLogs() {
	logs, err := filepath.Glob(filepath.Join(w.Dir, "*.log"))
	if err != nil {
		w.T.Log(err)
		return
	}
	const shown = 25
	for _, path := range logs {
		body, err := os.ReadFile(path)
		if err != nil {
			w.T.Log(err)
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(body)), "\n")
		w.T.Logf("end of %s:\n%s", filepath.Base(path), strings.Join(lines[max(0, len(lines)-shown):], "\n"))
	}
}

// Addressed answers nil when every Service has an address, which the official
// controllers write when all else is done.
func (w *World) Addressed(services ...corev1.Service) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, s := range services {
			svc, err := w.Get(ctx, s.Namespace, s.Name)
			if err != nil {
				return err
			}
			if len(svc.Status.LoadBalancer.Ingress) == 0 {
				return fmt.Errorf("%s has no address", s.Name)
			}
		}
		return nil
	}
}

// statuses are the addresses of all Services, by name.
func (w *World) statuses(services []corev1.Service) map[string]corev1.LoadBalancerStatus {
	w.T.Helper()
	out := map[string]corev1.LoadBalancerStatus{}
	for _, s := range services {
		svc, err := w.Get(w.T.Context(), s.Namespace, s.Name)
		w.Must(err)
		out[s.Name] = svc.Status.LoadBalancer
	}
	return out
}
