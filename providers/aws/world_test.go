package aws

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// world is the surroundings of a test case: testdata/world.yaml, in which the
// case's own cloud.yaml replaces whole fields.
type world struct {
	Config      string          // text of the cloud configuration
	ClusterName string          // --cluster-name
	Nodes       []corev1.Node   // of the cluster
	Facts       Facts           // as a read brings them
	Before      *corev1.Service // what was found is what this Service had wanted
	BeforeCfg   string          // the cloud configuration of that time, if another
	Have        []haveYAML      // found besides, or instead
	Gone        []stack.Key     // not found, although Before wanted it
	Deleted     bool            // the Service is released
}

type haveYAML struct {
	Key   stack.Key
	ID    string
	In    stack.Key
	Proof stack.Proof
	State stack.State
	Spec  json.RawMessage
}

// testCase is one folder of testdata.
type testCase struct {
	name    string
	dir     string
	service *corev1.Service
	world   world
	config  Config
}

func loadCases(t testing.TB) []testCase {
	t.Helper()
	files, err := filepath.Glob("testdata/*/service.yaml")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	var out []testCase
	for _, f := range files {
		out = append(out, loadCase(t, filepath.Dir(f)))
	}
	return out
}

func loadCase(t testing.TB, dir string) testCase {
	t.Helper()
	c := testCase{name: filepath.Base(dir), dir: dir, service: &corev1.Service{}}
	unmarshal(t, filepath.Join(dir, "service.yaml"), c.service)
	c.world = loadWorld(t, filepath.Join(dir, "cloud.yaml"))
	if c.world.Before != nil {
		c.world.Before.Namespace, c.world.Before.Name, c.world.Before.UID = c.service.Namespace, c.service.Name, c.service.UID
	}
	c.config = parseConfig(t, c.world.Config)
	return c
}

// loadWorld lays the case's fields, and those of its facts, over the world's. It
// merges the texts, since decoding twice into one value would mix list members.
func loadWorld(t testing.TB, file string) world {
	t.Helper()
	base, over := map[string]any{}, map[string]any{}
	unmarshal(t, "testdata/world.yaml", &base)
	unmarshal(t, file, &over)
	if facts, ok := over["facts"].(map[string]any); ok {
		all, _ := base["facts"].(map[string]any)
		maps.Copy(all, facts)
		over["facts"] = all
	}
	maps.Copy(base, over)
	merged, err := yaml.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	var w world
	if err := yaml.UnmarshalStrict(merged, &w); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return w
}

func parseConfig(t testing.TB, text string) Config {
	t.Helper()
	config, _, err := ReadConfig(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func unmarshal(t testing.TB, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// inputOf is what the loop hands to Build.
func inputOf(config Config, clusterName string, svc *corev1.Service, nodes []corev1.Node) (input, annotations.Problems) {
	in := input{
		Identity: identity{
			Owner:   stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)},
			Cluster: clusterName, Config: config,
		},
		Service: svc, Kind: choose(svc).Kind,
	}
	values, problems := Annotations().Parse(in.Kind, annotations.SourceOf(svc))
	in.Values = values
	var projected []nodeports.Node
	for i := range nodes {
		projected = append(projected, nodeports.Project(&nodes[i], func(string) bool { return true }))
	}
	in.Backends = nodeports.BackendsOf(svc, nodeports.Select(projected, selectNodes(in)), nil, nodeports.FallbackOf(svc))
	return in, problems
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
		in, _ := inputOf(config, c.world.ClusterName, c.world.Before, c.world.Nodes)
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
		have.Put(stack.Resource{Key: h.Key, ID: h.ID, In: h.In, Proof: h.Proof, State: h.State, Spec: specOf(t, h)})
	}
	have.Owner = stack.Owner{Namespace: c.service.Namespace, Name: c.service.Name, UID: string(c.service.UID)}
	return have
}

func specOf(t testing.TB, h haveYAML) stack.Spec {
	t.Helper()
	switch h.Key.Kind {
	case KindTargetGroup:
		return decode[TargetGroup](t, h.Spec)
	case KindTargets:
		return decode[Targets](t, h.Spec)
	case KindNetwork:
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
		if r.Hold == stack.Borrowed {
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
	in, problems := inputOf(c.config, c.world.ClusterName, c.service, c.world.Nodes)
	want, more, err := build(in, &c.world.Facts, r.have)
	if err != nil {
		t.Fatal(err)
	}
	r.problems = append(problems, more...)
	if problems.Errors() {
		want = nil
	}
	r.want, r.have = want, adopt(want, r.have)
	return r
}

// text renders a stack for people: one block for each resource.
func text(s *stack.Stack) string {
	var b strings.Builder
	for _, r := range s.Resources {
		b.WriteString(r.Key.String())
		if r.In != (stack.Key{}) {
			fmt.Fprintf(&b, "  in %s", r.In)
		}
		switch r.Hold {
		case stack.Counted:
			b.WriteString("  (counted)")
		case stack.Borrowed:
			b.WriteString("  (borrowed)")
		case stack.Owned:
		}
		if r.Slot != "" {
			fmt.Fprintf(&b, "  [%s]", r.Slot)
		}
		b.WriteString("\n")
		for _, f := range stack.Fields(r.Spec) {
			writeField(&b, f)
		}
	}
	return b.String()
}

func writeField(b *strings.Builder, f stack.Field) {
	if rules, ok := f.Value.([]Permission); ok {
		fmt.Fprintf(b, "    %s:\n", f.Name)
		for _, p := range rules {
			fmt.Fprintf(b, "        %s\n", permissionText(p))
		}
		return
	}
	if p, ok := f.Value.(Permission); ok {
		fmt.Fprintf(b, "    Permission: %s\n", permissionText(p))
		return
	}
	raw, _ := json.Marshal(f.Value)
	switch v := string(raw); v {
	case `""`, "null", "0", "[]", "{}":
	default:
		fmt.Fprintf(b, "    %s: %s\n", f.Name, refText(v))
	}
}

// refText shortens references: {"to":{"kind":"k","name":"n"}} becomes ->k/n.
func refText(v string) string {
	return strings.NewReplacer(`{"to":{"kind":"`, `->`, `","name":"`, `/`, `"}}`, ``).Replace(v)
}

func permissionText(p Permission) string {
	return fmt.Sprintf("%s %s from %s%s", p.Protocol, portRange(p), p.CIDR, p.Source)
}

func problemText(problems annotations.Problems) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s: %s\n", p.Severity, p)
	}
	return b.String()
}

func planText(p plan.Plan) string {
	return plan.Human(plan.NewDocument("aws", []plan.Plan{p}), plan.Options{})
}
