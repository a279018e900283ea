package main

import (
	"net/http"
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
	if m.fence != nil {
		limit := c.ComponentConfig.Generic.LeaderElection.LeaseDuration.Duration + tolerated
		checks = append(checks, healthz.NamedCheck("leaderElection", func(*http.Request) error {
			return checkLease(m.fence, limit, m.watchers.Health.Ready().Leads)
		}))
	}
	return checks
}

// tolerated is how long after the end of its Lease a leader may run until it counts as
// stuck; it should have ended by itself long before. Source:
// k8s.io/cloud-provider:app/controllermanager.go (NewLeaderHealthzAdaptor).
const tolerated = 20 * time.Second
