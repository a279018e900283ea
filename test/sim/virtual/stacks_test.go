package virtual_test

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestStacks fails if the runtime does not give new goroutines the stack that a call needs.
func TestStacks(t *testing.T) {
	virtual.Install()
	runtime.GC()
	size := []metrics.Sample{{Name: "/gc/stack/starting-size:bytes"}}
	metrics.Read(size)
	if size[0].Value.Uint64() < 64<<10 {
		t.Errorf("goroutines begin with %d bytes, want 64 KiB", size[0].Value.Uint64())
	}
}
