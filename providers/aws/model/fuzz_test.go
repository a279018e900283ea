package model

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

type fuzzed = cases.Fuzzed[Config, *Facts]

// fuzzer changes the Services of the cases.
func fuzzer(t testing.TB) cases.Fuzzer[Config, *Facts] {
	all := live(t)
	return cases.Fuzzer[Config, *Facts]{
		Cloud: bundle(), Cases: len(all), Case: func(t testing.TB, i int) fuzzed { return all[i].fuzzed(t) },
		Sized: slices.IndexFunc(all, func(c testCase) bool { return c.Name == "nlb-basic" }),
		Found: func(want, _ *stack.Stack) *stack.Stack { return asFound(want) }, Follows: leaves,
	}
}

func (c testCase) fuzzed(t testing.TB) fuzzed {
	return fuzzed{
		Name: c.Name, Service: c.service, Facts: &c.world.Facts, Have: c.have(t), Book: cases.ReadyLedger(),
		Input: func(svc *corev1.Service) (providers.Input[Config], annotations.Problems) {
			return inputOf(c.config, c.world.ClusterName, svc, c.world.Nodes, c.world.Slices...)
		},
	}
}

// live are the cases of Services that are not released.
func live(t testing.TB) []testCase {
	return slices.DeleteFunc(loadCases(t), func(c testCase) bool { return c.world.Deleted })
}

func FuzzBuild(f *testing.F) { fuzzer(f).Build(f) }

func FuzzCompare(f *testing.F) { fuzzer(f).Compare(f) }

func FuzzRead(f *testing.F) { fuzzer(f).Read(f) }

// FuzzConfig reads any cloud configuration without a panic.
func FuzzConfig(f *testing.F) {
	cases.FuzzConfig(f, ReadConfig,
		"[Global]\nZone = eu-west-1a\nVPC = vpc-1\n",
		"[ServiceOverride \"1\"]\nService = ec2\nRegion = x\nURL = %\n",
	)
}

// TestGrowth: ten times the ports x ranges are at most ten times the work.
func TestGrowth(t *testing.T) { fuzzer(t).Growth(t) }

// TestLargest: the largest Service of the kind takes little, and ends with its time.
func TestLargest(t *testing.T) { fuzzer(t).Largest(t) }

func BenchmarkSizes(b *testing.B) { fuzzer(b).Measure(b) }
