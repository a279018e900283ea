package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/plugin"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// syncFailed waits until the stock loop has told what is wrong with a Service, and
// the condition says the same.
func (w *world) syncFailed(name string, reason status.Reason, words ...string) {
	w.t.Helper()
	accepted := w.condition(name, status.TypeAccepted, metav1.ConditionFalse, reason)
	if err := requireWords(accepted.Message, words...); err != nil {
		w.t.Errorf("%s: condition: %v", name, err)
	}
	w.eventually(name+": the event of the stock loop", func() error {
		return requireWords(strings.Join(w.warnings(name), "\n"), append([]string{"SyncLoadBalancerFailed"}, words...)...)
	})
}

// TestPluginWarnings: an unknown annotation is reported once, by an event of ours, and blocks
// nothing.
func TestPluginWarnings(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.plugin()
	svc := w.create("web", setAnnotation("idle-timeuot", "60"))
	told := func() error {
		var ours []string
		for _, e := range w.warnings("web") {
			if strings.Contains(e, string(status.EventUnknownAnnotation)) && strings.Contains(e, "idle-timeuot") {
				ours = append(ours, e)
			}
		}
		if len(ours) != 1 {
			return fmt.Errorf("want one warning, got %q", ours)
		}
		return nil
	}
	w.eventually("the warning", told)
	w.update("web", setAnnotation("example.com/touched", "yes"))
	w.eventually("another sync", func() error { return atLeast(2, countOf(w.events("web"), "EnsuredLoadBalancer")) })
	w.must(told())
	w.remove(svc)
	w.asBefore(before)
}

// TestPluginElsewhere: a Service for another controller is left alone, and one that
// moves there is let go.
func TestPluginElsewhere(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.plugin()
	moves := w.create("moves")
	meter := w.meter()
	theirs, classed := w.service("theirs", setAnnotation("type", "external")), w.service("classed", setClass(mine))
	w.must(w.Create(t.Context(), theirs, classed))
	w.eventually("it is told", func() error {
		return requireWords(strings.Join(w.events("theirs"), "\n"), string(status.EventServedElsewhere), `"external"`)
	})
	w.noWrites("Services of others", meter)
	if warned := w.warnings("theirs"); len(warned) > 0 {
		t.Errorf("warnings on a Service of others: %q", warned)
	}
	w.untouched("classed")
	w.update("moves", setAnnotation("type", "external"))
	w.eventually("it is let go", func() error {
		svc := w.get("moves")
		left, err := w.named("moves")
		return errors.Join(err, diffError("load balancers", 0, len(left)), diffError("conditions", 0, len(svc.Status.Conditions)))
	})
	w.remove(moves, theirs, classed)
	w.asBefore(before)
}

// quietly fails if the stock loop of a program has backed off.
func (w *world) quietly(program *harness.Process) {
	w.t.Helper()
	if err := forbidWords(program.Output(), "retrying with exponential backoff"); err != nil {
		w.t.Error("the stock loop backs off for what only takes time")
	}
}

// TestPluginPolicy: the policy file holds under the stock loop as well, is read
// again, and a bad one keeps the program from starting.
func TestPluginPolicy(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	path := w.write("rules: [{name: broken")
	t.Setenv(plugin.EnvPolicyConfig, path)
	program, err := example()
	w.must(err)
	broken := w.plugin()
	w.eventually(program+" ends", func() error {
		if broken.Running() {
			return errors.New("it runs")
		}
		return requireWords(broken.Output(), plugin.EnvPolicyConfig, "policy")
	})
	w.write(internalOnly)
	w.plugin()
	meter := w.meter()
	svc := w.service("open")
	w.must(w.Create(t.Context(), svc))
	w.syncFailed("open", status.ReasonPolicyRefused, "aws-load-balancer-internal", `"inside"`)
	w.noWrites("a refused Service", meter)
	w.write(noGroups)
	w.update("open", setAnnotation("example.com/touched", "yes"))
	w.programmed(svc)
	w.remove(svc)
	w.asBefore(before)
}

// takesOver lets our own program and the one of the example hand Services to each
// other: they have the same names for everything, so nothing is written.
func (w *world) takesOver(services []corev1.Service) {
	w.t.Helper()
	t := w.t
	own := func() *harness.Process {
		p, err := w.Controller("controller")
		w.must(err)
		return p
	}
	before := w.dump()
	first := own()
	w.must(w.Create(t.Context(), services...))
	w.programmed(services...)
	w.settled(w.meter())
	first.Kill()
	made := w.dump()

	told := w.ensured(services)
	meter := w.meter()
	second := w.plugin()
	w.eventually("the stock loop looks at all", func() error {
		for i, n := range w.ensured(services) {
			if n <= told[i] {
				return fmt.Errorf("%s was not looked at", services[i].Name)
			}
		}
		return nil
	})
	w.noWrites("the plugin takes over", meter)
	second.Kill()

	meter = w.meter()
	third := own()
	w.eventually("our loop reads", func() error {
		calls, err := meter.Read(t.Context())
		return errors.Join(err, atLeast(1, calls.All))
	})
	w.noWrites("our loop takes over", meter)
	w.must(diffError("the cloud changed", made, w.dump()))
	w.programmed(services...)
	third.Kill()

	w.plugin()
	w.remove(services...)
	w.eventually("nothing is left", func() error { return diffError("cloud", before, w.dump()) })
}

// ensured counts how often each Service was reported as done.
func (w *world) ensured(services []corev1.Service) []int {
	w.t.Helper()
	var out []int
	for _, svc := range services {
		out = append(out, countOf(w.events(svc.Name), "EnsuredLoadBalancer"))
	}
	return out
}

func (p *place) pluginTakesOver(t *testing.T) {
	w := p.start(t, 3)
	w.takesOver(w.many(2 * len(p.kinds)))
}

// pluginThrottled refuses every write for a while.
func (p *place) pluginThrottled(t *testing.T) {
	w := p.start(t, 2)
	before := w.dump()
	program := w.controller()
	fleet := w.many(len(p.kinds))
	f := p.answers.throttled
	f.Kind, f.WritesOnly = sim.FaultError, true
	w.arm(f)
	w.must(w.Create(t.Context(), fleet...))
	w.refusedWrites(2)
	w.disarm()
	w.programmed(fleet...)
	w.quietly(program)
	w.oncePerService(before, fleet)
	w.remove(fleet...)
	w.nothingLeft(before)
}

// mistakeOn is the first mistake on a kind.
func (p *place) mistakeOn(k kind) mistake {
	return p.mistakes[slices.IndexFunc(p.mistakes, func(m mistake) bool { return m.kind == k.name })]
}

// reason is that of the condition.
func (m mistake) reason() status.Reason {
	if m.field {
		return status.ReasonUnsupportedSpec
	}
	return status.ReasonInvalidAnnotation
}

// pluginMistakes makes each mistake on a new Service, and one on a live one of every
// kind, which stays and follows the nodes.
func (p *place) pluginMistakes(t *testing.T) {
	w := p.start(t, 3)
	before, nodes := w.dump(), w.seed(2)
	w.controller()
	live := w.many(len(p.kinds))
	w.must(w.Create(t.Context(), live...))
	w.programmed(live...)
	w.settled(w.meter())
	first, meter := w.byName(live), w.meter()
	var fresh []corev1.Service
	for i, m := range p.mistakes {
		svc := w.one(p.kindOf(m), len(live)+i, m.bad...)
		svc.Name = m.name
		fresh = append(fresh, svc)
	}
	w.must(w.Create(t.Context(), fresh...))
	for _, k := range p.kinds {
		w.update(k.name, p.mistakeOn(k).bad...)
	}
	for _, m := range p.mistakes {
		w.syncFailed(m.name, m.reason(), m.words...)
	}
	for _, k := range p.kinds {
		m := p.mistakeOn(k)
		w.syncFailed(k.name, m.reason(), m.words...)
	}
	w.noWrites("mistakes", meter)
	w.must(diffError("live load balancers", first, w.byName(live)))
	w.must(w.JoinNode(t.Context(), &nodes[2]))
	w.shows("a node joins", frontMembers, func(int, kind) any { return nodeNames(nodes) })
	for _, k := range p.kinds {
		w.update(k.name, p.mistakeOn(k).fix...)
	}
	for _, m := range p.mistakes {
		w.update(m.name, m.fix...)
	}
	w.programmed(append(fresh, live...)...)
	w.remove(append(live, fresh...)...)
	w.nothingLeft(before)
}

// TestPluginFollowsPods: where only nodes with pods are members, a pod that moves is
// followed although the stock loop does not look at pods.
func TestPluginFollowsPods(t *testing.T) {
	w := underTheStockLoop(onGCE()).start(t, 2)
	before, nodes := w.dump(), w.seed(2)
	w.controller()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: w.ns, Name: "web", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new("tcp-80"), Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}},
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.244.0.7"}, NodeName: &nodes[0].Name}},
	}
	endpointSlices := w.Client.DiscoveryV1().EndpointSlices(w.ns)
	slice, err := endpointSlices.Create(t.Context(), slice, metav1.CreateOptions{})
	w.must(err)
	// The finalizer is that of the official controller for endpoint groups.
	svc := w.create("web", setPorts(80, 1140), policyLocal, setAnnotation("networking.gke.io/load-balancer-type", "Internal"),
		func(svc *corev1.Service) { svc.Finalizers = []string{"gke.networking.io/l4-ilb-v2"} })
	for _, node := range nodes {
		slice.Endpoints[0].NodeName = &node.Name
		slice, err = endpointSlices.Update(t.Context(), slice, metav1.UpdateOptions{})
		w.must(err)
		w.eventually("the pod runs on "+node.Name, func() error {
			f, err := w.front("web")
			return errors.Join(err, diffError("members", []string{node.Name}, f.Members))
		})
	}
	w.remove(svc)
	w.must(endpointSlices.Delete(t.Context(), "web", metav1.DeleteOptions{}))
	w.nothingLeft(before)
}
