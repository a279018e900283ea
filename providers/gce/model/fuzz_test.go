package model

import (
	"testing"

	"github.com/berth-lb/berth/test/cases"
)

// fuzzer changes the Services of the cases. Once the desired state exists, addresses
// that were held for it are released.
func fuzzer(t testing.TB) cases.Fuzzer[Config, *Facts] { return suite().Fuzzer(t, "netlb-basic") }

func FuzzBuild(f *testing.F) { fuzzer(f).Build(f) }

func FuzzCompare(f *testing.F) { fuzzer(f).Compare(f) }

func FuzzRead(f *testing.F) { fuzzer(f).Read(f) }

// FuzzConfig reads any cloud configuration without a panic.
func FuzzConfig(f *testing.F) {
	cases.FuzzConfig(f, ReadConfig,
		"[global]\nproject-id = p\nnode-tags = a\nnode-tags = b\n",
		"[global]\napi-endpoint = %\nmultizone = maybe\n",
	)
}

// TestGrowth: ten times the ports x ranges are at most ten times the work.
func TestGrowth(t *testing.T) { fuzzer(t).Growth(t) }

// TestLargest: the largest Service of the kind takes little, and ends with its time.
func TestLargest(t *testing.T) { fuzzer(t).Largest(t) }

func BenchmarkSizes(b *testing.B) { fuzzer(b).Measure(b) }
