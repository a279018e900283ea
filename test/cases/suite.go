package cases

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Suite are the tests of the cases of a cloud whose surroundings are a World. What may be
// nil, or empty, is what the cloud does not have.
type Suite[C, F any] struct {
	Cloud *providers.Cloud[C, F]
	Least int // how many cases there are, at least
	// Specs has an example of each kind that a case adds to what was found.
	Specs map[stack.Kind]stack.Spec
	// Slot is that of a resource that a case adds; nil: the case has it.
	Slot func(stack.Spec) string
	// Complete fills in what the API server does.
	Complete func(*corev1.Service)
	// Config changes the configuration of a case after it is read.
	Config func(c *C, w World[F])
	// Appended lists fields whose text is appended to the one of the world's "config".
	Appended []string
	// OnPods says that pods of the world are endpoints of each Service.
	OnPods bool
	// Found turns a desired stack into the stack that a read returns once it exists.
	Found func(want, have *stack.Stack) *stack.Stack
	// Rest and Follows are those of the Fuzzer.
	Rest    func(plan.Plan) bool
	Follows func(want *stack.Stack) bool
	// Loose is a kind that depends on the order of ports.
	Loose stack.Kind
	// Field renders a field of a resource.
	Field func(any) string
	// Carried is what the Service carries once all is done.
	Carried func(in providers.Input[C], have *stack.Stack) string
}

// All returns the cases.
func (s Suite[C, F]) All(t testing.TB) []Placed[C, F] {
	t.Helper()
	var out []Placed[C, F]
	for _, one := range All(t, s.Least) {
		out = append(out, s.place(t, one))
	}
	return out
}

// Live returns the cases of Services that are not released.
func (s Suite[C, F]) Live(t testing.TB) []Placed[C, F] {
	t.Helper()
	return slices.DeleteFunc(s.All(t), func(c Placed[C, F]) bool { return c.World.Deleted })
}

// Open returns the case of a file of testdata.
func (s Suite[C, F]) Open(t testing.TB, name string) Placed[C, F] {
	t.Helper()
	return s.place(t, Open(t, "testdata/"+name))
}

func (s Suite[C, F]) place(t testing.TB, one Case) Placed[C, F] {
	t.Helper()
	c := Placed[C, F]{Case: one, Service: one.Service(t), suite: s}
	complete := s.Complete
	if complete == nil {
		complete = func(*corev1.Service) {}
	}
	complete(c.Service)
	one.World(t, &c.World, s.Appended...)
	if before := c.World.Before; before != nil {
		before.Namespace, before.Name, before.UID = c.Service.Namespace, c.Service.Name, c.Service.UID
		complete(before)
	}
	c.Config = s.Parse(t, c.World.Config)
	if s.Config != nil {
		s.Config(&c.Config, c.World)
	}
	return c
}

// Bare returns the surroundings of a case that replaces nothing, without a Service.
func (s Suite[C, F]) Bare(t testing.TB) Placed[C, F] {
	t.Helper()
	c := Placed[C, F]{suite: s}
	ReadWorld(t, &c.World)
	c.Config = s.Parse(t, c.World.Config)
	return c
}

// Parse reads a cloud configuration that must be right.
func (s Suite[C, F]) Parse(t testing.TB, text string) C {
	t.Helper()
	return Config(t, s.Cloud.Config, text)
}

// Plan is what is to do.
func (s Suite[C, F]) Plan(want, have *stack.Stack) plan.Plan {
	if s.Cloud.MatchFound != nil {
		have = s.Cloud.MatchFound(want, have)
	}
	return diff.Compare(want, have, s.Cloud.Rules, ReadyLedger())
}

// Cases tests the desired stack, the messages, the plan, and the final annotations and status
// of each Service.
func (s Suite[C, F]) Cases(t *testing.T) {
	for _, c := range s.All(t) {
		t.Run(c.Name, func(t *testing.T) {
			r := c.Run(t)
			out := Told(r.Problems)
			if r.Want == nil {
				c.Check(t, "stack.golden", out+"nothing is built; existing resources stay\n")
				return
			}
			c.Check(t, "stack.golden", out+Text(r.Want, s.Field))
			p := s.Plan(r.Want, r.Have)
			c.Check(t, "plan.golden", PlanText(s.Cloud.Name, p))
			if s.Carried != nil && !c.World.Deleted {
				c.Check(t, "status.golden", s.Carried(r.In, s.Found(r.Want, r.Have)))
			}
			if c.World.TakeOver && !p.Empty() {
				t.Errorf("what the official controller left needs a plan:\n%s", PlanText(s.Cloud.Name, p))
			}
		})
	}
}

// Each runs a test for each case that is built, with its result.
func (s Suite[C, F]) Each(t *testing.T, test func(t *testing.T, c Placed[C, F], r Result[C])) {
	t.Helper()
	for _, c := range s.Live(t) {
		if r := c.Run(t); r.Want != nil {
			t.Run(c.Name, func(t *testing.T) { test(t, c, r) })
		}
	}
}

// Idempotent tests that once everything exists, building returns the same stack and nothing
// is left to do, except for the steps that Rest allows. It passes the final desired stack to
// a function, if there is one.
func (s Suite[C, F]) Idempotent(t *testing.T, at func(t *testing.T, want *stack.Stack)) {
	s.Each(t, func(t *testing.T, c Placed[C, F], r Result[C]) {
		want, have := r.Want, s.Found(r.Want, r.Have)
		if s.Follows != nil && s.Follows(want) { // another plan follows, and ends it
			want = c.Build(t, have)
			have = s.Found(want, have)
		}
		for range 2 {
			again := c.Build(t, have)
			p := s.Plan(again, have)
			if d := cmp.Diff(want.Resources, again.Resources, ignoreHints()); d != "" && s.Rest == nil {
				t.Errorf("build on its own result differs (-first +again):\n%s", d)
			}
			if !p.Empty() && (s.Rest == nil || !s.Rest(p)) {
				t.Fatalf("plan is not empty:\n%s", PlanText(s.Cloud.Name, p))
			}
			want, have = again, s.Found(again, have)
		}
		if at != nil {
			at(t, want)
		}
	})
}

// Order is the test that the order of nodes, ports and pods means nothing.
func (s Suite[C, F]) Order(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s.Each(t, func(t *testing.T, c Placed[C, F], r Result[C]) {
		for range 3 {
			nodes, pods := slices.Clone(c.World.Nodes), slices.Clone(c.World.Pods)
			rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
			rng.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			other := c
			other.World.Nodes, other.World.Pods, other.Service = nodes, pods, c.Service.DeepCopy()
			slices.Reverse(other.Service.Spec.Ports)
			want, got := r.Want.Clone(), other.Build(t, c.Have(t))
			for _, of := range []*stack.Stack{want, got} {
				of.Resources = slices.DeleteFunc(of.Resources, func(r stack.Resource) bool { return r.Key.Kind == s.Loose })
			}
			if d := cmp.Diff(want.Resources, got.Resources); d != "" {
				t.Errorf("shuffled input builds another stack (-want +got):\n%s", d)
			}
		}
	})
}

// Moves fails unless there is a plan from the existing to the desired stack that holds
// nothing back and leaves nothing over.
func (s Suite[C, F]) Moves(t *testing.T, name string, want, have *stack.Stack) {
	t.Helper()
	p := s.Plan(want, have)
	for _, h := range p.Blocked {
		t.Errorf("%s: held by %s: %s: %s", name, h.By, h.Step.ID, h.Why)
	}
	if s.Cloud.MatchFound != nil {
		have = s.Cloud.MatchFound(want, have)
	}
	if left := LeftOver(want, have, p, s.Cloud.Rules); len(left) > 0 {
		t.Errorf("%s: left over: %v", name, left)
	}
}

// Fuzzer returns the fuzz tests, which change the Services of the cases; the sized one can
// be made as large as one likes.
func (s Suite[C, F]) Fuzzer(t testing.TB, sized string) Fuzzer[C, F] {
	t.Helper()
	all, cloud := s.Live(t), *s.Cloud
	cloud.Rules = cloud.Rules.WithOrders()
	return Fuzzer[C, F]{
		Cloud: &cloud, Cases: len(all), Case: func(t testing.TB, i int) Fuzzed[C, F] { return all[i].Fuzzed(t) },
		Sized: slices.IndexFunc(all, func(c Placed[C, F]) bool { return c.Name == sized }),
		Found: s.Found, Rest: s.Rest, Follows: s.Follows,
	}
}

// Real tests the messages for the owners of Services of public repositories, and, with texts,
// their resources.
func (s Suite[C, F]) Real(t *testing.T, least int, texts bool) {
	t.Helper()
	c := s.Bare(t)
	RealServices(t, s.Cloud, least, func(svc *corev1.Service) (Built, error) {
		in, problems := c.Input(svc)
		want, more, err := s.Cloud.Build(in, c.World.Facts, nil)
		built := Built{Kind: in.Kind, Want: want, Problems: append(problems, more...)}
		if texts && want != nil {
			built.Text = Text(want, s.Field)
		}
		return built, err
	})
}

// ignoreHints ignores fields that only order the steps of one plan: no document shows them, and no
// comparison uses them.
func ignoreHints() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		step, ok := p.Last().(cmp.StructField)
		if !ok {
			return false
		}
		field := p.Index(-2).Type().Field(step.Index())
		return field.Tag.Get("json") == "-" && field.Tag.Get("stack") == "aside"
	}, cmp.Ignore())
}
