package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/berth-lb/berth/test/harness"
)

// goalMiB is the most memory that the controller may hold at any time, informers
// included.
const goalMiB = 500

// row is one phase, as bin/scale.json has it.
type row struct {
	Phase       string  `json:"phase"`
	Seconds     float64 `json:"seconds"` // from the cause to the effect
	CPUSeconds  float64 `json:"cpu_seconds"`
	ResidentMiB float64 `json:"resident_mib"` // when all is quiet again
	PeakMiB     float64 `json:"peak_mib"`     // of the process so far
	Calls       int     `json:"calls"`
	Writes      int     `json:"writes"`
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// show prints the table for people.
func (s *scale) show(out io.Writer) {
	fmt.Fprintf(out, "%d Services, %d Nodes, aws clb; memory goal %d MiB\n", s.services, s.nodes, goalMiB)
	fmt.Fprintf(out, "%-10s %9s %9s %13s %10s %8s %8s\n", "phase", "seconds", "cpu s", "resident MiB", "peak MiB", "calls", "writes")
	for _, r := range s.rows {
		verdict := "met"
		if r.PeakMiB > goalMiB {
			verdict = "MISSED"
		}
		fmt.Fprintf(out, "%-10s %9.1f %9.1f %13.0f %10.0f %8d %8d  %s\n", r.Phase, r.Seconds, r.CPUSeconds, r.ResidentMiB, r.PeakMiB, r.Calls, r.Writes, verdict)
	}
}

// write puts the rows into bin/scale.json.
func (s *scale) write() error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	body, err := json.MarshalIndent(map[string]any{"services": s.services, "nodes": s.nodes, "phases": s.rows}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "bin", "scale.json"), append(body, '\n'), 0o644)
}
