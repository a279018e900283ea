package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// scenarios are what every cloud has to stand.
func (p *place) scenarios(t *testing.T) {
	t.Run("life", p.life)
	t.Run("kill", p.kill)
	t.Run("restart", p.restart)
	t.Run("throttled", p.throttled)
	t.Run("rates", p.rates)
	t.Run("refused", p.refused)
	t.Run("cut", p.cut)
	t.Run("mistakes", p.mistaken)
	t.Run("finalizers", p.finalizers)
	if p.spoil != nil {
		t.Run("drift", p.drift)
	}
}

// life takes one Service of each kind through what can happen to it.
func (p *place) life(t *testing.T) {
	w := p.start(t, 4)
	before := w.dump()
	nodes := w.seed(3)
	w.controller()
	services := w.many(len(p.kinds))
	w.must(w.Create(t.Context(), services...))
	w.programmed(services...)
	addresses := map[string]string{}
	for _, k := range p.kinds {
		addresses[k.name] = w.addressed(k.name, k.name)
		if f, err := w.front(k.name); err != nil || !slices.Equal(f.Sources, k.open) {
			t.Errorf("%s was called programmed before its clients were let in: %+v, %v", k.name, f, err)
		}
	}
	w.shows("ports", frontPorts, func(_ int, k kind) any { return k.ports(80) })
	w.shows("members", frontMembers, func(int, kind) any { return nodeNames(nodes[:3]) })
	w.shows("check", frontCheck, func(i int, k kind) any { return k.check(nodePort(i, 0)) })
	w.shows("open to whom it may concern", frontSources, func(_ int, k kind) any { return k.open })

	p.portsAndNodes(w, nodes)
	if !p.unfiltered {
		p.clients(w)
	}
	p.policies(w)
	for _, k := range p.kinds {
		if now := w.addressed(k.name, k.name); now != addresses[k.name] {
			t.Errorf("%s: the address was %s and is %s", k.name, addresses[k.name], now)
		}
		if warned := w.warnings(k.name); len(warned) > 0 {
			t.Errorf("%s: a life without mistakes brought warnings: %q", k.name, warned)
		}
	}
	w.must(w.JoinNode(t.Context(), &nodes[0]))
	w.remove(services...)
	w.nothingLeft(before)
}

func (p *place) each(w *world, changes func(i int) []change) {
	w.t.Helper()
	for i, k := range p.kinds {
		w.atRest(k.name)
		w.update(k.name, changes(i)...)
	}
}

func (p *place) portsAndNodes(w *world, nodes []corev1.Node) {
	w.t.Helper()
	p.each(w, func(i int) []change { return []change{setPorts(80, nodePort(i, 0), 443, nodePort(i, 1))} })
	w.shows("two ports", frontPorts, func(_ int, k kind) any { return k.ports(80, 443) })
	p.each(w, func(i int) []change { return []change{setPorts(80, nodePort(i, 0), 444, nodePort(i, 1))} })
	w.shows("another port", frontPorts, func(_ int, k kind) any { return k.ports(80, 444) })
	w.shows("check of two ports", frontCheck, func(i int, k kind) any { return k.check(nodePort(i, 0), nodePort(i, 1)) })
	w.must(w.JoinNode(w.t.Context(), &nodes[3]))
	w.shows("a node joins", frontMembers, func(int, kind) any { return nodeNames(nodes) })
	w.must(w.LeaveNode(w.t.Context(), nodes[0].Name))
	w.shows("a node leaves", frontMembers, func(int, kind) any { return nodeNames(nodes[1:]) })
}

func (p *place) clients(w *world) {
	w.t.Helper()
	ranges := func(to ...string) func(int) []change {
		return func(int) []change {
			return []change{changeSpec(func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = to })}
		}
	}
	p.each(w, ranges("10.1.0.0/16", "192.0.2.0/24"))
	w.shows("source ranges", frontSources, func(int, kind) any { return []string{"10.1.0.0/16", "192.0.2.0/24"} })
	p.each(w, ranges())
	w.shows("open again", frontSources, func(_ int, k kind) any { return k.open })
}

func (p *place) policies(w *world) {
	w.t.Helper()
	p.each(w, func(int) []change { return []change{policyLocal} })
	w.shows("policy Local", frontCheck, func(i int, k kind) any {
		if p.sameCheck {
			return k.check(nodePort(i, 0), nodePort(i, 1))
		}
		return fmt.Sprintf("%d%s", w.get(k.name).Spec.HealthCheckNodePort, cmp.Or(p.local, "/healthz"))
	})
	p.each(w, func(int) []change { return []change{policyCluster} })
	w.shows("policy Cluster", frontCheck, func(i int, k kind) any { return k.check(nodePort(i, 0), nodePort(i, 1)) })
	p.each(w, func(i int) []change { return []change{setPorts(80, nodePort(i, 0))} })
	w.shows("one port", frontPorts, func(_ int, k kind) any { return k.ports(80) })
	w.programmed(w.many(len(p.kinds))...)
}

// kill kills the controller again and again while it makes and removes Services.
func (p *place) kill(t *testing.T) {
	n := cmp.Or(p.crowd, 12)
	w := p.start(t, 3)
	before := w.dump()
	w.arm(sim.Fault{Kind: sim.FaultLatency, WritesOnly: true, Latency: 150 * time.Millisecond})
	fleet := w.many(n)
	w.must(w.Create(t.Context(), fleet...))
	interrupted := 0
	kills := p.kills
	if kills == nil {
		kills = []int{1, 2, 3}
	}
	for _, writes := range kills {
		w.killAfter(w.controller(), w.meter(), writes, w.Programmed(fleet...))
		if w.Programmed(fleet...)(t.Context()) != nil {
			interrupted++
		}
	}
	if interrupted == 0 {
		t.Error("everything was done at once: nothing was interrupted")
	}
	controller := w.controller()
	w.programmed(fleet...)
	w.settled(w.meter())
	w.oncePerService(before, fleet)

	meter := w.meter()
	w.must(w.Delete(t.Context(), fleet...))
	w.killAfter(controller, meter, 1)
	if w.Gone(fleet...)(t.Context()) == nil {
		t.Error("everything was gone at once: nothing was interrupted")
	}
	w.killAfter(w.controller(), w.meter(), 3, w.Gone(fleet...))
	w.controller()
	w.gone(fleet...)
	w.nothingLeft(before)
}

func (w *world) gone(services ...corev1.Service) {
	w.t.Helper()
	if err := harness.Eventually(w.t.Context(), limit, w.Gone(services...)); err != nil {
		w.t.Fatal(err)
	}
}

// restart restarts over Services whose state is as desired: the controller reads in few calls
// and writes nothing. Two Services change while no controller runs.
func (p *place) restart(t *testing.T) {
	w := p.start(t, 3)
	before := w.dump()
	first := w.controller()
	fleet := w.many(len(p.kinds) * 3)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.settled(w.meter())
	first.Kill()
	versions, told := w.versions(fleet), w.allEvents(fleet)
	meter := w.meter()
	second := w.controller()
	w.eventually("the restarted controller reads", func() error {
		calls, err := meter.Read(t.Context())
		if err == nil && calls.All == 0 {
			err = errors.New("no call yet")
		}
		return err
	})
	w.noWrites("restart", meter)
	if err := errors.Join(diffError("Services were written", versions, w.versions(fleet)), diffError("events", told, w.allEvents(fleet))); err != nil {
		t.Error(err)
	}
	w.oncePerService(before, fleet)

	w.must(second.Stop(limit))
	changed, gone := fleet[0], fleet[len(fleet)-1]
	w.update(changed.Name, setPorts(80, nodePort(0, 0), 8080, nodePort(0, 1)))
	w.must(w.Delete(t.Context(), gone))
	w.controller()
	w.gone(gone)
	w.eventually("what changed while the controller was down", func() error {
		f, err := w.front(changed.Name)
		return errors.Join(err, diffError("ports", p.kinds[0].ports(80, 8080), f.Ports))
	})
	w.remove(fleet[:len(fleet)-1]...)
	w.nothingLeft(before)
}

// throttled refuses every write for a while.
func (p *place) throttled(t *testing.T) {
	w := p.start(t, 2)
	before := w.dump()
	w.controller()
	fleet := w.many(len(p.kinds) * 2)
	f := p.answers.throttled
	f.Kind, f.WritesOnly = sim.FaultError, true
	w.arm(f)
	w.must(w.Create(t.Context(), fleet...))
	w.refusedWrites(2)
	w.disarm()
	w.programmed(fleet...)
	w.oncePerService(before, fleet)
	for _, svc := range fleet {
		if warned := w.warnings(svc.Name); len(warned) > 0 {
			t.Errorf("%s: a call that waits for its rate was told: %q", svc.Name, warned)
		}
	}
}

// refused makes the cloud refuse a right and a quota, and then everything. Each refusal is
// reported once, live load balancers stay, and ending the refusal is sufficient.
func (p *place) refused(t *testing.T) {
	w := p.start(t, 2)
	before := w.dump()
	w.controller()
	first := w.many(len(p.kinds))
	w.must(w.Create(t.Context(), first...))
	w.programmed(first...)
	more := w.many(4 * len(first))[len(first):]
	for n, c := range []struct {
		what   string
		fault  sim.Fault
		reason status.Reason
		kinds  int
	}{
		{"denied", p.answers.denied, status.ReasonDenied, len(p.kinds)},
		{"quota", p.answers.quota, status.ReasonQuotaExceeded, 1}, // others have other ones
		{"down", p.answers.down, status.ReasonCloudUnavailable, len(p.kinds)},
	} {
		fresh := more[n*len(p.kinds):][:c.kinds]
		c.fault.Kind = sim.FaultError
		w.arm(c.fault)
		w.must(w.Create(t.Context(), fresh...))
		for _, svc := range fresh {
			got := w.condition(svc.Name, status.TypeProgrammed, metav1.ConditionFalse, c.reason)
			if err := requireWords(got.Message, c.fault.Message); err != nil {
				t.Errorf("%s: %s: %v", c.what, svc.Name, err)
			}
			w.toldOnce(svc.Name, c.fault.Message)
		}
		for _, live := range first {
			if len(w.get(live.Name).Status.LoadBalancer.Ingress) == 0 {
				t.Errorf("%s: %s has lost its address", c.what, live.Name)
			}
		}
		w.disarm()
		w.programmed(fresh...)
		for _, svc := range fresh {
			w.toldOnce(svc.Name)
		}
		w.remove(fresh...)
	}
	w.oncePerService(before, first)
	w.remove(first...)
	w.nothingLeft(before)
}

// cut loses the answers to calls that took effect.
func (p *place) cut(t *testing.T) {
	w := p.start(t, 2)
	before := w.dump()
	for _, operation := range p.cuts {
		w.arm(sim.Fault{Kind: sim.FaultCutAfter, Operation: operation, Count: 2})
	}
	w.controller()
	fleet := w.many(len(p.kinds) * 2)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.settled(w.meter())
	w.oncePerService(before, fleet)
	cut := map[string]bool{}
	for _, e := range w.written(0) {
		if len(e.Faults) > 0 {
			cut[e.Operation] = true
		}
	}
	for _, operation := range p.cuts {
		if !cut[operation] {
			t.Errorf("no answer to %s was cut: the test tests nothing", operation)
		}
	}
	w.remove(fleet...)
	w.nothingLeft(before)
}
