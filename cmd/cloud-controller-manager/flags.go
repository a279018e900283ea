package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/berth-lb/berth/stack/plan"
)

// flags are those that the stock program does not have.
type flags struct {
	classes          []string
	defaultClass     bool
	releaseUnclaimed bool
	driftInterval    time.Duration
	dryRun           bool
	policies         []string
	onTakeover       string
	policyConfig     string
	namespaces       []string
	watch            watchFlags
}

// The values of --on-takeover.
const (
	converge = "converge"
	keep     = "keep"
)

func newFlags() *flags { return &flags{} }

func (f *flags) register(set *pflag.FlagSet) {
	set.StringSliceVar(&f.classes, "load-balancer-class", nil, "values of spec.loadBalancerClass that this controller serves; may be given several times")
	set.BoolVar(&f.defaultClass, "default-class", true, "serve Services without a loadBalancerClass; set to false when installed beside another controller")
	set.BoolVar(&f.releaseUnclaimed, "release-unclaimed", false, "delete the load balancers of Services that this controller served and no longer serves because its own flags changed")
	set.DurationVar(&f.driftInterval, "drift-interval", 30*time.Minute, "age at which what is known of a load balancer is read anew and compared")
	set.BoolVar(&f.dryRun, "dry-run", false, "plan only: write nothing to the cloud, and say in conditions and events what would be done")
	set.StringVar(&f.onTakeover, "on-takeover", converge, "what to do where the load balancer of another controller differs and no traffic depends on it: "+converge+", or "+keep+" it until the Service or its nodes change")
	set.StringVar(&f.policyConfig, "policy-config", "", "file that says what Services of which namespace may ask for; read again when it changes")
	set.StringSliceVar(&f.namespaces, "allowed-namespaces", nil, "namespaces whose Services are served, * stands for any text; without it all are")
	f.watch.register(set)
	set.StringSliceVar(&f.policies, "policy", nil, "what must not be done: "+strings.Join(policyNames(), ", "))
}

type namedPolicy struct {
	name   string
	policy plan.Policy
}

func allPolicies() []namedPolicy {
	return []namedPolicy{{"no-delete", plan.NoDelete}, {"no-replace", plan.NoReplace}, {"no-interrupt", plan.NoInterrupt}}
}

func policyNames() []string {
	var out []string
	for _, p := range allPolicies() {
		out = append(out, p.name)
	}
	return out
}

// keepsDrift reads --on-takeover.
func (f *flags) keepsDrift() (bool, error) {
	switch f.onTakeover {
	case converge, keep:
		return f.onTakeover == keep, nil
	}
	return false, fmt.Errorf("--on-takeover %q is not known; legal: %s, %s", f.onTakeover, converge, keep)
}

// planPolicies returns the policies that were asked for.
func (f *flags) planPolicies() ([]plan.Policy, error) {
	var out []plan.Policy
	if f.dryRun {
		out = append(out, plan.DryRun)
	}
	for _, name := range f.policies {
		found := false
		for _, p := range allPolicies() {
			if p.name == name {
				out, found = append(out, p.policy), true
			}
		}
		if !found {
			return nil, fmt.Errorf("--policy %q is not known; legal: %s", name, strings.Join(policyNames(), ", "))
		}
	}
	return out, nil
}
