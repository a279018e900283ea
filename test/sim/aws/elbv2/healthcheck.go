package elbv2

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// healthWish is what a call says of health checks; nil and "" mean nothing.
type healthWish struct {
	enabled                               *bool
	protocol, port, path, http            string
	interval, timeout, healthy, unhealthy *int
}

const trafficPort = "traffic-port"

func (c *call) readHealth() healthWish {
	w := healthWish{
		enabled:   c.Flag("HealthCheckEnabled"),
		protocol:  c.Text("HealthCheckProtocol", lbkit.OneOf(targetProtocols()...)),
		port:      c.Str("HealthCheckPort"),
		path:      c.Text("HealthCheckPath", lbkit.Length(1, 1024)),
		interval:  c.Number("HealthCheckIntervalSeconds", 5, 300),
		timeout:   c.Number("HealthCheckTimeoutSeconds", 2, 120),
		healthy:   c.Number("HealthyThresholdCount", 2, 10),
		unhealthy: c.Number("UnhealthyThresholdCount", 2, 10),
	}
	if m := c.Within("Matcher"); m != nil {
		w.http = m.Str("HttpCode")
	}
	return w
}

// defaultHealth is the health check of a group before its wish is applied.
// Source: API reference, CreateTargetGroup; target group pages of the guides.
func (tg *targetGroup) defaultHealth(w healthWish) healthCheck {
	h := healthCheck{Enabled: true, Protocol: "TCP", Port: trafficPort, Interval: 30, Timeout: 10, Healthy: 5, Unhealthy: 2}
	if w.protocol == "HTTP" {
		h.Timeout = 6
	}
	// A wished interval below the default timeout lowers the timeout with it, for
	// groups in which the two may be equal.
	if w.interval != nil && *w.interval < h.Timeout {
		h.Timeout = *w.interval
	}
	return h
}

// mergeHealth applies a wish and checks the outcome.
func (tg *targetGroup) mergeHealth(w healthWish) error {
	h := tg.Health
	set := func(to *int, v *int) {
		if v != nil {
			*to = *v
		}
	}
	set(&h.Interval, w.interval)
	set(&h.Timeout, w.timeout)
	set(&h.Healthy, w.healthy)
	set(&h.Unhealthy, w.unhealthy)
	if w.enabled != nil {
		h.Enabled = *w.enabled
	}
	if w.protocol != "" {
		h.Protocol = w.protocol
	}
	if w.port != "" {
		h.Port = w.port
	}
	if err := tg.checkHealth(h); err != nil {
		return err
	}
	if err := tg.mergePath(&h, w); err != nil {
		return err
	}
	tg.Health = h
	return nil
}

func (tg *targetGroup) checkHealth(h healthCheck) error {
	if !h.Enabled {
		return query.Errorf("ValidationError", "Health check enabled must be true for target groups with target type '%s'", tg.TargetType)
	}
	allowed := []string{"HTTP", "HTTPS", "TCP"}
	if !slices.Contains(allowed, h.Protocol) {
		return query.Errorf("ValidationError", "Health check protocol '%s' must be one of '%s'", h.Protocol, strings.Join(allowed, ", "))
	}
	if n, err := strconv.Atoi(h.Port); h.Port != trafficPort && (err != nil || n < 1 || n > 65535) {
		return query.Errorf("ValidationError", "Health check port '%s' must be '%s' or a port number from '1' to '65535'", h.Port, trafficPort)
	}
	if h.Interval < h.Timeout {
		return query.Errorf("ValidationError", "Health check timeout '%d' must be smaller than or equal to the interval '%d'", h.Timeout, h.Interval)
	}
	return nil
}

// mergePath settles path and matcher, which only HTTP health checks have.
func (tg *targetGroup) mergePath(h *healthCheck, w healthWish) error {
	if h.Protocol == "TCP" {
		if w.path != "" {
			return query.Errorf("ValidationError", "Health check path is not supported for health checks with the TCP protocol")
		}
		if w.http != "" {
			return query.Errorf("ValidationError", "Custom health check matchers are not supported for health checks with the TCP protocol")
		}
		h.Path, h.HTTPCode = "", ""
		return nil
	}
	h.Path = firstNonEmpty(w.path, h.Path, "/")
	if !strings.HasPrefix(h.Path, "/") {
		return query.Errorf("ValidationError", "Health check path '%s' must begin with '/'", h.Path)
	}
	h.HTTPCode = firstNonEmpty(w.http, h.HTTPCode, "200-399")
	return checkCodes(h.HTTPCode, 200, 599)
}

func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func selectText(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

var codePattern = regexp.MustCompile(`^\d{1,3}(-\d{1,3})?$`)

// checkCodes checks "200", "200,202" or "200-299" and combinations.
func checkCodes(codes string, lo, hi int) error {
	for part := range strings.SplitSeq(codes, ",") {
		part = strings.TrimSpace(part)
		bad := !codePattern.MatchString(part)
		for code := range strings.SplitSeq(part, "-") {
			n, err := strconv.Atoi(code)
			bad = bad || err != nil || n < lo || n > hi
		}
		if bad {
			return query.Errorf("ValidationError", "Health check matcher HTTP code '%s' must be within '%d-%d' inclusive", codes, lo, hi)
		}
	}
	return nil
}
