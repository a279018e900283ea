package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/console"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/service/webhook"
	"github.com/berth-lb/berth/stack/plan"
)

// Reviews per second that the users of the page may cause. They have a client of their own, so that
// they never delay the loop.
const (
	reviewsPerSecond = 200
	reviewsAtOnce    = 400
)

// servePage starts the page of Services, if there is one: in every replica, from its own caches.
func (m *manager) servePage(c *config.CompletedConfig) error {
	site := m.flags.page
	if site.Listen == "" {
		return nil
	}
	conf := rest.CopyConfig(c.Kubeconfig)
	conf.QPS, conf.Burst = reviewsPerSecond, reviewsAtOnce
	client, err := kubernetes.NewForConfig(conf)
	if err != nil {
		return fmt.Errorf("--ui-listen: %w", err)
	}
	services, err := service.NewPageView(client)
	if err != nil {
		return fmt.Errorf("--ui-listen: %w", err)
	}
	sources, err := m.pageSources(c, services)
	if err != nil {
		return fmt.Errorf("--ui-listen: %w", err)
	}
	shown := console.New(sources, console.NewAccess(client, clock.RealClock{}), clock.RealClock{})
	m.loops.Go(func() { services.Run(m.stopping) })
	m.loops.Go(func() {
		if err := webhook.Serve(m.stopping, c.Client, "page", site, clock.RealClock{}, shown.Handler()); err != nil {
			klog.Fatalf("--ui-listen: %v", err)
		}
	})
	return nil
}

// pageSources returns where the page takes its documents from.
func (m *manager) pageSources(c *config.CompletedConfig, services *service.ClusterView) (console.Sources, error) {
	entry, admission, err := m.judgement()
	if err != nil {
		return console.Sources{}, err
	}
	shared := c.ComponentConfig.KubeCloudShared
	target := offline.Target{
		Cloud: entry, CloudConfig: shared.CloudProvider.CloudConfigFile, ClusterName: shared.ClusterName, Settings: m.flags.Settings,
		Installation: m.claims(c.ComponentConfig.Generic.LeaderElection).Installation,
	}
	return console.Sources{
		Provider: entry.Name, Services: services.All,
		State: func(ctx context.Context, all []*corev1.Service) (view.Fleet, error) {
			return offline.StateOf(ctx, all, offline.Judge{Target: target, Now: time.Now()})
		},
		Problems: func(svc *corev1.Service) []plan.Problem {
			return service.PublicProblems(service.JudgeFields(svc, reconcile.OwnerOf(svc), entry, admission).Problems)
		},
		Memory: m.memory,
	}, nil
}

// memory returns what this replica knows of the cloud; nil: another one leads.
func (m *manager) memory() console.Memory {
	if r := m.leading.Load(); r != nil {
		return r
	}
	return nil
}
