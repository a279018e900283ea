package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/gatehook"
	"github.com/berth-lb/berth/service/settings"
)

// flags are the flags that the stock program does not have.
type flags struct {
	settings.Settings
	driftInterval time.Duration
	apiShare      float64
	watch         watchFlags
	gates         gatehook.Options
}

func newFlags() *flags { return &flags{} }

func (f *flags) register(set *pflag.FlagSet) {
	f.Register(set)
	set.DurationVar(&f.driftInterval, "drift-interval", 30*time.Minute, "age at which the observed state of a load balancer is read again and compared")
	set.Float64Var(&f.apiShare, "api-share", kit.DefaultShare, "part of the cloud's documented API rates that is used; the rest is left to other programs of the account. More than 1 where the cloud has raised them, inf to be guided by refusals alone")
	f.watch.register(set)
	set.StringVar(&f.gates.Listen, "gate-webhook-listen", "", "address on which the webhook listens that gives the readiness gates of their load balancers to new pods, such as :9443; empty: there is none")
	set.StringSliceVar(&f.gates.Hosts, "gate-webhook-host", nil, "name or address by which the API server calls the webhook; may be given several times")
	set.StringVar(&f.gates.Secret, "gate-webhook-secret", "", "namespace/name of the Secret in which the webhook keeps its certificate; it must exist, and may be empty")
	set.StringVar(&f.gates.Configuration, "gate-webhook-configuration", "", "name of the MutatingWebhookConfiguration that calls the webhook; its caBundle is kept")
}
