package azure

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// world is the surroundings of a test case: testdata/world.yaml, in which the
// case's own cloud.yaml replaces whole fields.
type world struct {
	Config      string // text of the cloud configuration
	ClusterName string // --cluster-name
	Nodes       []corev1.Node
	Facts       Facts // zones, subnets and machines
	// Bodies of what is there before anything else, as Azure answers them.
	Balancers, PublicIPs, Links []map[string]any
	Security                    map[string]any
	Gateway                     gatewayWorld
	// Before are Services that came before, in order; one with the UID of the
	// case's Service is the same Service at that time.
	Before []*corev1.Service
	// Slices are the endpoints of every Service of the case.
	Slices  []*discoveryv1.EndpointSlice
	Deleted bool // the Service is released
	// Expect is what the plan must be: "", or "empty".
	Expect string
}

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
	if err != nil || len(files) < 30 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	var out []testCase
	for _, f := range files {
		dir := filepath.Dir(f)
		c := testCase{name: filepath.Base(dir), dir: dir, service: &corev1.Service{}}
		unmarshal(t, f, c.service)
		c.world = loadWorld(t, filepath.Join(dir, "cloud.yaml"))
		c.config = parseConfig(t, c.world.Config)
		out = append(out, c)
	}
	return out
}

// loadWorld lays the case's fields over the world's. It merges the texts, since
// decoding twice into one value would mix list members.
func loadWorld(t testing.TB, file string) world {
	t.Helper()
	base, over := map[string]any{}, map[string]any{}
	unmarshal(t, "testdata/world.yaml", &base)
	if _, err := os.Stat(file); err == nil {
		unmarshal(t, file, &over)
	}
	for _, nested := range []string{"facts"} {
		if facts, ok := over[nested].(map[string]any); ok {
			all, _ := base[nested].(map[string]any)
			maps.Copy(all, facts)
			over[nested] = all
		}
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
func inputOf(config Config, cluster string, svc *corev1.Service, nodes []corev1.Node) (input, annotations.Problems) {
	in := input{
		Identity: identity{
			Owner:   stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)},
			Cluster: cluster, Config: config,
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

func readyLedger() *ledger.Book {
	l := ledger.New()
	l.SetReady()
	return l
}

// arm builds what is there before the case's Service is looked at.
func (c testCase) arm(t testing.TB) (*arm, *ledger.Book) {
	t.Helper()
	a, book := newARM(t, c.config, c.world.ClusterName, c.world.Facts), readyLedger()
	a.facts.Subnets = maps.Clone(a.facts.Subnets)
	for _, n := range c.world.Nodes {
		for _, addr := range n.Status.Addresses {
			a.nodes = append(a.nodes, addr.Address)
		}
	}
	for _, o := range c.world.PublicIPs {
		a.pips[lower(groupOf(Object(o).text("id"))+"/"+Object(o).text("name"))] = a.wire(o)
	}
	for _, o := range c.world.Balancers {
		a.putLB(o)
	}
	for _, o := range c.world.Links {
		a.links[lower(groupOf(Object(o).text("id"))+"/"+Object(o).text("name"))] = a.wire(o)
	}
	if c.world.Security != nil {
		a.nsg = a.wire(c.world.Security)
	}
	a.setGateway(c.world.Gateway)
	for _, svc := range c.world.Before {
		tn := c.tenant(svc)
		if _, refused := a.settle(tn.in.Owner, tn, book); len(refused) > 0 || tn.problems.Errors() {
			t.Fatalf("before: %v %v", refused, tn.problems.Strings())
		}
	}
	in := c.tenant(c.service).in
	a.asked = append(a.asked, lower(pipNameKey.Get(in.Values)))
	a.asked = append(a.asked, askedAddresses(in)...)
	return a, book
}

func (c testCase) tenant(svc *corev1.Service) *tenant {
	in, problems := inputOf(c.config, c.world.ClusterName, svc, c.world.Nodes)
	in.Backends.Endpoints = nodeports.EndpointsOf(svc, c.world.Slices, nodeports.FallbackOf(svc))
	return &tenant{in: in, problems: problems}
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
		b.WriteString("\n")
		for _, f := range stack.Fields(r.Spec) {
			writeField(&b, f)
		}
	}
	return b.String()
}

func writeField(b *strings.Builder, f stack.Field) {
	list, isList := lines(f.Value)
	if isList {
		if len(list) > 0 {
			fmt.Fprintf(b, "    %s:\n        %s\n", f.Name, strings.Join(list, "\n        "))
		}
		return
	}
	raw, _ := json.Marshal(f.Value)
	switch v := short(string(raw)); v {
	case `""`, "null", "0", "[]", "{}", "false":
	default:
		fmt.Fprintf(b, "    %s: %s\n", f.Name, v)
	}
}

func lines(v any) ([]string, bool) {
	var out []string
	each := func(one any) {
		raw, _ := json.Marshal(one)
		out = append(out, short(string(raw)))
	}
	switch list := v.(type) {
	case []Frontend:
		for _, x := range list {
			each(x)
		}
	case []Rule:
		for _, x := range list {
			each(x)
		}
	case []Probe:
		for _, x := range list {
			each(x)
		}
	case []PoolAddress:
		for _, x := range list {
			each(x)
		}
	case []PodAddress:
		for _, x := range list {
			out = append(out, x.Location+" "+x.Address)
		}
	default:
		return nil, false
	}
	return out, true
}

// short leaves out what says nothing and shortens references and ids.
func short(v string) string {
	return strings.NewReplacer(
		`{"to":{"kind":"`, `->`, `","name":"`, `/`, `"}}`, ``, `"PublicIP":{},`, ``, `"Subnet":"",`, ``, `"Address":"",`, ``, `"Static":false,`, ``,
		`,"Zones":null`, ``, `"Probe":"",`, ``, "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network", "~",
	).Replace(v)
}

func problemText(problems annotations.Problems) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s: %s\n", p.Severity, p)
	}
	return b.String()
}

func planText(p plan.Plan) string {
	return plan.Human(plan.NewDocument("azure", []plan.Plan{p}), plan.Options{})
}

// state is what Azure has in the end, for people.
func (a *arm) state() string {
	var b strings.Builder
	show := func(title string, o Object) {
		raw, _ := yaml.JSONToYAML(o.Bytes())
		fmt.Fprintf(&b, "== %s\n%s", title, strings.ReplaceAll(string(raw), "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network", "~"))
	}
	for _, name := range slices.Sorted(maps.Keys(a.lbs)) {
		show("load balancer "+name, a.lbs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(a.pips)) {
		show("public IP "+name, a.pips[name])
	}
	a.showGateway(&b, show)
	if !a.c.podIP() {
		show("security group", a.nsg)
	}
	for _, name := range slices.Sorted(maps.Keys(a.links)) {
		show("private link service "+name, a.links[name])
	}
	for _, m := range slices.SortedFunc(maps.Values(a.members), func(x, y stack.Resource) int { return x.Key.Compare(y.Key) }) {
		fmt.Fprintf(&b, "== %s\n%s", m.Key, text(&stack.Stack{Resources: []stack.Resource{m}}))
	}
	return b.String()
}
