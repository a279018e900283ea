package elbv2

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

const trafficPort = "traffic-port"

// healthCheck is what a call says of health checks, where "", 0 and nil mean nothing, and the
// health check of a group, kept and answered.
type healthCheck struct {
	HealthProtocol string  `xml:"HealthCheckProtocol,omitempty" enum:"HTTP|HTTPS|TCP|TLS|UDP|TCP_UDP|GENEVE|QUIC|TCP_QUIC"`
	HealthPort     string  `xml:"HealthCheckPort,omitempty"`
	Enabled        *bool   `xml:"HealthCheckEnabled"`
	Interval       int     `xml:"HealthCheckIntervalSeconds" range:"5..300"`
	Timeout        int     `xml:"HealthCheckTimeoutSeconds" range:"2..120"`
	Healthy        int     `xml:"HealthyThresholdCount" range:"2..10"`
	Unhealthy      int     `xml:"UnhealthyThresholdCount" range:"2..10"`
	Path           string  `xml:"HealthCheckPath,omitempty" length:"1..1024"`
	Matcher        matcher `xml:",omitempty"`
}

type matcher struct {
	HTTPCode string `xml:"HttpCode"`
}

// defaultHealth is the health check of a group before its wish is applied.
// Source: API reference, CreateTargetGroup; target group pages of the guides.
func (tg *targetGroup) defaultHealth(w healthCheck) healthCheck {
	enabled := true
	h := healthCheck{Enabled: &enabled, HealthProtocol: "TCP", HealthPort: trafficPort, Interval: 30, Timeout: 10, Healthy: 5, Unhealthy: 2}
	if w.HealthProtocol == "HTTP" {
		h.Timeout = 6
	}
	// A wished interval below the default timeout lowers the timeout with it, for
	// groups in which the two may be equal.
	if w.Interval != 0 && w.Interval < h.Timeout {
		h.Timeout = w.Interval
	}
	return h
}

// mergeHealth applies a wish and checks the outcome.
func (tg *targetGroup) mergeHealth(w healthCheck) error {
	h := tg.healthCheck
	lbkit.Overlay(&h, w)
	if err := tg.checkHealth(h); err != nil {
		return err
	}
	if err := h.settlePath(w); err != nil {
		return err
	}
	tg.healthCheck = h
	return nil
}

func (tg *targetGroup) checkHealth(h healthCheck) error {
	if !*h.Enabled {
		return query.Errorf("ValidationError", "Health check enabled must be true for target groups with target type '%s'", tg.TargetType)
	}
	allowed := []string{"HTTP", "HTTPS", "TCP"}
	if !slices.Contains(allowed, h.HealthProtocol) {
		return query.Errorf("ValidationError", "Health check protocol '%s' must be one of '%s'", h.HealthProtocol, strings.Join(allowed, ", "))
	}
	if n, err := strconv.Atoi(h.HealthPort); h.HealthPort != trafficPort && (err != nil || n < 1 || n > 65535) {
		return query.Errorf("ValidationError", "Health check port '%s' must be '%s' or a port number from '1' to '65535'", h.HealthPort, trafficPort)
	}
	if h.Interval < h.Timeout {
		return query.Errorf("ValidationError", "Health check timeout '%d' must be smaller than or equal to the interval '%d'", h.Timeout, h.Interval)
	}
	return nil
}

// settlePath checks path and matcher, which only HTTP health checks have, after a wish.
func (h *healthCheck) settlePath(w healthCheck) error {
	if h.HealthProtocol == "TCP" {
		if w.Path != "" {
			return query.Errorf("ValidationError", "Health check path is not supported for health checks with the TCP protocol")
		}
		if w.Matcher.HTTPCode != "" {
			return query.Errorf("ValidationError", "Custom health check matchers are not supported for health checks with the TCP protocol")
		}
		h.Path, h.Matcher = "", matcher{}
		return nil
	}
	h.Path = cmp.Or(h.Path, "/")
	if !strings.HasPrefix(h.Path, "/") {
		return query.Errorf("ValidationError", "Health check path '%s' must begin with '/'", h.Path)
	}
	h.Matcher.HTTPCode = cmp.Or(h.Matcher.HTTPCode, "200-399")
	return checkCodes(h.Matcher.HTTPCode, 200, 599)
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
