package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

// world is the surroundings of a test case: testdata/world.yaml, in which the part
// cloud.yaml of the case replaces whole fields.
type world struct {
	Config    string          // text of the cloud configuration
	Nodes     []corev1.Node   // of the cluster
	Pods      []pod           // endpoints of the Service
	Facts     Facts           // as a read brings them
	Before    *corev1.Service // what was found is what this Service had wanted
	BeforeCfg string          // the cloud configuration of that time, if another
	Have      []haveYAML      // found besides, or instead
	Gone      []stack.Key     // not found, although Before wanted it
	Deleted   bool            // the Service is released
	TakeOver  bool            // the plan is empty
	NoTags    bool            // the configuration names no node tags
}

type pod struct {
	Node, IP string
	Unready  bool
	Ending   bool // and not serving any more
}

type haveYAML struct {
	Key       stack.Key
	ID        string
	Ownership stack.Ownership
	Proof     stack.Proof
	State     stack.State
	Spec      json.RawMessage
}

// testCase is one case of testdata.
type testCase struct {
	cases.Case
	service *corev1.Service
	world   world
	config  Config
}

func loadCases(t testing.TB) []testCase {
	t.Helper()
	var out []testCase
	for _, one := range cases.All(t, 90) {
		out = append(out, caseOf(t, one))
	}
	return out
}

func loadCase(t testing.TB, path string) testCase { return caseOf(t, cases.Open(t, path)) }

// caseOf reads a case. Its configuration goes on where that of the world ends.
func caseOf(t testing.TB, one cases.Case) testCase {
	t.Helper()
	c := testCase{Case: one, service: one.Service(t)}
	complete(c.service)
	one.World(t, &c.world, "config", "beforeCfg")
	if before := c.world.Before; before != nil {
		before.Namespace, before.Name, before.UID = c.service.Namespace, c.service.Name, c.service.UID
		complete(before)
	}
	c.config = parseConfig(t, c.world.Config)
	if c.world.NoTags {
		c.config.NodeTags = nil
	}
	return c
}

// complete fills in what the API server does, and the identity of the test vector
// of the official namer.
func complete(svc *corev1.Service) {
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

// loadWorld returns the surroundings of a case that replaces nothing.
func loadWorld(t testing.TB) world {
	t.Helper()
	var w world
	cases.World(t, &w)
	return w
}

func parseConfig(t testing.TB, text string) Config { return cases.Config(t, ReadConfig, text) }

// bundle saves thousands of runs the making of the set.
var bundle = sync.OnceValue(func() *providers.Cloud[Config, *Facts] {
	cloud := Cloud()
	return &cloud
})

// inputOf is what the loop hands to Build.
func inputOf(config Config, svc *corev1.Service, nodes []corev1.Node, pods []pod) (input, annotations.Problems) {
	return cases.Input(bundle(), config, svc, cases.Around{Cluster: "kubernetes", Nodes: nodes, Slices: slicesOf(svc, pods)})
}

// slicesOf are EndpointSlices of the pods, on every port of the Service.
func slicesOf(svc *corev1.Service, pods []pod) []*discoveryv1.EndpointSlice {
	out := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	for _, p := range svc.Spec.Ports {
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &p.Port, Protocol: &p.Protocol})
	}
	for _, p := range pods {
		ready := !p.Unready && !p.Ending
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{p.IP}, NodeName: &p.Node, Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &ready, Terminating: &p.Ending},
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "pod-" + p.IP},
		})
	}
	return []*discoveryv1.EndpointSlice{out}
}

// have is what was found: what Before had wanted, and what the case adds.
func (c testCase) have(t testing.TB) *stack.Stack {
	t.Helper()
	have := &stack.Stack{}
	if c.world.Before != nil {
		config := c.config
		if c.world.BeforeCfg != "" {
			config = parseConfig(t, c.world.BeforeCfg)
		}
		have = c.settled(t, config, c.world.Before)
	}
	for _, k := range c.world.Gone {
		have.Drop(k)
	}
	for _, h := range c.world.Have {
		r := stack.Resource{Key: h.Key, ID: h.ID, Ownership: h.Ownership, Proof: h.Proof, State: h.State, Spec: specOf(t, h)}
		if rule, ok := r.Spec.(Rule); ok {
			r.Slot = RuleSlot(rule.Name)
		}
		have.Put(r)
	}
	have.Owner = cases.OwnerOf(c.service)
	return have
}

// settled is what is there once everything that the Service wants is made.
func (c testCase) settled(t testing.TB, config Config, svc *corev1.Service) *stack.Stack {
	t.Helper()
	var have *stack.Stack
	for range 3 {
		in, _ := inputOf(config, svc, c.world.Nodes, c.world.Pods)
		want, problems, err := build(in, &c.world.Facts, have)
		if err != nil || problems.Errors() {
			t.Fatalf("settled: %v %v", err, problems.Strings())
		}
		have = asFound(want, have)
	}
	return have
}

func specOf(t testing.TB, h haveYAML) stack.Spec {
	t.Helper()
	specs := map[stack.Kind]stack.Spec{
		KindExternalRule: Rule{}, KindInternalRule: Rule{}, KindAddress: Address{}, KindPool: Pool{}, KindBackend: Backend{},
		KindCheck: Check{}, KindRegionalCheck: Check{}, KindHTTPCheck: Check{}, KindGroup: Group{}, KindNEG: NEG{},
		KindFirewall: Firewall{}, KindCheckFirewall: Firewall{}, KindDeny: Firewall{},
	}
	zero, ok := specs[h.Key.Kind]
	if !ok {
		t.Fatalf("no type for kind %s", h.Key.Kind)
	}
	into := reflect.New(reflect.TypeOf(zero))
	if err := yaml.UnmarshalStrict(h.Spec, into.Interface()); err != nil {
		t.Fatalf("%s: %v", h.Key, err)
	}
	return into.Elem().Interface()
}

// asFound turns what is wanted into what a read would bring once it is made.
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
				rule, _ := want.Get(to)
				target, _ := rule.Spec.(Rule)
				r.Spec = spec.At(given(target.IPVersion, target.Scheme, target.IP))
			}
		}
		out.Put(r)
	}

	return out
}

// result is all that the pure half says about a case.
type result struct {
	in       input
	want     *stack.Stack
	have     *stack.Stack
	problems annotations.Problems
}

func (c testCase) run(t testing.TB) result {
	t.Helper()
	r := result{have: c.have(t)}
	in, problems := inputOf(c.config, c.service, c.world.Nodes, c.world.Pods)
	r.in = in
	if c.world.Deleted {
		r.want = &stack.Stack{Owner: r.have.Owner}
		return r
	}
	want, more, err := build(in, &c.world.Facts, r.have)
	if err != nil {
		t.Fatal(err)
	}
	r.problems = append(problems, more...)
	if problems.Errors() {
		want = nil
	}
	r.want = want
	return r
}

// text renders a stack for people.
func text(s *stack.Stack) string { return cases.Text(s, fieldText) }

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
	r := addresses(in, have)
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

// addr is for table tests.
func addr(text string) netip.Addr { return netip.MustParseAddr(text) }
