package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/harness"
)

// row is one phase of one kind, as bin/bench.json has it.
type row struct {
	Cloud            string         `json:"cloud"`
	Kind             string         `json:"kind"`
	Phase            string         `json:"phase"`
	Services         int            `json:"services"`
	Calls            int            `json:"calls"`
	Writes           int            `json:"writes"`
	CallsPerService  float64        `json:"calls_per_service"`
	WritesPerService float64        `json:"writes_per_service"`
	GoalCalls        *float64       `json:"goal_calls_per_service,omitempty"`
	GoalWrites       *float64       `json:"goal_writes_per_service,omitempty"`
	ByOperation      map[string]int `json:"by_operation"`
}

func newRow(s subject, phase string, n int, c harness.Calls) row {
	calls := c.All
	for op, times := range c.ByOperation {
		if isUncounted(op) {
			calls -= times
		}
	}
	r := row{
		Cloud: s.cloud, Kind: s.kind, Phase: phase, Services: n, Calls: calls, Writes: c.Writes,
		CallsPerService: float64(calls) / float64(n), WritesPerService: float64(c.Writes) / float64(n), ByOperation: c.ByOperation,
	}
	if n != services && n != restarts {
		phase = fmt.Sprintf("%s %d", phase, n)
	}
	if goal, ok := s.goal[phase]; ok {
		r.GoalCalls, r.GoalWrites = &goal[0], &goal[1]
	}
	return r
}

// isUncounted reports whether a call is not counted: waiting for an operation belongs
// to the write that began it, tokens are requested once an hour, and versions of APIs
// when the program starts.
func isUncounted(operation string) bool {
	if strings.HasPrefix(operation, "identity.") || strings.HasSuffix(operation, ".ListVersions") {
		return true
	}
	return strings.HasSuffix(operation, "Operations.wait") || operation == "arm.Operations.Get" || strings.HasPrefix(operation, "oauth2.") || strings.HasPrefix(operation, "metadata.")
}

// met reports whether the row is within its goal; rows without one always are.
func (r row) met() bool {
	return r.GoalCalls == nil || (r.CallsPerService <= *r.GoalCalls && r.WritesPerService <= *r.GoalWrites)
}

// printHeader prints the line above the rows.
func printHeader() {
	fmt.Printf("%-5s %-11s %-10s %8s %7s %7s %14s %14s  %s\n", "cloud", "kind", "phase", "services", "calls", "writes", "calls/service", "writes/service", "goal: calls (writes)")
}

func printRows(rows []row) {
	for _, r := range rows {
		goal := ""
		if r.GoalCalls != nil {
			goal = fmt.Sprintf("%.2g (%.2g) met", *r.GoalCalls, *r.GoalWrites)
			if !r.met() {
				goal = fmt.Sprintf("%.2g (%.2g) MISSED", *r.GoalCalls, *r.GoalWrites)
			}
		}
		fmt.Printf("%-5s %-11s %-10s %8d %7d %7d %14.2f %14.2f  %s\n", r.Cloud, r.Kind, r.Phase, r.Services, r.Calls, r.Writes, r.CallsPerService, r.WritesPerService, goal)
		if !r.met() || os.Getenv("DETAILS") != "" {
			for _, op := range slices.Sorted(maps.Keys(r.ByOperation)) {
				fmt.Printf("        %-50s %d\n", op, r.ByOperation[op])
			}
		}
	}
}
