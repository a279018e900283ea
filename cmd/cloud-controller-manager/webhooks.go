package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/gatehook"
	"github.com/berth-lb/berth/service/validate"
	"github.com/berth-lb/berth/service/webhook"
)

// renewPolicy is the interval at which the webhook reads the policy file.
const renewPolicy = 5 * time.Second

// serveWebhooks starts the admission webhooks, if there are any: in every replica, since the API
// server calls any.
func (m *manager) serveWebhooks(c *config.CompletedConfig) error {
	o := m.flags.webhooks
	if o.Listen == "" {
		return nil
	}
	handlers := map[string]webhook.Handler{}
	if o.Mutating != "" {
		view, err := service.NewGateView(c.Client)
		if err != nil {
			return err
		}
		handlers[gatehook.Path], handlers[gatehook.ServerIDPath] = gatehook.Gates(view.Services), gatehook.ServerIDs()
		m.loops.Go(func() { view.Run(m.stopping) })
	}
	if o.Validating != "" {
		if err := m.validate(c, handlers); err != nil {
			return err
		}
	}
	server, err := webhook.New(c.Client, o, clock.RealClock{}, handlers)
	if err != nil {
		return fmt.Errorf("--webhook: %w", err)
	}
	m.loops.Go(func() {
		if err := server.Run(m.stopping); err != nil {
			klog.Fatal(err)
		}
	})
	return nil
}

// validate adds the handlers that judge Services.
func (m *manager) validate(c *config.CompletedConfig, handlers map[string]webhook.Handler) error {
	entry, admission, err := m.judgement()
	if err != nil {
		return fmt.Errorf("--webhook: %w", err)
	}
	judge := validate.Judge{Cloud: entry, Classes: m.claims(c.ComponentConfig.Generic.LeaderElection), Admission: admission}
	handlers[validate.PathWarn], handlers[validate.PathEnforce] = validate.Handler(judge, false), validate.Handler(judge, true)
	return nil
}

// judgement returns what Services are judged by in every replica: the cloud, and the policy file,
// which is read again.
func (m *manager) judgement() (providers.Entry, *service.Admission, error) {
	entry, err := all.Find(m.cloud.Name)
	if err != nil {
		return providers.Entry{}, nil, err
	}
	entry.Annotations = m.cloud.Annotations // they know the configuration, as in the loop
	admission, err := service.AdmissionOf(m.flags.PolicyConfig, m.flags.AllowedNamespaces, entry.Annotations, entry.Outputs)
	if err != nil {
		return providers.Entry{}, nil, err
	}
	m.loops.Go(func() {
		wait.UntilWithContext(m.stopping, func(context.Context) {
			if _, err := admission.Renew(); err != nil {
				klog.ErrorS(err, "the previous policy stays in force")
			}
		}, renewPolicy)
	})
	return entry, admission, nil
}
