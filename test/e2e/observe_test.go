package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/test/sim"
)

// collector is a receiver of OTLP over gRPC.
type collector struct {
	collectorv1.UnimplementedTraceServiceServer
	addr string

	mu    sync.Mutex
	spans []*tracev1.Span
}

// Export implements the service of the protocol.
func (c *collector) Export(_ context.Context, r *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rs := range r.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			c.spans = append(c.spans, ss.GetSpans()...)
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{addr: l.Addr().String()}
	server := grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(l) }() // ends with the test
	t.Cleanup(server.Stop)
	return c
}

// calls counts spans of calls to the cloud by operation, and those of runs; every
// writing call must belong to a run.
func (c *collector) calls() (calls map[string]int, runs int, unmatched []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls, ids := map[string]int{}, map[string]bool{}
	for _, s := range c.spans {
		if s.GetName() == "reconcile" {
			runs++
			ids[string(s.GetSpanId())] = true
		}
	}
	for _, s := range c.spans {
		if s.GetName() == "reconcile" {
			continue
		}
		calls[s.GetName()]++
		if !strings.Contains(s.GetName(), ".Describe") && !ids[string(s.GetParentSpanId())] {
			unmatched = append(unmatched, s.GetName())
		}
	}
	return calls, runs, unmatched
}

// TestTraces: a collector gets a span for every call that the cloud has seen, and
// each that wrote belongs to the run of a Service.
func TestTraces(t *testing.T) {
	w := startWorld(t, 3)
	c := startCollector(t)
	p := w.controller("--tracing-endpoint=" + c.addr)
	svc := w.create("traced")
	w.remove(svc)
	w.settled(w.meter())
	w.must(p.Stop(limit)) // sends the remaining spans
	entries, err := w.Sim.Journal(t.Context(), 0)
	w.must(err)
	want := map[string]int{}
	for _, e := range entries {
		want[e.Service+"."+e.Operation]++
	}
	calls, runs, unmatched := c.calls()
	w.must(diffError("calls by traces and by the cloud", want, calls))
	if runs < 2 || len(unmatched) > 0 {
		t.Errorf("want the runs of a creation and a release, got %d; calls of no run: %v", runs, unmatched)
	}
}

// stockKeys lists the keys of every line, and the keys of lines of the stock program
// and its libraries that are written in the same files.
func stockKeys() []string { return []string{"ts", "caller", "msg", "v", "logger"} }

// TestLogKeys: lines of Berth have no keys but those of the list, whatever happens.
func TestLogKeys(t *testing.T) {
	w := startWorld(t, 3)
	p := w.controller("--logging-format=json", "-v=4")
	w.must(w.Sim.Arm(t.Context(), sim.Fault{WritesOnly: true, Kind: sim.FaultError, Status: 400, Code: "RulesPerSecurityGroupLimitExceeded", Count: 1}))
	svc := w.create("logged", setAnnotation("unknown-key", "1"))
	w.remove(svc)
	w.must(p.Stop(limit))
	legal := stockKeys()
	for _, k := range logkey.All() {
		legal = append(legal, k.Name)
	}
	ours := []string{"service/", "reconcile/", "cloud-controller-manager/"}
	lines, runs := 0, 0
	for _, text := range strings.Split(p.Output(), "\n") {
		line := map[string]any{}
		if json.Unmarshal([]byte(text), &line) != nil {
			continue // of a library that knows no format
		}
		caller := fmt.Sprint(line["caller"])
		if !slices.ContainsFunc(ours, func(dir string) bool { return strings.HasPrefix(caller, dir) }) {
			continue
		}
		lines++
		if line["msg"] == "reconciled" {
			runs++
			if err := hasKeys(line, logkey.Service, logkey.Kind, logkey.Result, logkey.Steps, logkey.Duration); err != nil {
				t.Error(err, text)
			}
		}
		for key := range line {
			if !slices.Contains(legal, key) {
				t.Errorf("the key %q is not in the list: %s", key, text)
			}
		}
	}
	if lines < 10 || runs < 2 {
		t.Errorf("only %d lines of Berth, %d of runs", lines, runs)
	}
}

func hasKeys(line map[string]any, keys ...string) error {
	for _, key := range keys {
		if _, ok := line[key]; !ok {
			return errors.New(key + " is missing")
		}
	}
	return nil
}
