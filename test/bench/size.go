package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/berth-lb/berth/test/harness"
)

// sizeRow is how much some clouds add to the controller, as bin/size.json has it.
type sizeRow struct {
	Clouds []string `json:"clouds"`
	MB     float64  `json:"mb"`
	GoalMB float64  `json:"goal_mb"`
}

// sizeRows lists the clouds whose share of the program has a bar.
func sizeRows() []sizeRow {
	return []sizeRow{{Clouds: []string{"alibaba"}, GoalMB: 6}, {Clouds: []string{"ibm", "tencent", "baidu"}, GoalMB: 5}}
}

// measureSizes builds the controller as releases have it, with all clouds and without some of them.
func measureSizes(ctx context.Context) error {
	whole, err := sizeWithout(ctx, nil)
	if err != nil {
		return err
	}
	rows := sizeRows()
	fmt.Printf("\nsize of the controller: %.1f MB\n", whole)
	for i := range rows {
		r := &rows[i]
		rest, err := sizeWithout(ctx, r.Clouds)
		if err != nil {
			return err
		}
		verdict := "met"
		if r.MB = whole - rest; r.MB > r.GoalMB {
			verdict = "MISSED"
		}
		fmt.Printf("%v add %.2f MB; goal %.0f MB %s\n", r.Clouds, r.MB, r.GoalMB, verdict)
	}
	return writeFile("size.json", rows)
}

// sizeWithout returns the size of the controller without some clouds, in MB.
func sizeWithout(ctx context.Context, clouds []string) (mb float64, err error) {
	root, err := harness.Root()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "size")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	list := filepath.Join(root, "providers", "all", "all.go")
	text, err := os.ReadFile(list)
	if err != nil {
		return 0, err
	}
	shorter, program := filepath.Join(dir, "all.go"), filepath.Join(dir, "program")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{list: shorter}})
	if err != nil {
		return 0, err
	}
	for path, body := range map[string][]byte{shorter: withoutClouds(text, clouds), filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(path, body, 0o600); err != nil {
			return 0, err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-overlay", filepath.Join(dir, "overlay.json"), "-ldflags=-s -w -buildid=", "-o", program, "./cmd/cloud-controller-manager")
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("without %v: %w: %s", clouds, err, said)
	}
	info, err := os.Stat(program)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()) / 1e6, nil
}

// withoutClouds returns the list of clouds without the lines of some.
func withoutClouds(text []byte, clouds []string) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		of := func(cloud string) bool {
			return bytes.Contains(line, []byte("/providers/"+cloud+`"`)) || bytes.Contains(line, []byte("("+cloud+"."))
		}
		if !slices.ContainsFunc(clouds, of) {
			out = append(out, line...)
		}
	}
	return out
}
