package model

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

type fuzzed = cases.Fuzzed[Config, *Facts]

// newFuzzer returns a fuzzer of the Services of the cases. Desired shared resources are
// observed unchanged; a claim that ends is no change.
func newFuzzer(t testing.TB) cases.Fuzzer[Config, *Facts] {
	all := liveCases(t)
	return cases.Fuzzer[Config, *Facts]{
		Cloud: bundle(), Cases: len(all), Case: func(t testing.TB, i int) fuzzed { return all[i].fuzzed(t) },
		Sized:   slices.IndexFunc(all, func(c testCase) bool { return c.Name == "public-basic" }),
		Found:   func(want, _ *stack.Stack) *stack.Stack { return want },
		InFacts: true, Rest: func(p plan.Plan) bool { return !p.Writes() },
	}
}

func (c testCase) fuzzed(t testing.TB) fuzzed {
	a, book := c.arm(t)
	return fuzzed{
		Name: c.Name, Service: c.service, Facts: a.read(), Have: a.have(cases.OwnerOf(c.service)), Ledger: book,
		Input: func(svc *corev1.Service) (providers.Input[Config], annotations.Problems) {
			tn := c.tenant(svc)
			return tn.in, tn.problems
		},
	}
}

// liveCases returns the cases of Services that are not released.
func liveCases(t testing.TB) []testCase {
	return slices.DeleteFunc(loadCases(t), func(c testCase) bool { return c.world.Deleted })
}

func FuzzBuild(f *testing.F) { newFuzzer(f).Build(f) }

func FuzzCompare(f *testing.F) { newFuzzer(f).Compare(f) }

func FuzzRead(f *testing.F) { newFuzzer(f).Read(f) }

// FuzzConfig reads any cloud configuration without a panic.
func FuzzConfig(f *testing.F) {
	cases.FuzzConfig(f, ReadConfig,
		`{"subscriptionId": "s", "resourceGroup": "g", "location": "l", "vmType": "vmss"}`,
		"loadBalancerSku: standard\nmultipleStandardLoadBalancerConfigurations: [{name: a, serviceNamespaceSelector: {}}]\n",
	)
}

// TestGrowth: ten times the ports x ranges are at most ten times the work.
func TestGrowth(t *testing.T) { newFuzzer(t).Growth(t) }

// TestLargest: the largest Service of the kind takes little, and ends with its time.
func TestLargest(t *testing.T) { newFuzzer(t).Largest(t) }

func BenchmarkSizes(b *testing.B) { newFuzzer(b).Measure(b) }
