package tracing

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	componenttracing "k8s.io/component-base/tracing"
	tracingv1 "k8s.io/component-base/tracing/api/v1"

	"github.com/berth-lb/berth/providers"
)

// Options say where spans go.
type Options struct {
	// Endpoint is host and port of a collector that takes OTLP over gRPC without
	// TLS; empty switches tracing off.
	Endpoint string
	// Ratio is the share of runs that is traced, between 0 and 1.
	Ratio    float64
	Provider string // the cloud
	Version  string // of Berth
}

// Tracer makes spans. A nil pointer is a tracer that is off: all methods may be
// called and do nothing. It is safe for concurrent use.
type Tracer struct {
	options  Options
	provider componenttracing.TracerProvider
	tracer   trace.Tracer
}

// Names of spans and of their attributes; those of Kubernetes objects follow the
// semantic conventions of OpenTelemetry.
const (
	spanReconcile = "reconcile"

	attrProvider  = attribute.Key("berth.provider")
	attrNamespace = attribute.Key("k8s.namespace.name")
	attrService   = attribute.Key("berth.service")
	attrKind      = attribute.Key("berth.kind")
	attrResult    = attribute.Key("berth.result")
	attrSteps     = attribute.Key("berth.steps")
	attrAPI       = attribute.Key("berth.cloud.api")
	attrOperation = attribute.Key("berth.cloud.operation")
	attrCode      = attribute.Key("berth.cloud.code")
)

const million = 1_000_000

// Start connects to the collector; nil if none is configured. A collector that does not
// run yet is no error: spans are dropped meanwhile.
func Start(ctx context.Context, o Options) (*Tracer, error) {
	if o.Endpoint == "" {
		return nil, nil
	}
	if o.Ratio < 0 || o.Ratio > 1 {
		return nil, fmt.Errorf("tracing: the share %g is not between 0 and 1", o.Ratio)
	}
	perMillion := int32(o.Ratio * million)
	config := &tracingv1.TracingConfiguration{Endpoint: &o.Endpoint, SamplingRatePerMillion: &perMillion}
	provider, err := componenttracing.NewProvider(ctx, config, nil, []resource.Option{
		resource.WithAttributes(attribute.String("service.name", "berth"), attribute.String("service.version", o.Version)),
	})
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return &Tracer{options: o, provider: provider, tracer: provider.Tracer("github.com/berth-lb/berth")}, nil
}

// Shutdown sends the remaining spans.
func (t *Tracer) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Outcome is what a run's span says when it ends.
type Outcome struct {
	Kind, Result string
	Steps        int
	Err          error
}

// Reconcile begins the span of a run over one Service; what it returns ends it.
func (t *Tracer) Reconcile(ctx context.Context, namespace, name string) (context.Context, func(Outcome)) {
	if t == nil {
		return ctx, func(Outcome) {}
	}
	ctx, span := t.tracer.Start(ctx, spanReconcile, trace.WithAttributes(attrProvider.String(t.options.Provider), attrNamespace.String(namespace), attrService.String(name)))
	return ctx, func(o Outcome) {
		span.SetAttributes(attrKind.String(o.Kind), attrResult.String(o.Result), attrSteps.Int(o.Steps))
		if o.Err != nil {
			span.SetStatus(codes.Error, o.Err.Error())
		}
		span.End()
	}
}

// Call begins the span of a call to the cloud; it is a providers.Observe.
func (t *Tracer) Call(ctx context.Context, c providers.Call) func(providers.Answer) {
	if t == nil {
		return func(providers.Answer) {}
	}
	_, span := t.tracer.Start(ctx, c.API+"."+c.Operation, trace.WithSpanKind(trace.SpanKindClient), trace.WithLinks(linksOf(ctx)...),
		trace.WithAttributes(attrProvider.String(t.options.Provider), attrAPI.String(c.API), attrOperation.String(c.Operation)))
	return func(a providers.Answer) {
		if !a.OK() {
			span.SetAttributes(attrCode.String(a.Code))
			span.SetStatus(codes.Error, a.Code)
		}
		span.End()
	}
}

// Join is the context of a call that is made for many: its parent is the span of
// the first, and it is linked to the others.
func (t *Tracer) Join(ctxs []context.Context) context.Context {
	joined := context.Background()
	if t == nil {
		return joined
	}
	var all []trace.SpanContext
	for _, ctx := range ctxs {
		span := trace.SpanContextFromContext(ctx)
		if span.IsValid() && !containsSpan(all, span) {
			all = append(all, span)
		}
	}
	if len(all) == 0 {
		return joined
	}
	joined = trace.ContextWithSpanContext(joined, all[0])
	if others := all[1:]; len(others) > 0 {
		joined = context.WithValue(joined, linksKey{}, others)
	}
	return joined
}

func containsSpan(all []trace.SpanContext, s trace.SpanContext) bool {
	for _, have := range all {
		if have.Equal(s) {
			return true
		}
	}
	return false
}

type linksKey struct{}

// mostLinks bounds what one call says of the Services it is made for: a read after
// a start is made for hundreds.
const mostLinks = 32

func linksOf(ctx context.Context) []trace.Link {
	others, _ := ctx.Value(linksKey{}).([]trace.SpanContext)
	var out []trace.Link
	for _, s := range others[:min(len(others), mostLinks)] {
		out = append(out, trace.Link{SpanContext: s})
	}
	return out
}
