package main

import (
	"strings"
	"testing"
)

// TestHeapLimit: the runtime keeps below the limit of the container; a value that is no
// number of bytes is reported with its name.
func TestHeapLimit(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "100000": 50000, "536870912": 402653184} {
		if got, err := heapLimit(text); err != nil || got != want {
			t.Errorf("%q: want %d, got %d, %v", text, want, got, err)
		}
	}
	for _, text := range []string{"512Mi", "0", "-1", "x"} {
		if got, err := heapLimit(text); err == nil || got != 0 || !strings.Contains(err.Error(), memoryVariable) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: got %d, %v", text, got, err)
		}
	}
}
