package tracing

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/berth-lb/berth/providers"
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

// span is what the tests look at.
type span struct {
	Name, Parent string
	Links        []string
	Attributes   map[string]string
	Failed       string
}

// received names parents and links by the Services of their spans.
func (c *collector) received() []span {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]string{}
	for _, s := range c.spans {
		for _, a := range s.GetAttributes() {
			if a.GetKey() == string(attrService) {
				names[string(s.GetSpanId())] = a.GetValue().GetStringValue()
			}
		}
	}
	var out []span
	for _, s := range c.spans {
		one := span{Name: s.GetName(), Parent: names[string(s.GetParentSpanId())], Attributes: attributeMap(s.GetAttributes())}
		if s.GetStatus().GetCode() == tracev1.Status_STATUS_CODE_ERROR {
			one.Failed = s.GetStatus().GetMessage()
		}
		for _, l := range s.GetLinks() {
			one.Links = append(one.Links, names[string(l.GetSpanId())])
		}
		out = append(out, one)
	}
	return out
}

func attributeMap(list []*commonv1.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		if v, ok := a.GetValue().GetValue().(*commonv1.AnyValue_StringValue); ok {
			out[a.GetKey()] = v.StringValue
		}
	}
	return out
}

func startTracer(t *testing.T, c *collector, ratio float64) *Tracer {
	t.Helper()
	tracer, err := Start(t.Context(), Options{Endpoint: c.addr, Ratio: ratio, Provider: "aws"})
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

func flushSpans(t *testing.T, tracer *Tracer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := tracer.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestSpans: what a collector gets of two runs that share a read.
func TestSpans(t *testing.T) {
	c := startCollector(t)
	tracer := startTracer(t, c, 1)
	first, endFirst := tracer.Reconcile(t.Context(), "default", "one")
	second, endSecond := tracer.Reconcile(t.Context(), "default", "two")
	read := tracer.Join([]context.Context{first, second, first, context.Background()})
	tracer.Call(read, providers.Call{API: "ec2", Operation: "DescribeSubnets"})(providers.Answer{Code: "RequestLimitExceeded"})
	tracer.Call(tracer.Join([]context.Context{second}), providers.Call{API: "elbv2", Operation: "CreateListener"})(providers.Answer{})
	endFirst(Outcome{Kind: "nlb", Result: "done", Steps: 3})
	endSecond(Outcome{Kind: "clb", Result: "failed", Err: errors.New("quota")})
	flushSpans(t, tracer)
	run := func(name, kind, result string) map[string]string {
		return map[string]string{"berth.provider": "aws", "k8s.namespace.name": "default", "berth.service": name, "berth.kind": kind, "berth.result": result}
	}
	want := []span{
		{Name: "ec2.DescribeSubnets", Parent: "one", Links: []string{"two"}, Failed: "RequestLimitExceeded",
			Attributes: map[string]string{"berth.provider": "aws", "berth.cloud.api": "ec2", "berth.cloud.operation": "DescribeSubnets", "berth.cloud.code": "RequestLimitExceeded"}},
		{Name: "elbv2.CreateListener", Parent: "two", Attributes: map[string]string{"berth.provider": "aws", "berth.cloud.api": "elbv2", "berth.cloud.operation": "CreateListener"}},
		{Name: "reconcile", Attributes: run("one", "nlb", "done")},
		{Name: "reconcile", Attributes: run("two", "clb", "failed"), Failed: "quota"},
	}
	if d := cmp.Diff(want, c.received()); d != "" {
		t.Errorf("spans (-want +got):\n%s", d)
	}
}

// TestShare: of runs that are not traced, no call is either.
func TestShare(t *testing.T) {
	c := startCollector(t)
	tracer := startTracer(t, c, 0)
	ctx, end := tracer.Reconcile(t.Context(), "default", "one")
	tracer.Call(tracer.Join([]context.Context{ctx}), providers.Call{API: "ec2", Operation: "DescribeSubnets"})(providers.Answer{})
	end(Outcome{})
	flushSpans(t, tracer)
	if got := c.received(); len(got) > 0 {
		t.Errorf("want no span, got %v", got)
	}
}

// TestManyLinks: a call for hundreds of Services does not name them all.
func TestManyLinks(t *testing.T) {
	c := startCollector(t)
	tracer := startTracer(t, c, 1)
	var all []context.Context
	for range 100 {
		ctx, end := tracer.Reconcile(t.Context(), "default", "many")
		end(Outcome{})
		all = append(all, ctx)
	}
	tracer.Call(tracer.Join(all), providers.Call{API: "ec2", Operation: "DescribeSubnets"})(providers.Answer{})
	flushSpans(t, tracer)
	got := c.received()
	at := slices.IndexFunc(got, func(s span) bool { return s.Name == "ec2.DescribeSubnets" })
	if at < 0 || len(got[at].Links) != mostLinks {
		t.Errorf("want a call with %d links, got %d spans, the call at %d", mostLinks, len(got), at)
	}
}

// TestOff: without a collector there is no tracer, and nothing has to ask.
func TestOff(t *testing.T) {
	tracer, err := Start(t.Context(), Options{})
	if err != nil || tracer != nil {
		t.Fatalf("got %v, %v", tracer, err)
	}
	ctx, end := tracer.Reconcile(t.Context(), "default", "one")
	end(Outcome{})
	tracer.Call(ctx, providers.Call{})(providers.Answer{})
	if tracer.Join([]context.Context{ctx}) != context.Background() || ctx != t.Context() {
		t.Error("contexts are as they were")
	}
	if err := tracer.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := Start(t.Context(), Options{Endpoint: "x:1", Ratio: 2}); err == nil {
		t.Error("a share of 2 is an error")
	}
}
