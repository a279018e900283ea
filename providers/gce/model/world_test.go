package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

type testCase = cases.Placed[Config, *Facts]

// suite are the cases; making it once saves thousands of runs the making of the set.
var suite = sync.OnceValue(func() cases.Suite[Config, *Facts] {
	cloud := Cloud()
	cloud.Rules = cloud.Rules.WithOrders()
	return cases.Suite[Config, *Facts]{
		Cloud: &cloud, Least: 90, Complete: completeService, Appended: []string{"config", "beforeCfg"}, OnPods: true,
		Found: asFound, Rest: onlyReleases, Field: fieldText, Carried: statusText,
		Config: func(c *Config, w cases.World[*Facts]) {
			if w.NoTags {
				c.NodeTags = nil
			}
		},
		Slot: func(spec stack.Spec) string {
			if rule, ok := spec.(Rule); ok {
				return RuleSlot(rule.Name)
			}
			return ""
		},
		Specs: map[stack.Kind]stack.Spec{
			KindExternalRule: Rule{}, KindInternalRule: Rule{}, KindAddress: Address{}, KindPool: Pool{}, KindBackend: Backend{},
			KindCheck: Check{}, KindRegionalCheck: Check{}, KindHTTPCheck: Check{}, KindGroup: Group{}, KindNEG: NEG{},
			KindFirewall: Firewall{}, KindCheckFirewall: Firewall{}, KindDeny: Firewall{},
		},
	}
})

// readCase is a case with what is built from, for tests that build it many times.
type readCase struct {
	testCase
	in       input
	problems annotations.Problems
}

func readCases(t testing.TB) []readCase {
	t.Helper()
	var out []readCase
	for _, c := range suite().All(t) {
		in, problems := c.Input(c.Service)
		out = append(out, readCase{c, in, problems})
	}
	return out
}

// inputOf is what the loop hands to Build, with no pods.
func inputOf(config Config, svc *corev1.Service, nodes []corev1.Node) (input, annotations.Problems) {
	return cases.Input(suite().Cloud, config, svc, cases.Around{Cluster: "kubernetes", Nodes: nodes, Slices: cases.SlicesOf(svc, nil)})
}

// completeService sets what the API server sets, and the identity of the test vector of
// the official namer.
func completeService(svc *corev1.Service) {
	if svc.Name == "" {
		svc.Name = "name"
	}
	if svc.Namespace == "" {
		svc.Namespace = "namespace"
	}
	svc.UID = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	if svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && svc.Spec.HealthCheckNodePort == 0 {
		svc.Spec.HealthCheckNodePort = 32100
	}
}

// asFound turns the desired state into what a read would return once it is created.
func asFound(want, before *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: want.Owner}
	ips := map[string]string{VersionIPv4: "203.0.113.77", VersionIPv6: "2001:db8:f::"}
	internal := map[string]string{VersionIPv4: "10.128.0.77", VersionIPv6: "fd20::77:0:0"}
	given := func(version, scheme, ip string) string {
		switch {
		case ip != "":
			return ip
		case scheme == SchemeInternal:
			return internal[version]
		}
		return ips[version]
	}
	for _, r := range want.Resources {
		if r.Ownership == stack.External {
			continue
		}
		r.ID, r.Proof = "id-of-"+r.Key.String(), stack.Name
		switch spec := r.Spec.(type) {
		case Rule:
			spec.IP, spec.Wish, spec.Address = given(spec.IPVersion, spec.Scheme, spec.IP), false, stack.Ref{}
			r.Spec = spec
		case Address:
			spec.IP = given(spec.IPVersion, spec.Type, spec.IP)
			r.Spec = spec
		case Firewall:
			if to := spec.Destination.To; to != (stack.Key{}) {
				target, _ := stack.SpecOf[Rule](want, to)
				r.Spec = spec.At(given(target.IPVersion, target.Scheme, target.IP))
			}
		}
		out.Put(r)
	}

	return out
}

func fieldText(value any) string {
	var raw strings.Builder
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value)
	switch v := strings.TrimSpace(raw.String()); v {
	case `""`, "null", "0", "[]", "{}", "false", `{"List":null,"Range":"","All":false}`:
		return ""
	default:
		return cases.Short(v)
	}
}

func planText(p plan.Plan) string { return cases.PlanText("gce", p) }

// statusText is what the Service would carry.
func statusText(in input, have *stack.Stack) string {
	r := statusOf(in, have)
	var b strings.Builder
	for _, i := range r.Ingress {
		fmt.Fprintf(&b, "ip %s\n", i.IP)
	}
	for _, k := range slices.Sorted(maps.Keys(r.Annotations)) {
		if v := r.Annotations[k]; v != "" {
			fmt.Fprintf(&b, "%s: %s\n", k, v)
		}
	}
	fmt.Fprintf(&b, "finalizers %s\n", strings.Join(r.Finalizers, " "))
	return b.String()
}

// parseAddr is for table tests.
func parseAddr(text string) netip.Addr { return netip.MustParseAddr(text) }
