package cases

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/mutate"
)

// Fuzzed is a Service in its cluster, as a fuzz test begins with it.
type Fuzzed[C, F any] struct {
	Name    string
	Service *corev1.Service
	// Input is what the loop hands to Build for what the Service has become.
	Input  func(*corev1.Service) (providers.Input[C], annotations.Problems)
	Facts  F
	Have   *stack.Stack
	Ledger ledger.View
}

// Fuzzer are the fuzz tests of the pure half of a cloud.
type Fuzzer[C, F any] struct {
	Cloud *providers.Cloud[C, F]
	Cases int
	// Case loads one of the cases.
	Case func(t testing.TB, i int) Fuzzed[C, F]
	// Sized is the case whose Service can be made as large as one likes.
	Sized int
	// Found turns a desired stack into the stack that a read returns once it exists.
	Found func(want, have *stack.Stack) *stack.Stack
	// InFacts means that facts hold the found resources as well: the desired stack is then
	// built once more from the previous ones.
	InFacts bool
	// Rest tells what the plan of the result of a plan may still do. Nil: nothing.
	Rest func(plan.Plan) bool
	// Follows reports whether a desired stack is only half of a change, which the next plan
	// completes. Nil: it never is.
	Follows func(want *stack.Stack) bool
}

// mutants is how many changed seeds a plain run tries for each seed.
const mutants = 1

// loaded is Case that loads each one once.
func (z Fuzzer[C, F]) loaded() func(testing.TB, byte) Fuzzed[C, F] {
	known := map[int]Fuzzed[C, F]{}
	return func(t testing.TB, which byte) Fuzzed[C, F] {
		i := int(which) % z.Cases
		if _, ok := known[i]; !ok {
			known[i] = z.Case(t, i)
		}
		return known[i]
	}
}

// begin adds what a fuzz test begins with: every way to change a Service, for every case.
func (z Fuzzer[C, F]) begin(f *testing.F, parts int) {
	f.Helper()
	for i := range min(z.Cases, 256) {
		for _, data := range Distortions() {
			mutate.Add(f, mutants, byte(i), slices.Repeat(data, parts))
		}
	}
}

// Build is a fuzz test that writes arbitrary values into the Services of the cases: nothing
// panics, and once the desired stack exists, nothing is left to do.
func (z Fuzzer[C, F]) Build(f *testing.F) {
	f.Helper()
	z.begin(f, 1)
	load := z.loaded()
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		c := load(t, which)
		in, problems := c.Input(z.distort(c, data))
		z.Cloud.Reach(in)
		want, more, err := z.Cloud.Build(in, c.Facts, c.Have)
		if err != nil {
			t.Fatal(err)
		}
		if problems.Errors() || more.Errors() || want == nil {
			_ = more.Strings()
			return
		}
		if z.Cloud.Becomes != nil {
			z.Cloud.Becomes(in, want)
		}
		_ = PlanText(z.Cloud.Name, z.compare(c, want, c.Have))
		z.settles(t, c, in, want)
	})
}

// settles wants the plan of the result of a plan to be empty.
func (z Fuzzer[C, F]) settles(t *testing.T, c Fuzzed[C, F], in providers.Input[C], want *stack.Stack) {
	t.Helper()
	found := z.Found(want, c.Have)
	if z.Follows != nil && z.Follows(want) {
		ended, more, err := z.Cloud.Build(in, c.Facts, found)
		if err != nil || more.Errors() || z.Follows(ended) {
			t.Fatalf("%s: no plan ends what was begun: %v %v", c.Name, err, more.Strings())
		}
		found = z.Found(ended, found)
	}
	for range 2 {
		from := found
		if z.InFacts {
			from = c.Have
		}
		again, more, err := z.Cloud.Build(in, c.Facts, from)
		if err != nil {
			t.Fatal(err)
		}
		if more.Errors() {
			if z.Rest == nil {
				t.Fatalf("%s: what was built is refused: %v", c.Name, more.Strings())
			}
			return // what is held for it now shows that it cannot have it
		}
		p := z.compare(c, again, found)
		if p.Empty() {
			return
		}
		if z.Rest == nil || !z.Rest(p) {
			t.Fatalf("%s: the plan of the result of a plan is not empty:\n%s", c.Name, PlanText(z.Cloud.Name, p))
		}
		found = z.Found(again, found)
	}
}

// Compare is a fuzz test that makes one Service of a case into another one: the plan can
// be run as it is.
func (z Fuzzer[C, F]) Compare(f *testing.F) {
	f.Helper()
	z.begin(f, 2)
	load := z.loaded()
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		c := load(t, which)
		have := &stack.Stack{}
		first, second := Halves(data)
		for _, part := range [][]byte{first, second} {
			in, problems := c.Input(z.distort(c, part))
			want, more, err := z.Cloud.Build(in, c.Facts, have)
			if err != nil {
				t.Fatal(err)
			}
			if problems.Errors() || more.Errors() || want == nil {
				return
			}
			if err := Sound(z.compare(c, want, have)); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
			have = z.Found(want, have)
		}
	})
}

// Read is a fuzz test that changes facts and found resources in ways that no cloud should
// return: nothing panics, and every plan can be run unchanged. The desired stack is released
// afterwards as well, from the found resources.
func (z Fuzzer[C, F]) Read(f *testing.F) {
	f.Helper()
	for i := range min(z.Cases, 256) {
		for n := range byte(6) {
			mutate.Add(f, 3, byte(i), []byte{n, 17 * n, 40 + n, n, 101, 7 * n}, []byte{3 * n, n, 29 * n, 5, 11 * n, 2})
		}
	}
	load := z.loaded()
	f.Fuzz(func(t *testing.T, which byte, facts, found []byte) {
		c := load(t, which)
		c.Facts = Scramble(c.Facts, facts)
		in, problems := c.Input(c.Service)
		have := c.Have
		if len(have.Resources) == 0 {
			if want, more, err := z.Cloud.Build(in, c.Facts, have); err == nil && !more.Errors() && want != nil {
				have = z.Found(want, have)
			}
		}
		have = ScrambleStack(have, found)
		if z.Cloud.KeepServing != nil {
			z.Cloud.KeepServing(in, c.Facts, have)
		}
		z.Cloud.Status(in, have)
		want, more, err := z.Cloud.Build(in, c.Facts, have)
		if err == nil && want != nil && !problems.Errors() && !more.Errors() {
			if err := Sound(z.compare(c, want, have)); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
		if err := Sound(diff.Compare(&stack.Stack{Owner: in.Owner}, have, z.Cloud.Rules, c.Ledger)); err != nil {
			t.Errorf("%s: release: %v", c.Name, err)
		}
	})
}

// FuzzConfig is a fuzz test that reads any cloud configuration without a panic, beginning
// with good and bad ones.
func FuzzConfig[C any](f *testing.F, read func(io.Reader) (C, annotations.Problems, error), texts ...string) {
	f.Helper()
	for _, text := range texts {
		mutate.Add(f, 60, text)
	}
	f.Fuzz(func(_ *testing.T, text string) { _, _, _ = read(strings.NewReader(text)) })
}

// AsFound returns a desired stack as a read returns it: with an id, and proven by its name.
func AsFound(want *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: want.Owner}
	for _, r := range want.Resources {
		r.ID, r.Proof = "id-of-"+r.Key.String(), stack.Name
		out.Put(r)
	}
	return out
}

// Web is a Service with two ports, of the protocols, and a cluster of three nodes for it,
// whose provider IDs begin with the prefix and whose addresses are 10.0.0.1 and on.
func Web(providerID string, protocols [2]corev1.Protocol) (*corev1.Service, []corev1.Node) {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "0a1b"}}
	svc.Spec.Type, svc.Spec.IPFamilies = corev1.ServiceTypeLoadBalancer, []corev1.IPFamily{corev1.IPv4Protocol}
	svc.Spec.Ports = []corev1.ServicePort{{Name: "a", Protocol: protocols[0], Port: 80, NodePort: 31080}, {Name: "b", Protocol: protocols[1], Port: 53, NodePort: 31053}}
	var nodes []corev1.Node
	for i := range 3 {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}, Spec: corev1.NodeSpec{ProviderID: fmt.Sprint(providerID, i)}}
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.0.%d", i+1)}}
		nodes = append(nodes, n)
	}
	return svc, nodes
}

func (z Fuzzer[C, F]) distort(c Fuzzed[C, F], data []byte) *corev1.Service {
	return Distort(c.Service, z.Cloud.Annotations.Names(), data)
}

func (z Fuzzer[C, F]) compare(c Fuzzed[C, F], want, have *stack.Stack) plan.Plan {
	if z.Cloud.MatchFound != nil {
		have = z.Cloud.MatchFound(want, have)
	}
	return diff.Compare(want, have, z.Cloud.Rules, c.Ledger)
}
