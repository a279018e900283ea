package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

// world is the surroundings of a test case: testdata/world.yaml, in which the part
// cloud.yaml of the case replaces whole fields.
type world struct {
	Config      string // text of the cloud configuration
	ClusterName string // --cluster-name
	Nodes       []corev1.Node
	Facts       Facts // zones, subnets and machines
	// Bodies of the initial resources, as Azure returns them.
	Balancers, PublicIPs, Links []map[string]any
	Security                    map[string]any
	Gateway                     gatewayWorld
	// Before holds earlier Services, in order; one with the UID of the case's Service is
	// the same Service at that time.
	Before []*corev1.Service
	// Slices are the endpoints of every Service of the case.
	Slices  []*discoveryv1.EndpointSlice
	Deleted bool // the Service is released
	// Expect is what the plan must be: "", or "empty".
	Expect string
}

type testCase struct {
	cases.Case
	service *corev1.Service
	world   world
	config  Config
}

func loadCases(t testing.TB) []testCase {
	t.Helper()
	var out []testCase
	for _, one := range cases.All(t, 80) {
		c := testCase{Case: one, service: one.Service(t)}
		one.World(t, &c.world)
		c.config = parseConfig(t, c.world.Config)
		out = append(out, c)
	}
	return out
}

func parseConfig(t testing.TB, text string) Config { return cases.Config(t, ReadConfig, text) }

// bundle saves thousands of runs the making of the set.
var bundle = sync.OnceValue(func() *providers.Cloud[Config, *Facts] {
	cloud := Cloud()
	return &cloud
})

// inputOf is what the loop hands to Build, without endpoints.
func inputOf(config Config, cluster string, svc *corev1.Service, nodes []corev1.Node) (input, annotations.Problems) {
	return cases.Input(bundle(), config, svc, cases.Around{Cluster: cluster, Nodes: nodes})
}

// arm builds the initial state before the reconcile of the case's Service.
func (c testCase) arm(t testing.TB) (*arm, *ledger.Ledger) {
	t.Helper()
	a, book := newARM(t, c.config, c.world.ClusterName, c.world.Facts), cases.ReadyLedger()
	a.facts.Subnets = maps.Clone(a.facts.Subnets)
	for _, n := range c.world.Nodes {
		for _, addr := range n.Status.Addresses {
			a.nodes = append(a.nodes, addr.Address)
		}
	}
	for _, o := range c.world.PublicIPs {
		a.pips[lowerCase(GroupOf(Object(o).Text("id"))+"/"+Object(o).Text("name"))] = a.wire(o)
	}
	for _, o := range c.world.Balancers {
		a.putLB(o)
	}
	for _, o := range c.world.Links {
		a.links[lowerCase(GroupOf(Object(o).Text("id"))+"/"+Object(o).Text("name"))] = a.wire(o)
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
	a.asked = append(a.asked, lowerCase(pipNameKey.Get(in.Values)))
	a.asked = append(a.asked, askedAddresses(in)...)
	return a, book
}

func (c testCase) tenant(svc *corev1.Service) *tenant {
	in, problems := inputOf(c.config, c.world.ClusterName, svc, c.world.Nodes)
	in.Backends.Endpoints = nodeports.EndpointsOf(nodeports.Families(svc), nodeports.Ports(svc), c.world.Slices, nodeports.FallbackOf(svc))
	return &tenant{in: in, problems: problems}
}

// renderStack renders a stack for readers.
func renderStack(s *stack.Stack) string { return cases.Text(s, fieldText) }

func fieldText(value any) string {
	if list, isList := renderLines(value); isList {
		if len(list) == 0 {
			return ""
		}
		return "\n" + strings.Join(list, "\n")
	}
	raw, _ := json.Marshal(value)
	switch v := shortenValue(string(raw)); v {
	case `""`, "null", "0", "[]", "{}", "false":
		return ""
	default:
		return v
	}
}

func renderLines(v any) ([]string, bool) {
	switch v.(type) {
	case []Frontend, []Rule, []Probe, []PoolAddress, []PodAddress:
	default:
		return nil, false
	}
	var out []string
	for list, i := reflect.ValueOf(v), 0; i < list.Len(); i++ {
		one := list.Index(i).Interface()
		if pod, ok := one.(PodAddress); ok {
			out = append(out, pod.Location+" "+pod.Address)
			continue
		}
		raw, _ := json.Marshal(one)
		out = append(out, shortenValue(string(raw)))
	}
	return out, true
}

// shortenValue leaves out values without information and shortens references and ids.
func shortenValue(v string) string {
	return strings.NewReplacer(
		`{"to":{"kind":"`, `->`, `","name":"`, `/`, `"}}`, ``, `"PublicIP":{},`, ``, `"Subnet":"",`, ``, `"Address":"",`, ``, `"Static":false,`, ``,
		`,"Zones":null`, ``, `"Probe":"",`, ``, "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network", "~",
	).Replace(v)
}

func planText(p plan.Plan) string { return cases.PlanText("azure", p) }

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
	if !a.c.PodIP() {
		show("security group", a.nsg)
	}
	for _, name := range slices.Sorted(maps.Keys(a.links)) {
		show("private link service "+name, a.links[name])
	}
	for _, m := range slices.SortedFunc(maps.Values(a.members), func(x, y stack.Resource) int { return x.Key.Compare(y.Key) }) {
		fmt.Fprintf(&b, "== %s\n%s", m.Key, renderStack(&stack.Stack{Resources: []stack.Resource{m}}))
	}
	return b.String()
}
