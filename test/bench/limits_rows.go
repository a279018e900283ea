package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// limitRow is one phase at the documented rates, as bin/limits.json has it.
type limitRow struct {
	Cloud        string  `json:"cloud"`
	Kind         string  `json:"kind"`
	Services     int     `json:"services"`
	Phase        string  `json:"phase"`
	Seconds      float64 `json:"seconds"`
	IdealSeconds float64 `json:"ideal_seconds"`
	// ShareSeconds is the same for the share of the rates that the controller keeps to.
	ShareSeconds float64 `json:"share_seconds,omitempty"`
	Calls        int     `json:"calls"`
	Refused      int     `json:"refused"`
	// Busy counts the writes that the cloud refused because another one was at work on the same resource.
	Busy     int `json:"busy"`
	Warnings int `json:"warnings"`
	Flips    int `json:"flips"`
	// Delayed says that operations took long, and Prompt how many calls were made where
	// they did not.
	Delayed bool `json:"delayed,omitempty"`
	Prompt  int  `json:"calls_without_delay,omitempty"`

	refusals map[string]int // by operation
	told     map[string]int // warnings by what they say
	more     map[string]int // calls by operation, beyond those where operations take no time
	most     float64        // calls for each Service; 0: any number
	ended    bool
	writes   int // of Service objects
}

func newLimitRow(s subject, n int, phase string, m, free measured, needs time.Duration) limitRow {
	r := limitRow{
		refusals: map[string]int{}, Cloud: s.cloud, Kind: s.kind, Services: n, Phase: phase, Seconds: m.took.Seconds(), IdealSeconds: needs.Seconds(),
		Calls: len(m.calls), Refused: m.refused(), told: m.tally.warnings, Flips: m.tally.flips, ended: m.ended, writes: m.tally.writes,
		more: extraCalls(m, free),
	}
	for _, n := range r.told {
		r.Warnings += n
	}
	if phase == "create" {
		r.most = s.mostCreate
	}
	if s.delay != nil {
		r.Delayed, r.Prompt = true, len(free.calls)
	}
	for _, e := range m.calls {
		if e.Throttled {
			r.refusals[e.Service+"."+e.Operation]++
		}
		if isBusy(e) {
			r.Busy++
		}
	}
	return r
}

// isBusy reports whether a write was refused because another one was at work.
func isBusy(e sim.Entry) bool {
	codes := []string{"OperationBusy", "ServiceIsConfiguring", "BackendServer.configuring", "Conflict.Lock", "IncorrectStatus", "ResourceInOperating", "LastOperationNotFinished"}
	return e.Write && !e.Throttled && (e.Status == http.StatusConflict || slices.ContainsFunc(codes, func(code string) bool { return strings.Contains(e.Code, code) }))
}

// oneAtATime lists the clouds whose load balancers take one change at a time: nothing that Berth sends is
// refused for that reason there.
func oneAtATime() []string { return []string{"alibaba", "baidu", "ibm", "tencent"} }

// extraCalls returns the calls by operation that one has more than the other.
func extraCalls(m, free measured) map[string]int {
	out := map[string]int{}
	for _, e := range m.calls {
		out[e.Service+"."+e.Operation]++
	}
	for _, e := range free.calls {
		out[e.Service+"."+e.Operation]--
	}
	maps.DeleteFunc(out, func(_ string, n int) bool { return n == 0 })
	return out
}

// The bars of a row. What does not fill the buckets takes as long as a process and
// an API server do, so a ratio is asked for only from an ideal time on.
const (
	mostRatio   = 1.3
	mostRefused = 0.02
	ratioFrom   = 10.0 // seconds
	// mostCalls is how many times the calls may grow with the time that operations take.
	mostCalls = 1.1
)

// missed names the bars that the row is over.
func (r limitRow) missed() string {
	out := ""
	for _, bar := range []struct {
		name string
		over bool
	}{
		{"end", !r.ended}, {"time", r.late()},
		{"refused", float64(r.Refused) > mostRefused*float64(r.Calls)}, {"busy", r.Busy > 0 && slices.Contains(oneAtATime(), r.Cloud)}, {"warnings", r.Warnings > 0}, {"flips", r.Flips > 0},
		{"calls", r.Delayed && float64(r.Calls) > mostCalls*float64(r.Prompt) || r.most > 0 && float64(r.Calls) > r.most*float64(r.Services)},
	} {
		if bar.over {
			out += " " + bar.name
		}
	}
	if out != "" {
		return "MISSED" + out
	}
	return "met"
}

// late is whether the phase takes longer than it may.
func (r limitRow) late() bool {
	if r.Phase == beside {
		return r.Seconds > r.IdealSeconds+mostBeside
	}
	return r.IdealSeconds >= ratioFrom && r.Seconds > mostRatio*r.IdealSeconds
}

func limitHead() {
	fmt.Printf("\nunder the documented rates\n%-5s %-16s %8s %-8s %9s %9s %7s %8s %7s %8s %5s %8s %6s %7s  %s\n",
		"cloud", "kind", "services", "phase", "seconds", "ideal", "ratio", "of share", "calls", "refused", "busy", "warnings", "flips", "writes", "bars")
}

// formatRatio returns how many times as long as another one a time is, or a dash
// without another one.
func formatRatio(took, other float64) string {
	if other <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", took/other)
}

func (r limitRow) show() {
	kind := r.Kind
	if r.Delayed {
		kind += " slow"
	}
	fmt.Printf("%-5s %-16s %8d %-8s %9.1f %9.1f %7s %8s %7d %8d %5d %8d %6d %7d  %s\n",
		r.Cloud, kind, r.Services, r.Phase, r.Seconds, r.IdealSeconds, formatRatio(r.Seconds, r.IdealSeconds), formatRatio(r.Seconds, r.ShareSeconds), r.Calls, r.Refused, r.Busy, r.Warnings, r.Flips, r.writes, r.missed())
	if r.Delayed {
		fmt.Printf("        %d calls where operations take no time\n", r.Prompt)
	}
	if r.missed() != "met" {
		for _, said := range slices.Sorted(maps.Keys(r.told)) {
			fmt.Printf("        warned %d times: %s\n", r.told[said], said)
		}
		for _, op := range slices.Sorted(maps.Keys(r.refusals)) {
			fmt.Printf("        refused %-50s %d\n", op, r.refusals[op])
		}
		for _, op := range slices.Sorted(maps.Keys(r.more)) {
			fmt.Printf("        besides %-50s %+d\n", op, r.more[op])
		}
	}
}

// writeFile puts rows into a file of the bin folder.
func writeFile(name string, rows any) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	body, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "bin", name), append(body, '\n'), 0o644)
}
