package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// limitedPhases lists the phases that are measured under the documented rates, in
// order. Each kind of load balancer has the phases that apply to it.
func limitedPhases() []string {
	return []string{"create", "addnode", "delnode", "restart", rolled, one, "plan", "drift"}
}

// measured is one phase of one pass.
type measured struct {
	took    time.Duration // from the cause to the last call
	calls   []sim.Entry
	members int           // how often the cloud names the added or deleted node
	job     time.Duration // of each change in the cloud; 0: none is waited for
	tally   tally
	ended   bool
}

func (m measured) refused() (n int) {
	for _, e := range m.calls {
		if e.Throttled {
			n++
		}
	}
	return n
}

// pass is the life of a number of Services in a world of its own, once as fast as
// the machine can and once at the documented rates.
type pass struct {
	world    *harness.World
	subject  subject
	all      []corev1.Service
	wanted   []string
	observer *observer
	page     harness.Page
	// free is what the pass without rates has measured; nil while that one runs.
	free       map[string]measured
	rates      []sim.Bucket
	controller *harness.Process
	// silence is how long nothing must happen until a phase is over: as long in both passes,
	// for what the process remembers for some seconds is known in both or in none.
	silence time.Duration
	seen    int // number of the last call that was looked at
	done    map[string]measured
	change  chan change // the user's change beside a restart
	spare   []string    // addresses of pods that no Service has had
}

// underRates measures one kind with one number of Services.
func underRates(ctx context.Context, c *cluster.Cluster, s subject, n int, wanted []string) ([]limitRow, error) {
	quick := s
	quick.delay = nil
	free, rates, err := runPass(ctx, c, quick, n, s.quiet(), wanted, nil)
	if err != nil {
		return nil, fmt.Errorf("without rates: %w", err)
	}
	limited, _, err := runPass(ctx, c, s, n, s.quiet(), wanted, free)
	var rows []limitRow
	for _, phase := range limitedPhases() {
		if m, ok := limited[phase]; ok && slices.Contains(wanted, phase) {
			row := newLimitRow(s, n, phase, m, free[phase], idealTime(rates, free[phase]))
			row.ShareSeconds = idealTime(atShare(rates, phase), free[phase]).Seconds()
			rows = append(rows, row)
		}
	}
	if m, ok := limited[beside]; ok {
		rows = append(rows, newLimitRow(s, n, beside, m, free[beside], free[beside].took))
	}
	return rows, err
}

// atShare returns the rates of which the controller leaves the rest to other programs of the
// account, bursts as well. In a phase that no user has caused, it also excludes the part of a
// burst that is reserved for a user's change. A phase that is little longer than a burst
// shows more of the remainder than a long one.
func atShare(rates []sim.Bucket, phase string) []sim.Bucket {
	out := slices.Clone(rates)
	for i := range out {
		out[i].Refill *= kit.DefaultShare
		out[i].Capacity = max(1, math.Floor(out[i].Capacity*kit.DefaultShare))
		if !slices.Contains(ofUsers(), phase) {
			out[i].Capacity -= float64(kit.Reserved(int(out[i].Capacity)))
		}
	}
	return out
}

// ofUsers lists the phases that start with the change of a user, or with a user waiting for a
// plan.
func ofUsers() []string { return []string{"create", one, beside, "plan"} }

func runPass(ctx context.Context, c *cluster.Cluster, s subject, n int, silence time.Duration, wanted []string, free map[string]measured) (_ map[string]measured, _ []sim.Bucket, err error) {
	world, err := harness.Start(ctx, harness.Options{Cloud: s.cloud, Nodes: s.machines(), Progress: os.Stderr, SimArgs: slices.Concat(s.simArgs, s.delay.args()), Cluster: c})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	if err := world.Sim.Configure(func(conf string) string { return conf + s.config }); err != nil {
		return nil, nil, err
	}
	watching, stop := context.WithCancel(ctx)
	seer, wait, err := startObserver(watching, world.Client)
	if err != nil {
		stop()
		return nil, nil, err
	}
	defer wait()
	defer stop()
	p := &pass{world: world, subject: s, all: s.services(fmt.Sprintf("limits-%d", n), n), silence: silence, wanted: wanted, observer: seer, free: free, done: map[string]measured{}, change: make(chan change, 1)}
	if p.rates, err = world.Sim.Rates(ctx); err != nil {
		return nil, nil, err
	}
	err = p.life(ctx)
	return p.done, p.rates, errors.Join(err, p.clear(ctx))
}

// clear leaves the cluster without Services, whatever became of the pass.
func (p *pass) clear(ctx context.Context) error {
	if err := p.world.Sim.Throttle(ctx); err != nil {
		return err
	}
	if p.controller != nil && p.controller.Running() {
		if err := p.controller.Thaw(); err != nil { // an error may have left it frozen
			return err
		}
		if err := p.controller.Stop(limit); err != nil {
			return err
		}
	}
	if err := p.start(ctx, nil); err != nil { // nothing holds this one back
		return err
	}
	return errors.Join(p.remove(ctx), p.removePods(ctx), p.controller.Stop(limit))
}

func (p *pass) remove(ctx context.Context) error {
	there, err := p.world.Existing(ctx, p.all...)
	if err != nil {
		return err
	}
	if err := p.world.Delete(ctx, there...); err != nil {
		return err
	}
	return harness.Eventually(ctx, limit, p.world.Gone(p.all...))
}

// start starts the controller with further flags, for phases of which some may be
// measured at the documented rates.
func (p *pass) start(ctx context.Context, phases []string, flags ...string) (err error) {
	if p.page, err = harness.NewPage(ctx); err != nil {
		return err
	}
	flags = append(append(p.subject.flags(), p.page.Flags(p.world)...), flags...)
	if slices.ContainsFunc(phases, p.limited) { // as users run it; else nothing is held back
		flags = append(flags, fmt.Sprintf("--api-share=%v", kit.DefaultShare))
	}
	p.controller, err = p.world.Controller("limits", flags...)
	return err
}

func (p *pass) life(ctx context.Context) error {
	nodes, err := p.world.SeedNodes()
	if err != nil {
		return err
	}
	comes, goes := nodes[len(nodes)-1], nodes[len(nodes)-2]
	old := newMember(p, goes)
	var steps []step
	if p.subject.pods > 0 {
		steps, err = p.podSteps()
	} else {
		steps, err = p.nodeSteps(ctx, comes, old)
	}
	if err != nil {
		return err
	}
	if err := p.start(ctx, []string{"create", "addnode", "delnode", rolled}); err != nil {
		return err
	}
	if err := old.remember(ctx); err != nil {
		return err
	}
	last := 0
	for i, s := range steps {
		if slices.Contains(p.wanted, s.name) {
			last = i
		}
	}
	if slices.ContainsFunc(p.wanted, func(phase string) bool { return phase == "plan" || phase == "drift" }) {
		last = len(steps) - 1
	}
	for _, s := range steps[:last+1] {
		if err := p.phase(ctx, s); err != nil {
			return fmt.Errorf("%s of %d: %w", s.name, len(p.all), err)
		}
	}
	return p.after(ctx, old)
}

// nodeSteps returns the phases of a kind that sends to nodes: one is added and deleted, and
// another one is deleted while the controller is not running.
func (p *pass) nodeSteps(ctx context.Context, comes corev1.Node, old *member) ([]step, error) {
	if err := p.world.LeaveNode(ctx, comes.Name); err != nil {
		return nil, err
	}
	news := newMember(p, comes)
	if err := news.remember(ctx); err != nil {
		return nil, err
	}
	return []step{
		{"create", nil, func(ctx context.Context) error { return p.world.Create(ctx, p.all...) }, p.world.Programmed(p.all...), old},
		{"addnode", nil, func(ctx context.Context) error { return p.world.JoinNode(ctx, &comes) }, news.in, news},
		{"delnode", nil, func(ctx context.Context) error { return p.world.LeaveNode(ctx, comes.Name) }, news.out, news},
		{"restart", func(ctx context.Context) error { return p.halt(ctx, old.node) }, p.resume, old.out, old},
	}, nil
}

// after measures the phases that follow a restart.
func (p *pass) after(ctx context.Context, old *member) error {
	for _, s := range []struct {
		phase, what string
		measure     func(context.Context) error
	}{
		{beside, "a change beside the restart", func(ctx context.Context) error { return p.beside(ctx, old) }},
		{"plan", "plan", p.plan},
		{"drift", "drift", p.drift},
	} {
		if !slices.Contains(p.wanted, s.phase) {
			continue
		}
		if err := s.measure(ctx); err != nil {
			return fmt.Errorf("%s of %d: %w", s.what, len(p.all), err)
		}
	}
	return nil
}

// halt stops the controller and takes a node away meanwhile.
func (p *pass) halt(ctx context.Context, gone string) error {
	if err := p.controller.Stop(limit); err != nil {
		return err
	}
	return p.world.LeaveNode(ctx, gone)
}

// resume starts it again.
func (p *pass) resume(ctx context.Context) error {
	if err := p.start(ctx, []string{"restart"}); err != nil {
		return err
	}
	if p.limited(beside) {
		go p.amid(ctx)
	}
	return nil
}

// member is a node as the cloud shows it.
type member struct {
	pass       *pass
	node, mark string
	// before is how often the cloud named it before there was any Service.
	before int
}

func newMember(p *pass, n corev1.Node) *member {
	return &member{pass: p, node: n.Name, mark: p.subject.mark(n)}
}

// count is how often the cloud names the node; 0 where a phase is about none.
func (m *member) count(ctx context.Context) (int, error) {
	if m == nil {
		return 0, nil
	}
	state, err := m.pass.world.Sim.State(ctx)
	return strings.Count(strings.ToLower(string(state)), strings.ToLower(m.mark)), err
}

func (m *member) remember(ctx context.Context) (err error) {
	m.before, err = m.count(ctx)
	return err
}

// in answers nil when the node is somewhere that it was not before.
func (m *member) in(ctx context.Context) error {
	now, err := m.count(ctx)
	if err == nil && now <= m.before {
		err = fmt.Errorf("%s is no member", m.mark)
	}
	return err
}

// out answers nil when the node is nowhere that it was not before.
func (m *member) out(ctx context.Context) error {
	now, err := m.count(ctx)
	if err == nil && now != m.before {
		err = fmt.Errorf("%s is named %d times, %d times without Services", m.mark, now, m.before)
	}
	return err
}
