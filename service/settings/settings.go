package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/stack/plan"
)

// The values of --on-takeover.
const (
	converge = "converge"
	keep     = "keep"
)

// Settings are what the flags say. The zero value is not that of the flags'
// defaults; Register sets those.
type Settings struct {
	Classes          []string
	DefaultClass     bool
	ReleaseUnclaimed bool
	DryRun           bool
	Policies         []string
	OnTakeover       string
	// PolicyConfig is the path of the policy file; empty: there is none.
	PolicyConfig string
	// AllowedNamespaces are patterns of those whose Services are served; none: all.
	AllowedNamespaces []string
	// OwnPods sends to addresses of EndpointSlices only if Pods of their namespace have them.
	OwnPods bool
	// ReadinessGates sets the conditions by which pods wait for their load balancers.
	ReadinessGates bool
}

// Register adds the flags to a set.
func (s *Settings) Register(set *pflag.FlagSet) {
	set.StringSliceVar(&s.Classes, "load-balancer-class", nil, "values of spec.loadBalancerClass that the controller serves; may be given several times")
	set.BoolVar(&s.DefaultClass, "default-class", true, "serve Services without a loadBalancerClass; set to false when installed beside another controller")
	set.BoolVar(&s.ReleaseUnclaimed, "release-unclaimed", false, "delete the load balancers of Services that the controller served and no longer serves because its own flags changed")
	set.BoolVar(&s.DryRun, "dry-run", false, "plan only: write nothing to the cloud, and say in conditions and events what would be done")
	set.StringSliceVar(&s.Policies, "policy", nil, "what must not be done: "+strings.Join(policyNames(), ", "))
	set.StringVar(&s.OnTakeover, "on-takeover", converge, "what to do where the load balancer of another controller differs and no traffic depends on it: "+converge+", or "+keep+" it until the Service or its nodes change")
	set.StringVar(&s.PolicyConfig, "policy-config", "", "file that says what Services of which namespace may ask for; the controller reads it again when it changes")
	set.BoolVar(&s.OwnPods, "own-pods", false, "where load balancers send to pods, send only to addresses that a Pod of the Service's namespace has, whatever its EndpointSlices say; needs the right to list and watch pods")
	set.BoolVar(&s.ReadinessGates, "readiness-gates", false, "where load balancers send to pods, tell pods that have a readiness gate for it when they are healthy behind them; needs the right to list and watch pods and to patch pods/status")
	set.StringSliceVar(&s.AllowedNamespaces, "allowed-namespaces", nil, "namespaces whose Services are served, * stands for any text; without it all are")
}

type namedPolicy struct {
	name   string
	policy plan.StepFilter
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

// Values are the legal values of the flags that take one of a few words, for
// completion in a shell.
func Values() map[string][]string {
	return map[string][]string{"policy": policyNames(), "on-takeover": {converge, keep}}
}

// KeepsDrift reads --on-takeover; the error lists the legal values.
func (s *Settings) KeepsDrift() (bool, error) {
	switch s.OnTakeover {
	case converge, keep:
		return s.OnTakeover == keep, nil
	}
	return false, fmt.Errorf("--on-takeover %q is not known; legal: %s, %s", s.OnTakeover, converge, keep)
}

// PlanPolicies returns the policies of --dry-run and --policy; the error lists the
// legal values.
func (s *Settings) PlanPolicies() ([]plan.StepFilter, error) {
	var out []plan.StepFilter
	if s.DryRun {
		out = append(out, plan.DryRun)
	}
	for _, name := range s.Policies {
		i := slices.IndexFunc(allPolicies(), func(p namedPolicy) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("--policy %q is not known; legal: %s", name, strings.Join(policyNames(), ", "))
		}
		out = append(out, allPolicies()[i].policy)
	}
	return out, nil
}

// Serves says which Services are served; classes are those of the cloud's own
// controllers, which are ours where we take their place.
func (s *Settings) Serves(classes []string) service.Classes {
	out := service.Classes{Default: s.DefaultClass, Names: slices.Clone(s.Classes), ReleaseUnclaimed: s.ReleaseUnclaimed}
	if s.DefaultClass {
		out.Names = append(out.Names, classes...)
	}
	return out
}
