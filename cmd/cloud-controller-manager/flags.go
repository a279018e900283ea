package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/settings"
	"github.com/berth-lb/berth/service/webhook"
)

// flags are the flags that the stock program does not have.
type flags struct {
	settings.Settings
	driftInterval time.Duration
	apiShare      float64
	watch         watchFlags
	webhooks      webhook.Options
	page          webhook.Site
}

func newFlags() *flags { return &flags{} }

func (f *flags) register(set *pflag.FlagSet) {
	f.Register(set)
	set.DurationVar(&f.driftInterval, "drift-interval", 30*time.Minute, "age at which the observed state of a load balancer is read again and compared")
	set.Float64Var(&f.apiShare, "api-share", kit.DefaultShare, "part of the cloud's documented API rates that is used; the rest is left to other programs of the account. More than 1 where the cloud has raised them, inf to be guided by refusals alone")
	f.watch.register(set)
	set.StringVar(&f.webhooks.Listen, "webhook-listen", "", "address on which the admission webhooks listen, such as :9443; empty: there are none")
	set.StringSliceVar(&f.webhooks.Hosts, "webhook-host", nil, "name or address by which the API server calls the webhooks; may be given several times")
	set.StringVar(&f.webhooks.Secret, "webhook-secret", "", "namespace/name of the Secret in which the webhooks keep their certificate; it must exist, and may be empty")
	set.StringVar(&f.webhooks.Mutating, "webhook-mutating-configuration", "", "name of the MutatingWebhookConfiguration that adds readiness gates to pods; its caBundle is kept")
	set.StringVar(&f.webhooks.Validating, "webhook-validating-configuration", "", "name of the ValidatingWebhookConfiguration that validates Services; its caBundle is kept")
	set.StringVar(&f.page.Listen, "ui-listen", "", "address on which the page of Services listens, such as :9444; empty: there is none. Each user needs a token of the cluster, and sees the Services that it may list")
	set.StringSliceVar(&f.page.Hosts, "ui-host", nil, "name or address by which users call the page; may be given several times")
	set.StringVar(&f.page.Secret, "ui-secret", "", "namespace/name of the Secret in which the page keeps its certificate; it must exist, and may be empty")
}
