package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/option"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

var plane cluster.Shared

func TestMain(m *testing.M) { plane.Main(m) }

const (
	// limit bounds a wait for something that must happen.
	limit = 2 * time.Minute
	// quiet is how long nothing must happen in the cloud until it is taken for
	// nothing: longer than the second for which the official controller sleeps
	// before it looks at an operation.
	quiet = 2500 * time.Millisecond
	nodes = 5
)

// built are the programs: ours, and the official controller.
var built = sync.OnceValues(func() (programs, error) {
	ctx := context.Background()
	ours, err := harness.Build(ctx, os.Stderr)
	if err != nil {
		return programs{}, err
	}
	official := filepath.Join(filepath.Dir(ours.Controller), "gce-cloud-controller-manager")
	fmt.Fprintln(os.Stderr, "building the official controller")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", official, "./ccm")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return programs{Binaries: ours, official: official}, cmd.Run()
})

type programs struct {
	harness.Binaries
	official string
}

// world is a cluster and a cloud, in which nobody does anything yet.
type world struct {
	*harness.World
	t         *testing.T
	programs  programs
	seed      simgce.Seed
	addresses map[string]string // those of the user, by name
	namespace string
}

// newWorld makes a world whose cloud configuration has the keys that testdata has
// for it. It is not for parallel tests: Nodes are one for all.
func newWorld(t *testing.T, config string) *world {
	t.Helper()
	built, err := built()
	if err != nil {
		t.Fatal(err)
	}
	shared := plane.Cluster(t)
	namespace := shared.Namespace(t)
	hw, err := harness.Start(t.Context(), harness.Options{
		Cloud: "gce", Nodes: nodes, Cluster: shared, Binaries: built.Binaries, SimArgs: []string{"--quota-factor=10"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{World: hw, t: t, programs: built, namespace: namespace, addresses: map[string]string{}}
	t.Cleanup(func() {
		if t.Failed() {
			w.tellLogs()
		}
		if err := hw.Close(); err != nil {
			t.Errorf("clean-up: %v", err)
		}
	})
	body, err := os.ReadFile(filepath.Join(hw.Sim.Dir, "seed.json"))
	w.must(err)
	w.must(json.Unmarshal(body, &w.seed))
	w.userAddresses()
	w.clusterID()
	w.configure(config)
	w.excludeNode(w.seed.Nodes[nodes-1].Name)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// userAddresses makes the addresses that Services may ask for.
func (w *world) userAddresses() {
	client, err := compute.NewService(w.t.Context(), option.WithEndpoint(w.Sim.URL+"/compute/v1/"), option.WithoutAuthentication())
	w.must(err)
	for _, a := range []*compute.Address{
		{Name: "user-premium", NetworkTier: "PREMIUM"},
		{Name: "user-standard", NetworkTier: "STANDARD"},
		{Name: "user-internal", AddressType: "INTERNAL", Subnetwork: w.seed.Subnets[0].URL},
	} {
		_, err := client.Addresses.Insert(w.seed.Project, w.seed.Region, a).Do()
		w.must(err)
		made, err := client.Addresses.Get(w.seed.Project, w.seed.Region, a.Name).Do()
		w.must(err)
		w.addresses[a.Name] = made.Address
	}
}

// clusterID writes the ConfigMap that all controllers find the cluster's id in.
func (w *world) clusterID() {
	const id = "0123456789abcdef"
	_, err := w.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Create(w.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "ingress-uid"}, Data: map[string]string{"uid": id, "provider-uid": id},
	}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		w.must(err)
	}
}

// excludeNode keeps a node out of all load balancers.
func (w *world) excludeNode(name string) {
	patch := []byte(`{"metadata":{"labels":{"` + corev1.LabelNodeExcludeBalancers + `":""}}}`)
	_, err := w.Client.CoreV1().Nodes().Patch(w.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	w.must(err)
}

// configure writes the cloud configuration with the keys that testdata has, and
// without what only Berth reads: the ids are found in the cluster.
func (w *world) configure(config string) {
	body, err := os.ReadFile(w.cloudConfig())
	w.must(err)
	global, _, _ := strings.Cut(string(body), "\n[berth]")
	more, err := os.ReadFile(filepath.Join("testdata", config, "global.conf"))
	if !os.IsNotExist(err) {
		w.must(err)
	}
	for line := range strings.Lines(string(more)) {
		key, value, _ := strings.Cut(line, "=")
		var kept []string
		for old := range strings.Lines(global) {
			if !strings.HasPrefix(old, strings.TrimSpace(key)+" =") {
				kept = append(kept, old)
			}
		}
		if strings.TrimSpace(value) != "" {
			kept = append(kept, strings.TrimSpace(line)+"\n")
		}
		global = strings.Join(kept, "")
	}
	w.must(os.WriteFile(w.cloudConfig(), []byte(global), 0o600))
}

func (w *world) cloudConfig() string { return filepath.Join(w.Sim.Dir, "cloud.conf") }

// official starts the official controller with its stock loop.
func (w *world) official() *harness.Process {
	w.t.Helper()
	p, err := w.Manager("official", w.programs.official,
		"--configure-cloud-routes=false", "--kube-api-qps=100", "--kube-api-burst=200", "--concurrent-service-syncs=20", "-v=2")
	w.must(err)
	return p
}

// berth starts our controller.
func (w *world) berth(flags ...string) *harness.Process {
	w.t.Helper()
	p, err := w.Controller("berth", flags...)
	w.must(err)
	return p
}

func (w *world) stop(p *harness.Process) {
	w.t.Helper()
	w.must(p.Stop(limit))
}

// eventually waits for the answer nil.
func (w *world) eventually(what string, ask func(context.Context) error) {
	w.t.Helper()
	if err := harness.Eventually(w.t.Context(), limit, ask); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// addressed answers nil when every Service has an address, which the official
// controller writes when all else is done.
func (w *world) addressed(services ...corev1.Service) func(context.Context) error {
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
func (w *world) statuses(services []corev1.Service) map[string]corev1.LoadBalancerStatus {
	w.t.Helper()
	out := map[string]corev1.LoadBalancerStatus{}
	for _, s := range services {
		svc, err := w.Get(w.t.Context(), s.Namespace, s.Name)
		w.must(err)
		out[s.Name] = svc.Status.LoadBalancer
	}
	return out
}

// state is everything in the cloud, as text that can be compared.
func (w *world) state() string {
	w.t.Helper()
	body, err := w.Sim.State(w.t.Context())
	w.must(err)
	return string(body)
}

// mark is the number of the last cloud call.
func (w *world) mark() int {
	w.t.Helper()
	entries, err := w.Sim.Journal(w.t.Context(), 0)
	w.must(err)
	if len(entries) == 0 {
		return 0
	}
	return entries[len(entries)-1].Seq
}

// settle waits until the cloud is left in peace and returns the calls since the mark.
func (w *world) settle(mark int) []sim.Entry {
	w.t.Helper()
	ctx := w.t.Context()
	meter, err := w.Sim.Meter(ctx)
	w.must(err)
	_, err = meter.Settle(ctx, quiet, limit)
	w.must(err)
	entries, err := w.Sim.Journal(ctx, mark)
	w.must(err)
	return entries
}

// tellLogs shows the ends of the logs, for a test that failed.
func (w *world) tellLogs() {
	logs, err := filepath.Glob(filepath.Join(w.Dir, "*.log"))
	if err != nil {
		w.t.Log(err)
		return
	}
	const shown = 25
	for _, path := range logs {
		body, err := os.ReadFile(path)
		if err != nil {
			w.t.Log(err)
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(body)), "\n")
		w.t.Logf("end of %s:\n%s", filepath.Base(path), strings.Join(lines[max(0, len(lines)-shown):], "\n"))
	}
}

// command runs the command line of Berth against the world and returns what it
// printed and its exit code.
func (w *world) command(args ...string) (out string, code int) {
	w.t.Helper()
	args = append(args, "--provider=gce", "--cloud-config="+w.cloudConfig(), "--kubeconfig="+w.Cluster.Kubeconfig(""))
	cmd := exec.CommandContext(w.t.Context(), w.programs.Berth, args...)
	cmd.Env = append(os.Environ(), w.Credentials()...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	body, err := cmd.Output()
	if _, ended := err.(interface{ ExitCode() int }); err != nil && !ended {
		w.t.Fatal(err)
	}
	if errs.Len() > 0 {
		w.t.Logf("berth %s: %s", args[0], errs.String())
	}
	return string(body), cmd.ProcessState.ExitCode()
}
