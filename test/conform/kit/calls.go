package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim"
)

// State is everything in the cloud, as text that can be compared.
func (w *World) State() string {
	w.T.Helper()
	body, err := w.Sim.State(w.T.Context())
	w.Must(err)
	var indented bytes.Buffer
	w.Must(json.Indent(&indented, body, "", " "))
	if w.suite.Volatile == nil {
		return indented.String()
	}
	return w.suite.Volatile.ReplaceAllString(indented.String(), "")
}

// Mark is the number of the last cloud call.
func (w *World) Mark() int {
	w.T.Helper()
	entries := w.Since(0)
	if len(entries) == 0 {
		return 0
	}
	return entries[len(entries)-1].Seq
}

// Since are the cloud calls after the mark.
func (w *World) Since(mark int) []sim.Entry {
	w.T.Helper()
	entries, err := w.Sim.Journal(w.T.Context(), mark)
	w.Must(err)
	return entries
}

// Settle waits until the cloud is left in peace and returns the calls since the mark.
func (w *World) Settle(mark int) []sim.Entry {
	w.T.Helper()
	meter, err := w.Sim.Meter(w.T.Context())
	w.Must(err)
	_, err = meter.Settle(w.T.Context(), w.suite.Quiet, limit)
	w.Must(err)
	return w.Since(mark)
}

// Writes are the writing ones of calls.
func Writes(calls []sim.Entry) []sim.Entry {
	return slices.DeleteFunc(slices.Clone(calls), func(e sim.Entry) bool { return !e.Write })
}

// countWrites counts the write calls of a controller that changes nothing.
func countWrites(calls []sim.Entry) string {
	counts := map[string]int{}
	for _, e := range Writes(calls) {
		counts[e.Operation]++
	}
	var out []string
	for _, op := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[op], op))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// Describe shows a call in one line.
func Describe(e sim.Entry) string {
	var params []string
	for _, key := range slices.Sorted(maps.Keys(e.Request)) {
		params = append(params, key+"="+e.Request[key])
	}
	return fmt.Sprintf("%s.%s %d %s %s", e.Service, e.Operation, e.Status, e.Code, strings.Join(params, " "))
}
