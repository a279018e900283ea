package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/component-base/metrics/prometheus/slis"
	managerapp "k8s.io/controller-manager/app"
	managerhealthz "k8s.io/controller-manager/pkg/healthz"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/service/logkey"
)

// serve listens in the place of the stock program, which has no room for another
// path: with its own parts, in its own order, and with /readyz.
// Source: k8s.io/cloud-provider:app/controllermanager.go (Run).
func (m *manager) serve(c *config.CompletedConfig) error {
	serving := c.SecureServing
	if serving == nil {
		return nil // --secure-port=0
	}
	c.SecureServing = nil // the stock program does not listen then
	handler := managerapp.NewBaseHandler(&c.ComponentConfig.Generic.Debugging, managerhealthz.NewMutableHealthzHandler(m.alive(c)...))
	handler.HandleFunc("/readyz", m.watchers.Health.ServeReady)
	slis.SLIMetricsWithReset{}.Install(handler)
	klog.InfoS("listening", logkey.Addr, serving.Listener.Addr().String())
	_, _, err := serving.Serve(managerapp.BuildHandlerChain(handler, &c.Authorization, &c.Authentication), 0, m.stopped)
	return err
}

// alive are the checks of /healthz.
func (m *manager) alive(c *config.CompletedConfig) []healthz.HealthChecker {
	checks := []healthz.HealthChecker{healthz.PingHealthz, healthz.NamedCheck("workers", func(*http.Request) error { return m.watchers.Health.Alive() })}
	if election := c.ComponentConfig.Generic.LeaderElection; election.LeaderElect {
		lease := &renewals{path: "/namespaces/" + election.ResourceNamespace + "/leases/" + election.ResourceName, limit: election.LeaseDuration.Duration + tolerated}
		c.Kubeconfig.Wrap(lease.listen)
		checks = append(checks, healthz.NamedCheck("leaderElection", func(*http.Request) error {
			return lease.check(time.Now(), m.watchers.Health.Ready().Leads)
		}))
	}
	return checks
}

// tolerated is how long after the end of its lease a leader may go on until it
// counts as stuck; it should have ended by itself long before. Source:
// k8s.io/cloud-provider:app/controllermanager.go (NewLeaderHealthzAdaptor).
const tolerated = 20 * time.Second

// renewals know when the lease was written last. The stock program's own check
// cannot be reached from outside; this one sees the same writes on the wire.
type renewals struct {
	path  string // how the path of the Lease ends
	limit time.Duration
	last  atomic.Int64 // in nanoseconds since 1970
}

func (r *renewals) listen(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode < http.StatusMultipleChoices && r.renews(request) {
			r.last.Store(time.Now().UnixNano())
		}
		return response, err
	})
}

func (r *renewals) renews(request *http.Request) bool {
	switch request.Method {
	case http.MethodPut, http.MethodPatch:
		return strings.HasSuffix(request.URL.Path, r.path)
	}
	return false
}

// check fails for a leader whose lease has ended long ago.
func (r *renewals) check(now time.Time, leads bool) error {
	last := r.last.Load()
	if !leads || last == 0 {
		return nil
	}
	if age := now.Sub(time.Unix(0, last)); age > r.limit {
		return fmt.Errorf("lease: not renewed for %s", age.Round(time.Second))
	}
	return nil
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
