package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/sessions"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/azure/simtest"
)

// rig is a session on a simulator of its own.
type rig struct {
	sessions.Rig[model.Config, *model.Facts, *Session]
	sim  *simtest.Running
	edit [2]string // what is replaced in the configuration, by what
}

func newRig(t testing.TB, opt simazure.Options) *rig {
	t.Helper()
	opt.Seed.Nodes = max(opt.Seed.Nodes, 4)
	running := simtest.Start(t, opt)
	r := &rig{Rig: sessions.New[model.Config, *model.Facts, *Session](t, model.Cloud(), running.Cloud.Seed.KubernetesNodes()), sim: running}
	r.open()
	return r
}

// open starts a process.
func (r *rig) open() {
	r.Helper()
	conf, err := r.sim.Cloud.Seed.CloudConf(r.sim.PlainURL)
	if err != nil {
		r.Fatal(err)
	}
	text := string(bytes.Replace(conf, []byte("{"), []byte(`{"useManagedIdentityExtension": true,`), 1))
	r.openAs("kubernetes", readConfig(r.TB, strings.Replace(text, r.edit[0], r.edit[1], 1)))
}

// openAs starts a process of a cluster.
func (r *rig) openAs(cluster string, config model.Config) {
	r.Helper()
	session, err := openSession(r.Context(), config, providers.Env{Cluster: cluster, UserAgent: "berth-test", Now: func() time.Time { return r.Now }})
	if err != nil {
		r.Fatalf("open: %v", err)
	}
	session.limits = kit.NewLimits(kit.LimitOptions{Now: time.Now}) // only refusals limit: the clock of the tests stands still
	r.Use(session, config)
}

// numberedService returns the n-th Service of a test.
func numberedService(n int, kind string, change func(*corev1.Service)) *corev1.Service {
	return sessions.Numbered(n, func(svc *corev1.Service) {
		svc.Spec.Ports[0].NodePort, svc.Spec.Ports[1].NodePort = int32(30000+n), int32(31000+n)
		if kind == model.Internal {
			svc.Annotations["service.beta.kubernetes.io/azure-load-balancer-internal"] = "true"
		}
		if change != nil {
			change(svc)
		}
	})
}

// readConfig reads a configuration that is right.
func readConfig(t testing.TB, text string) model.Config {
	return cases.Config(t, model.Cloud().Config, text)
}

var errWaits = errors.New("not done yet")

// run computes and applies plans until no step remains, as the controller does, and
// returns the observed state.
func (r *rig) run(svc *corev1.Service, release bool) (*stack.Stack, error) {
	r.Helper()
	var have *stack.Stack
	var plans []string
	for range 5 {
		found := r.Read(release, svc)[0]
		p := r.Draft(svc, release, found.Have, found.Facts)
		if !p.Writes() && len(p.Blocked) == 0 {
			return have, nil // what is only forgotten stays for others
		}
		plans = append(plans, cases.PlanText("azure", p))
		report := r.Engine.Run(r.Context(), p, found.Have, nil)
		have = report.Have
		if err := report.Err(); err != nil {
			return have, err
		}
		if !report.Clean() {
			return have, fmt.Errorf("%w: %+v", errWaits, report.Results)
		}
	}
	return have, fmt.Errorf("five plans were not enough:\n%s", strings.Join(plans, "\n"))
}

func (r *rig) writes(operation string) int { return r.sim.Cloud.Journal.Counts()[operation] }

func useLocalPolicy(svc *corev1.Service) { sessions.Local(svc) }

// slow has every answer take a while, so that what is under way meanwhile is the same
// on every machine.
func (r *rig) slow() {
	r.Helper()
	if _, err := r.sim.Cloud.Faults.Add(sim.Fault{Kind: sim.FaultLatency, Latency: 20 * time.Millisecond}); err != nil {
		r.Fatal(err)
	}
}

func hasMeaning(report engine.Report, m fault.Meaning, after time.Duration) bool {
	for _, res := range report.Results {
		if err := res.Outcome.Err; fault.Is(err, m) && fault.After(err) >= after {
			return true
		}
	}
	return false
}
