package elb

import (
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// defaultHealth is the health check of a new load balancer.
// Source: Classic Load Balancers guide, "configure health checks".
func defaultHealth(instancePort int) healthCheck {
	return healthCheck{
		Target: "TCP:" + strconv.Itoa(instancePort), Interval: 30, Timeout: 5, UnhealthyThreshold: 2, HealthyThreshold: 10,
	}
}

type configureHealthCheckInput struct {
	HealthCheck healthCheck `required:"true"`
	ofBalancer
}

func configureHealthCheck(_ *call, lb *loadBalancer, in configureHealthCheckInput) (any, error) {
	h := in.HealthCheck
	if err := checkTarget(h.Target); err != nil {
		return nil, err
	}
	if h.Timeout >= h.Interval {
		return nil, query.Errorf("ValidationError", "HealthCheck timeout must be less than interval")
	}
	lb.Health = h
	return struct{ HealthCheck healthCheck }{h}, nil
}

// checkTarget checks PROTOCOL:port[/path]; HTTP and HTTPS need the path, TCP and SSL take none.
func checkTarget(target string) error {
	protocol, rest, found := strings.Cut(target, ":")
	port, path, hasPath := strings.Cut(rest, "/")
	web := false
	switch strings.ToUpper(protocol) {
	case "HTTP", "HTTPS":
		web = true
	case "TCP", "SSL":
	default:
		return query.Errorf("ValidationError", "HealthCheck Target must begin with one of HTTP, TCP, HTTPS, SSL")
	}
	if n, err := strconv.Atoi(port); !found || err != nil || n < 1 || n > 65535 {
		return query.Errorf("ValidationError", "HealthCheck Target must specify a port followed by a path that begins with '/', with a port from 1 to 65535. e.g. HTTP:80/ping")
	}
	switch {
	case web && !hasPath:
		return query.Errorf("ValidationError", "HealthCheck HTTP Target must specify a port followed by a path that begins with '/'. e.g. HTTP:80/ping/this/path")
	case !web && hasPath:
		return query.Errorf("ValidationError", "HealthCheck %s Target must specify a port only. e.g. %s:80", strings.ToUpper(protocol), strings.ToUpper(protocol))
	case len(path) >= 1024:
		return query.Errorf("ValidationError", "HealthCheck Target path cannot be longer than 1024 characters")
	}
	return nil
}
