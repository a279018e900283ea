package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/berth-lb/berth/test/harness"
)

// result is what was measured of one subject, as bin/scale.json has it.
type result struct {
	Cloud    string `json:"cloud"`
	Kind     string `json:"kind"`
	Services int    `json:"services"`
	Nodes    int    `json:"nodes"`
	Pods     int    `json:"pods,omitempty"` // behind each Service
	GoalMiB  int    `json:"goal_mib"`
	// EmptyMiB is what the controller held without Services. The goal is for what is beyond it, if Beyond.
	EmptyMiB float64 `json:"empty_mib"`
	Beyond   bool    `json:"beyond,omitempty"`
	Phases   []row   `json:"phases"`
}

// row is one phase.
type row struct {
	Phase       string  `json:"phase"`
	Seconds     float64 `json:"seconds"`       // from the cause to the effect
	CPUSeconds  float64 `json:"cpu_seconds"`   // of the controller, until all is quiet
	CloudCPU    float64 `json:"cloud_seconds"` // of the simulator on the same machine
	ResidentMiB float64 `json:"resident_mib"`  // when all is quiet again
	OwnMiB      float64 `json:"own_mib"`       // of those, what are not pages of the program
	PeakMiB     float64 `json:"peak_mib"`      // of the process so far
	Calls       int     `json:"calls"`
	Writes      int     `json:"writes"`
}

func toMebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// show prints the table for people.
func (r result) show(out io.Writer) {
	pods := ""
	if r.Pods > 0 {
		pods = fmt.Sprintf(" to %d pods each", r.Pods)
	}
	most, beyond := float64(r.GoalMiB), ""
	if r.Beyond {
		most, beyond = most+r.EmptyMiB, " beyond that"
	}
	fmt.Fprintf(out, "%s %s, %d Services%s, %d Nodes; %.0f MiB without Services; memory goal %d MiB%s\n", r.Cloud, r.Kind, r.Services, pods, r.Nodes, r.EmptyMiB, r.GoalMiB, beyond)
	fmt.Fprintf(out, "%-10s %9s %9s %12s %13s %8s %10s %8s %8s\n", "phase", "seconds", "cpu s", "simulator s", "resident MiB", "own MiB", "peak MiB", "calls", "writes")
	for _, p := range r.Phases {
		verdict := "met"
		if p.PeakMiB > most {
			verdict = "MISSED"
		}
		fmt.Fprintf(out, "%-10s %9.1f %9.1f %12.1f %13.0f %8.0f %10.0f %8d %8d  %s\n",
			p.Phase, p.Seconds, p.CPUSeconds, p.CloudCPU, p.ResidentMiB, p.OwnMiB, p.PeakMiB, p.Calls, p.Writes, verdict)
	}
}

// writeResults writes the measurements to bin/scale.json.
func writeResults(all []result) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	body, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "bin", "scale.json"), append(body, '\n'), 0o644)
}
