package main

import (
	"fmt"
	"time"

	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/names"
	componentconfig "k8s.io/component-base/config"
	"k8s.io/controller-manager/pkg/leadermigration"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/service/lease"
	"github.com/berth-lb/berth/stack/engine"
)

// guard installs the fence in the transport of all clients of the API server. Without
// leader election there is none, and the process may always write.
func (m *manager) guard(c *config.CompletedConfig) {
	election := c.ComponentConfig.Generic.LeaderElection
	if !election.LeaderElect {
		return
	}
	m.fence = lease.New(lease.Options{
		Namespace: election.ResourceNamespace,
		Name:      leaseOf(c, election),
		Duration:  election.LeaseDuration.Duration,
		Now:       sinceBoot,
		Lost: func(reason error) {
			klog.ErrorS(reason, "leader election lost")
			klog.FlushAndExit(klog.ExitFlushTimeout, 1)
		},
	})
	c.Kubeconfig.Wrap(m.fence.Wrap)
	m.loops.Go(func() { m.fence.Watch(m.stopping, clock.RealClock{}) })
}

// leaseOf returns the name of the Lease under which the service controller runs. With
// leader migration that may be the second one. Source: k8s.io/cloud-provider:
// app/controllermanager.go (Run).
func leaseOf(c *config.CompletedConfig, election componentconfig.LeaderElectionConfiguration) string {
	generic := &c.ComponentConfig.Generic
	if leadermigration.Enabled(generic) {
		migrator := leadermigration.NewLeaderMigrator(&generic.LeaderMigration, "cloud-controller-manager")
		if migrator.FilterFunc(names.ServiceLBController) == leadermigration.ControllerMigrated {
			return generic.LeaderMigration.LeaderName
		}
	}
	return election.ResourceName
}

// writable returns the fence as the loop takes it; nil: there is none.
func (m *manager) writable() engine.Fence {
	if m.fence == nil {
		return nil
	}
	return m.fence
}

// checkLease fails for a leader whose Lease has ended long ago.
func checkLease(f *lease.Fence, limit time.Duration, leads bool) error {
	age, held := f.Age()
	if leads && held && age > limit {
		return fmt.Errorf("lease: not renewed for %s", age.Round(time.Second))
	}
	return nil
}
