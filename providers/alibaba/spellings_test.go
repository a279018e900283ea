package alibaba_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
)

// oldPrefix begins the deprecated spelling of keys.
const oldPrefix = domain + "alicloud-loadbalancer-"

// TestEverySpelling: the deprecated spelling of each key means what the present one does, and an empty present one
// hides it.
func TestEverySpelling(t *testing.T) {
	seed := onAlibaba().Start(t, withUsers(2)).Cloud.Seed
	for kind, list := range map[string][]account.KeyCase{model.CLB: keyCases(seed), model.NLB: netKeyCases(seed)} {
		for _, k := range list {
			present := withKeys(append(slices.Clone(k.With), k.Key, k.Value)...)
			deprecated := map[string]string{}
			for key, value := range present {
				deprecated[oldPrefix+strings.TrimPrefix(key, prefix)] = value
			}
			hidden := maps.Clone(deprecated)
			hidden[prefix+k.Key] = ""
			want := desiredText(t, kind, seed, present)
			if got := desiredText(t, kind, seed, deprecated); got != want {
				t.Errorf("%s, %s: the deprecated spelling means\n%s\nand the present one\n%s", kind, k.Key, got, want)
			}
			if desiredText(t, kind, seed, hidden) == want {
				t.Errorf("%s, %s: an empty present spelling does not hide the deprecated one", kind, k.Key)
			}
		}
	}
}

// usersBalancer returns the load balancer of the user as a read for a Service that names it finds it, with its server group.
func usersBalancer(kind string, seed simalibaba.Seed) *stack.Stack {
	lb, group := stack.Resource{Ownership: stack.External}, stack.Resource{Proof: stack.Derived}
	if kind == model.CLB {
		lb.Key, lb.ID, lb.Spec = stack.Key{Kind: model.KindBalancer}, seed.Users, model.Balancer{Name: "users", AddressType: "internet", IPVersion: "ipv4"}
		group.Key, group.ID, group.Spec = model.GroupKey("30080"), seed.UsersGroup, model.VServerGroup{Shared: true}
	} else {
		lb.Key, lb.ID, lb.Spec = stack.Key{Kind: model.KindNetBalancer}, seed.UsersNet, model.NetBalancer{Name: "users", AddressType: "Internet", IPVersion: "ipv4"}
		group.Key, group.ID, group.Spec = model.ServerGroupKey("30080", "TCP"), seed.UsersNetGroup, model.ServerGroup{Protocol: "TCP", Type: "Instance", IPVersion: "ipv4", Shared: true}
	}
	return &stack.Stack{Resources: []stack.Resource{lb, group}}
}

// desiredText returns the reads for a Service, its desired state and its errors, with the deprecated spelling in the words of the
// present one.
func desiredText(t *testing.T, kind string, seed simalibaba.Seed, notes map[string]string) string {
	t.Helper()
	svc := props.Service("web", notes).Service
	if kind == model.NLB && notes[oldPrefix+"zone-maps"]+notes[oldPrefix+"id"] == "" {
		asNet(svc)
	}
	in := model.Input{Service: svc, Kind: kind}
	for _, v := range seed.VSwitches {
		in.Config.VSwitches = append(in.Config.VSwitches, v.ID)
	}
	values, problems := model.Annotations().Parse(kind, annotations.SourceOf(svc))
	in.Values = values
	interner := nodeports.NewInterner()
	interner.Update(props.Project(seed.KubernetesNodes()))
	in.Backends = nodeports.BackendsOf(svc, interner.Select(model.SelectNodes(in)), nil, nodeports.FallbackPerService)
	var have *stack.Stack
	if notes[prefix+"id"]+notes[oldPrefix+"id"] != "" {
		have = usersBalancer(kind, seed)
	}
	want, more, err := model.Build(in, nil, have)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := model.Scope(in)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintln(&out, scope.Own)
	if want != nil {
		for _, r := range want.Resources {
			fmt.Fprintf(&out, "%s %+v\n", r.Key, r.Spec)
		}
	}
	for _, p := range append(problems, more...) {
		if p.Severity == annotations.Error {
			fmt.Fprintln(&out, p)
		}
	}
	return strings.ReplaceAll(out.String(), oldPrefix, prefix)
}
