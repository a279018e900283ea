package compute

import (
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// probeFields returns the kinds of health checks by the field that describes them.
func probeFields() map[string]string {
	return map[string]string{
		"httpHealthCheck": "HTTP", "httpsHealthCheck": "HTTPS", "http2HealthCheck": "HTTP2", "tcpHealthCheck": "TCP", "sslHealthCheck": "SSL", "grpcHealthCheck": "GRPC",
	}
}

func intervalSchema() wire.Schema {
	return wire.Schema{
		"checkIntervalSec": {Type: wire.Int}, "timeoutSec": {Type: wire.Int}, "healthyThreshold": {Type: wire.Int}, "unhealthyThreshold": {Type: wire.Int},
	}
}

func healthChecks() *collection {
	schema := withCommonFields(intervalSchema()).With(wire.Schema{
		"type":      {Values: []string{"HTTP", "HTTPS", "HTTP2", "TCP", "SSL", "GRPC"}},
		"logConfig": {Type: wire.Nested, Fields: wire.Schema{"enable": {Type: wire.Truth}}},
	})
	for name, kind := range probeFields() {
		schema[name] = wire.Field{Type: wire.Nested, Fields: probeSchema(kind)}
	}
	verbs := []string{"insert", "update", "patch", "delete"}
	return &collection{
		name: "healthChecks", param: "healthCheck", at: []string{"global", "region"},
		prefix: map[string]string{"region": "regionHealthChecks"}, schema: schema,
		verbs:  map[string][]string{"global": verbs, "region": verbs},
		finish: func(_ *call, _ *entry, doc wire.Object) error { return finishHealthCheck(doc) },
		guard:  requireUnused(link{"backendServices", fieldValues("healthChecks")}),
		quota:  func(wire.Object) string { return "HEALTH_CHECKS" },
	}
}

// probeSchema are the fields of one kind of health check.
func probeSchema(kind string) wire.Schema {
	out := wire.Schema{
		"port": {Type: wire.Int}, "portName": {}, "portSpecification": {Values: []string{"USE_FIXED_PORT", "USE_NAMED_PORT", "USE_SERVING_PORT"}},
	}
	if kind == "GRPC" {
		return out.With(wire.Schema{"grpcServiceName": {}})
	}
	out = out.With(wire.Schema{"response": {}, "proxyHeader": {Values: []string{"NONE", "PROXY_V1"}}})
	if kind == "TCP" || kind == "SSL" {
		return out.With(wire.Schema{"request": {}})
	}
	return out.With(wire.Schema{"host": {}, "requestPath": {}})
}

func finishHealthCheck(doc wire.Object) error {
	if doc.Text("type") == "" {
		return wire.Required("resource.type")
	}
	for name, kind := range probeFields() {
		if kind != doc.Text("type") {
			if doc.Has(name) {
				return wire.Invalid("resource."+name, "", "The field does not belong to a health check of type %s.", doc.Text("type"))
			}
			continue
		}
		doc.Default(name, wire.Object{})
		probe := doc.Object(name)
		if kind == "HTTP" || kind == "HTTPS" || kind == "HTTP2" {
			probe.Default("requestPath", "/")
		}
		if kind != "GRPC" {
			probe.Default("proxyHeader", "NONE")
		}
		if !probe.Has("port") && !probe.Has("portName") && probe.Text("portSpecification") != "USE_SERVING_PORT" {
			probe["port"] = defaultPort(kind)
		}
		if probe.Has("port") {
			if err := checkRange("resource."+name+".port", probe.Num("port"), 1, 65535); err != nil {
				return err
			}
		}
		if path := probe.Text("requestPath"); path != "" && !strings.HasPrefix(path, "/") {
			return wire.Invalid("resource."+name+".requestPath", path, "Must begin with '/'.")
		}
	}
	return finishIntervals(doc)
}

func defaultPort(kind string) float64 {
	if kind == "HTTP" || kind == "TCP" {
		return 80
	}
	return 443
}

// finishIntervals fills in and checks what all health checks share.
// Source: Compute Engine API reference, healthChecks.
func finishIntervals(doc wire.Object) error {
	doc.Default("checkIntervalSec", float64(5))
	doc.Default("timeoutSec", float64(5))
	doc.Default("healthyThreshold", float64(2))
	doc.Default("unhealthyThreshold", float64(2))
	for name, high := range map[string]float64{"checkIntervalSec": 300, "timeoutSec": 300, "healthyThreshold": 10, "unhealthyThreshold": 10} {
		if err := checkRange("resource."+name, doc.Num(name), 1, high); err != nil {
			return err
		}
	}
	if doc.Num("timeoutSec") > doc.Num("checkIntervalSec") {
		return wire.Invalid("resource.timeoutSec", doc.Num("timeoutSec"), "The timeout must not be greater than the check interval.")
	}
	return nil
}

// httpHealthChecks are the old kind, which target pools use.
func httpHealthChecks() *collection {
	return &collection{
		name: "httpHealthChecks", param: "httpHealthCheck", at: []string{"global"},
		schema: withCommonFields(intervalSchema()).With(wire.Schema{"host": {}, "port": {Type: wire.Int}, "requestPath": {}}),
		verbs:  map[string][]string{"global": {"insert", "update", "patch", "delete"}},
		finish: func(_ *call, _ *entry, doc wire.Object) error {
			doc.Default("port", float64(80))
			doc.Default("requestPath", "/")
			if err := checkRange("resource.port", doc.Num("port"), 1, 65535); err != nil {
				return err
			}
			if path := doc.Text("requestPath"); !strings.HasPrefix(path, "/") {
				return wire.Invalid("resource.requestPath", path, "Must begin with '/'.")
			}
			return finishIntervals(doc)
		},
		guard: requireUnused(link{"targetPools", fieldValues("healthChecks")}),
		quota: func(wire.Object) string { return "HEALTH_CHECKS" },
	}
}
