package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

// world is the surroundings of a test case: testdata/world.yaml, in which the part
// cloud.yaml of the case replaces whole fields.
type world struct {
	Config       string                       // text of the cloud configuration
	ClusterName  string                       // --cluster-name
	Nodes        []corev1.Node                // of the cluster
	Facts        Facts                        // as a read brings them
	Slices       []*discoveryv1.EndpointSlice // of the Service
	Before       *corev1.Service              // what was found is what this Service had wanted
	BeforeSlices []*discoveryv1.EndpointSlice // of that time; nil: the same
	BeforeCfg    string                       // the cloud configuration of that time, if another
	Have         []haveYAML                   // found besides, or instead
	Gone         []stack.Key                  // not found, although Before wanted it
	Deleted      bool                         // the Service is released
}

type haveYAML struct {
	Key       stack.Key
	ID        string
	In        stack.Key
	Ownership stack.Ownership
	Slot      string
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
	for _, one := range cases.All(t, 60) {
		out = append(out, caseOf(t, one))
	}
	return out
}

func loadCase(t testing.TB, path string) testCase { return caseOf(t, cases.Open(t, path)) }

func caseOf(t testing.TB, one cases.Case) testCase {
	t.Helper()
	c := testCase{Case: one, service: one.Service(t)}
	one.World(t, &c.world)
	if c.world.Before != nil {
		c.world.Before.Namespace, c.world.Before.Name, c.world.Before.UID = c.service.Namespace, c.service.Name, c.service.UID
	}
	c.config = parseConfig(t, c.world.Config)
	return c
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
func inputOf(config Config, clusterName string, svc *corev1.Service, nodes []corev1.Node, pods ...*discoveryv1.EndpointSlice) (input, annotations.Problems) {
	return cases.Input(bundle(), config, svc, cases.Around{Cluster: clusterName, Nodes: nodes, Slices: pods})
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
		pods := c.world.BeforeSlices
		if pods == nil {
			pods = c.world.Slices
		}
		in, _ := inputOf(config, c.world.ClusterName, c.world.Before, c.world.Nodes, pods...)
		want, problems, err := build(in, &c.world.Facts, nil)
		if err != nil || problems.Errors() {
			t.Fatalf("before: %v %v", err, problems.Strings())
		}
		have = asFound(want)
	}
	for _, k := range c.world.Gone {
		have.Drop(k)
	}
	for _, h := range c.world.Have {
		have.Put(stack.Resource{Key: h.Key, ID: h.ID, In: h.In, Ownership: h.Ownership, Slot: h.Slot, Proof: h.Proof, State: h.State, Spec: specOf(t, h)})
	}
	have.Owner = cases.OwnerOf(c.service)
	return have
}

func specOf(t testing.TB, h haveYAML) stack.Spec {
	t.Helper()
	switch h.Key.Kind {
	case KindTargetGroup:
		return decode[TargetGroup](t, h.Spec)
	case KindTargets:
		return decode[Targets](t, h.Spec)
	case KindNetwork, KindSharedNetwork:
		return decode[Network](t, h.Spec)
	case KindClassic:
		return decode[Classic](t, h.Spec)
	case KindNodeRule:
		return decode[NodeRule](t, h.Spec)
	case KindListener:
		return decode[Listener](t, h.Spec)
	}
	t.Fatalf("no type for kind %s", h.Key.Kind)
	return nil
}

func decode[T any](t testing.TB, raw json.RawMessage) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// asFound turns what is wanted into what a read would bring once it is made.
func asFound(want *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: want.Owner}
	for _, r := range want.Resources {
		if r.Ownership == stack.External {
			if r.Key.Kind == KindSharedNetwork {
				out.Put(r) // it is read, because others decide what it is like
			}
			continue
		}
		r.ID, r.Proof = "id-of-"+r.Key.String(), stack.Name
		switch spec := r.Spec.(type) {
		case Classic:
			spec.DNSName = spec.Name + "-1.eu-west-1.elb.amazonaws.com"
			r.Spec = spec
		case Network:
			spec.DNSName = spec.Name + "-0a1b.elb.eu-west-1.amazonaws.com"
			r.Spec = spec
		case ClassicPolicy:
			r.Proof = stack.None
		}
		out.Put(r)
	}
	return out
}

// result is all that the pure half says about a case.
type result struct {
	want     *stack.Stack
	have     *stack.Stack
	problems annotations.Problems
}

func (c testCase) run(t testing.TB) result {
	t.Helper()
	r := result{have: c.have(t)}
	if c.world.Deleted {
		r.want = &stack.Stack{Owner: r.have.Owner}
		return r
	}
	in, problems := inputOf(c.config, c.world.ClusterName, c.service, c.world.Nodes, c.world.Slices...)
	want, more, err := build(in, &c.world.Facts, r.have)
	if err != nil {
		t.Fatal(err)
	}
	r.problems = append(problems, more...)
	if problems.Errors() {
		want = nil
	}
	r.want, r.have = want, matchFound(want, r.have)
	return r
}

// text renders a stack for people.
func text(s *stack.Stack) string { return cases.Text(s, fieldText) }

func fieldText(value any) string {
	switch v := value.(type) {
	case []Permission:
		lines := []string{""}
		for _, p := range v {
			lines = append(lines, permissionText(p))
		}
		return strings.Join(lines, "\n")
	case Permission:
		return permissionText(v)
	}
	raw, _ := json.Marshal(value)
	switch v := string(raw); v {
	case `""`, "null", "0", "[]", "{}":
		return ""
	default:
		return cases.Short(v)
	}
}

func permissionText(p Permission) string {
	return fmt.Sprintf("%s %s from %s%s", p.Protocol, portRange(p), p.CIDR, p.Source)
}

func planText(p plan.Plan) string { return cases.PlanText("aws", p) }
