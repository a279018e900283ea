package model

import (
	"testing"

	"github.com/berth-lb/berth/test/cases"
)

// newFuzzer returns a fuzzer of the Services of the cases. Once the desired state
// exists, addresses that were held for it are released.
func newFuzzer(t testing.TB) cases.Fuzzer[Config, *Facts] { return suite().Fuzzer(t, "netlb-basic") }

func FuzzBuild(f *testing.F) { newFuzzer(f).Build(f) }

func FuzzCompare(f *testing.F) { newFuzzer(f).Compare(f) }

func FuzzRead(f *testing.F) { newFuzzer(f).Read(f) }

// FuzzConfig reads any cloud configuration without a panic.
func FuzzConfig(f *testing.F) {
	cases.FuzzConfig(f, ReadConfig,
		"[global]\nproject-id = p\nnode-tags = a\nnode-tags = b\n",
		"[global]\napi-endpoint = %\nmultizone = maybe\n",
	)
}

// TestGrowth: ten times the ports x ranges are at most ten times the work.
func TestGrowth(t *testing.T) { newFuzzer(t).Growth(t) }

// TestLargest: the largest Service of the kind takes little, and ends with its time.
func TestLargest(t *testing.T) { newFuzzer(t).Largest(t) }

func BenchmarkSizes(b *testing.B) { newFuzzer(b).Measure(b) }
