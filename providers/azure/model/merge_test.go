package model

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

func testConfig() Config {
	c := configFile{
		SubscriptionID: "sub", ResourceGroup: "rg", Location: "westeurope", VnetName: "vnet", SubnetName: "nodes",
		SecurityGroupName: "nsg", LoadBalancerBackendPoolConfigurationType: PoolNodeIP,
	}.config()
	return c
}

func testFacts() Facts {
	return Facts{Zones: []string{"1", "2", "3"}, Subnets: map[string]FoundSubnet{
		"nodes": {Name: "nodes", ID: testConfig().SubnetID("nodes"), Prefixes: []string{"10.240.0.0/16", "fd00::/64"}},
	}}
}

func testNodes() []corev1.Node {
	var out []corev1.Node
	for i := range 3 {
		name := fmt.Sprintf("node-%d", i)
		out = append(out, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.NodeSpec{ProviderID: "azure:///subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/" + name},
			Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.240.0.%d", 4+i)}, {Type: corev1.NodeInternalIP, Address: fmt.Sprintf("fd00::%d", 4+i)},
			}},
		})
	}
	return out
}

// testService returns the n-th Service of a test. Keys of values are without their
// prefix.
func testService(n int, values map[string]string, ports ...int32) *corev1.Service {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: fmt.Sprintf("web-%d", n), UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", n+1)), Annotations: map[string]string{},
	}}
	for k, v := range values {
		svc.Annotations[keyPrefix+k] = v
	}
	for _, p := range ports {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint("p", p), Port: p, Protocol: corev1.ProtocolTCP, NodePort: 30000 + int32(n)*10 + p%10})
	}
	return svc
}

func tenantOf(t testing.TB, a *arm, svc *corev1.Service) *tenant {
	t.Helper()
	in, problems := inputOf(a.c, a.cluster, svc, testNodes())
	if problems.Errors() {
		t.Fatal(problems.Strings())
	}
	return &tenant{in: in}
}

const internalOn = "azure-load-balancer-internal"

// foreign adds random content of other owners to the shared objects.
func (a *arm) foreign(rng *rand.Rand) {
	lb := Object{"name": a.cluster, "location": "westeurope", "sku": map[string]any{"name": "Standard", "tier": "Regional"}, "etag": "W/\"7\"",
		"properties": map[string]any{"resourceGuid": "g", "somethingNew": map[string]any{"n": json.Number("1.50"), "html": "<&>"}}}
	p := lb.Props()
	id := a.c.BalancerID(a.cluster)
	var fronts, rules, probes, out, nat []Object
	for i := range 1 + rng.IntN(4) {
		pip := fmt.Sprintf("rg/aks-%d", i)
		a.pips[pip] = Object{"name": fmt.Sprintf("aks-%d", i), "id": a.c.PublicIPID(stack.Key{Name: pip}), "sku": map[string]any{"name": "Standard"},
			"properties": map[string]any{"ipAddress": fmt.Sprintf("52.0.0.%d", i), "publicIPAddressVersion": "IPv4"}}
		name := fmt.Sprintf("aks-front-%d", i)
		fronts = append(fronts, Object{"name": name, "id": id + "/" + ListFrontends + "/" + name, "zones": []any{}, "properties": map[string]any{"publicIPAddress": IDObject(a.c.PublicIPID(stack.Key{Name: pip})), "extra": rng.IntN(100) > 50}})
		ref := IDObject(id + "/" + ListFrontends + "/" + name)
		out = append(out, Object{"name": fmt.Sprintf("aksOutboundRule-%d", i), "properties": map[string]any{toFrontends: []any{ref}, toPool: IDObject(id + "/" + ListPools + "/aksOutboundBackendPool"), "allocatedOutboundPorts": json.Number("0")}})
		if rng.IntN(2) == 0 {
			probes = append(probes, Object{"name": fmt.Sprintf("my-probe-%d", i), "properties": map[string]any{"protocol": "Tcp", "port": json.Number("22"), "numberOfProbes": json.Number("4")}})
			rules = append(rules, Object{"name": fmt.Sprintf("my-rule-%d", i), "properties": map[string]any{toFrontend: ref, toPool: IDObject(id + "/" + ListPools + "/aksOutboundBackendPool"), "protocol": "Tcp", "frontendPort": json.Number("22"), "backendPort": json.Number("22")}})
		}
		if rng.IntN(2) == 0 {
			nat = append(nat, Object{"name": fmt.Sprintf("ssh-%d", i), "properties": map[string]any{toFrontend: ref, "frontendPort": json.Number("50000"), "protocol": "Tcp"}})
		}
	}
	p.SetList(ListFrontends, fronts)
	p.SetList(ListRules, rules)
	p.SetList(ListProbes, probes)
	p.SetList(listOutbound, out)
	p.SetList(listNAT, nat)
	p.SetList(ListPools, []Object{{"name": "aksOutboundBackendPool", "properties": map[string]any{"backendIPConfigurations": []any{IDObject("/nic")}}}})
	a.putLB(lb)
	var security []Object
	for i := range rng.IntN(6) {
		q := map[string]any{"priority": json.Number(fmt.Sprint(498 + i)), "direction": "Inbound", "access": "Allow", "protocol": "Tcp", "sourceAddressPrefix": "10.0.0.0/8"}
		if i%2 == 0 {
			q["destinationAddressPrefix"], q["destinationPortRange"] = "*", "22"
		} // Else: a rule without any destination.
		security = append(security, Object{"name": fmt.Sprintf("user-%d", i), "properties": q})
	}
	security = append(security, Object{"name": "k8s-azure-lb_allow_IPv4_of-somebody", "properties": map[string]any{"priority": json.Number("600"), "direction": "Inbound", "access": "Allow", "protocol": "Tcp", "destinationPortRanges": []any{"80-90"}, "destinationAddressPrefix": "9.9.9.9"}})
	a.nsg.Props().SetList(ListSecurity, security)
	a.nsg = a.wire(a.nsg)
}

// foreignContent returns the bytes of the shared objects that belong to none of the Services.
func (a *arm) foreignContent() string {
	lb := a.lbs[lowerCase(a.cluster)].Clone()
	if lb == nil {
		return "gone"
	}
	for _, list := range []string{ListFrontends, ListRules, ListProbes, ListPools} {
		lb.Props().SetList(list, slices.DeleteFunc(lb.Props().List(list), func(o Object) bool {
			return BaseOf(o.Text("name")) != "" || o.Text("name") == sharedProbe || strings.HasPrefix(o.Text("name"), a.cluster)
		}))
	}
	nsg := a.nsg.Clone()
	nsg.Props().SetList(ListSecurity, slices.DeleteFunc(nsg.Props().List(ListSecurity), func(o Object) bool {
		return strings.HasPrefix(o.Text("name"), rulePrefix) && !strings.HasSuffix(o.Text("name"), "of-somebody")
	}))
	return string(lb.Bytes()) + "\n" + string(nsg.Bytes())
}

// TestForeignContent: 50 Services come, change and go in any order, in batches of
// any size; what is not theirs has the same bytes after every write.
func TestForeignContent(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 1))
		a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
		a.foreign(rng)
		before := a.foreignContent()
		owners := map[int]*tenant{}
		same := func(what string) {
			t.Helper()
			if d := cmp.Diff(before, a.foreignContent()); d != "" {
				t.Fatalf("seed %d, %s: content of other owners differs (-before +after):\n%s", seed, what, d)
			}
		}
		for _, group := range randomGroups(rng, 50) {
			coming := map[stack.Owner]*tenant{}
			for _, n := range group {
				values := map[string]string{}
				if n%3 == 0 {
					values["azure-allowed-ip-ranges"] = fmt.Sprintf("10.%d.0.0/16", n%4)
				}
				tn := tenantOf(t, a, testService(n, values, 80, int32(1000+n)))
				owners[n], coming[tn.in.Owner] = tn, tn
			}
			a.together(coming, book, 1000)
			same("create")
		}
		for n, tn := range owners {
			if p := a.plan(tn.in.Owner, tn, book); !p.Empty() {
				t.Fatalf("seed %d, %d is not at rest:\n%s", seed, n, planText(p))
			}
		}
		for _, group := range randomGroups(rng, 50) {
			coming := map[stack.Owner]*tenant{}
			for _, n := range group {
				if n%2 == 0 {
					owners[n] = tenantOf(t, a, testService(n, nil, 443))
				}
				coming[owners[n].in.Owner] = owners[n]
			}
			a.together(coming, book, 1000)
			same("change")
		}
		for _, group := range randomGroups(rng, 50) {
			going := map[stack.Owner]*tenant{}
			for _, n := range group {
				going[owners[n].in.Owner] = nil
			}
			a.together(going, book, 1000)
			same("delete")
		}
		for _, tn := range owners {
			for _, left := range a.have(tn.in.Owner).Resources {
				if left.Proof != stack.None || left.Key.Kind != KindPool { // the shared pool is retained beside other owners
					t.Errorf("seed %d: left of %s: %s", seed, tn.in.Owner, left.Key)
				}
			}
		}
	}
}

// TestPortTaken verifies that a Service keeps its port, and that the message to the other
// one names it.
func TestPortTaken(t *testing.T) {
	a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
	a.sharing(Public, book)
	ip := a.read().PublicIPs[0].Address
	late := tenantOf(t, a, testService(9, map[string]string{"azure-load-balancer-ipv4": ip}, 81))
	a.settle(late.in.Owner, late, book)
	if told := strings.Join(late.problems.Strings(), "; "); !strings.Contains(told, "is taken by Service ") || !strings.Contains(told, ", rule a00000002") {
		t.Errorf("told: %s", told)
	}
}

// TestSecurityLimits: what does not fit is refused by name, the rest is written.
func TestSecurityLimits(t *testing.T) {
	c := testConfig()
	nsg, _ := ParseObject([]byte(`{"properties":{"securityRules":[]}}`))
	var many []string
	for i := range 3999 {
		many = append(many, fmt.Sprintf("10.%d.%d.0/24", i/250, i%250))
	}
	step := func(n int, sources []string) plan.Step {
		spec := Access{Security: "nsg", Rule: allowName(ipv4, "Tcp", sources, []string{"80"}), Family: ipv4, Protocol: "Tcp", Sources: sources, Ports: []string{"80"}, Destination: fmt.Sprintf("1.1.1.%d", n)}
		key := accessKey(spec.Rule, spec.Destination)
		return plan.Step{ID: plan.StepID{Owner: stack.Owner{Name: fmt.Sprint(n)}, Key: key, Action: plan.Create}, Target: stack.Resource{Key: key, Spec: spec}}
	}
	edit := MergeSecurity(c, nsg, plan.Batch{Steps: []plan.Step{step(1, many), step(2, []string{"192.0.2.0/24", "198.51.100.0/24"}), step(3, []string{sourceInternet})}})
	if len(edit.Refused) != 1 || fault.Of(edit.Refused[1]) != fault.Quota {
		t.Fatalf("refused: %v", edit.Refused)
	}
	var got []string
	for _, r := range edit.Object.Props().List(ListSecurity) {
		got = append(got, fmt.Sprint(r.Props().number("priority"), Destinations(r)))
	}
	if d := cmp.Diff([]string{"500 [1.1.1.1]", "501 [1.1.1.3]"}, got); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
	}
}

// TestExpectedPoolGone verifies that a plan based on a deleted pool is a Conflict.
func TestExpectedPoolGone(t *testing.T) {
	s := plan.Step{ID: plan.StepID{Action: plan.Update}, Target: stack.Resource{Spec: Entries{Balancer: "lb", Expect: []string{"lb"}}}}
	edit := MergeBalancer(LBMerge{Config: testConfig(), Cluster: "lb", Name: "lb"}, nil, plan.Batch{Steps: []plan.Step{s}})
	if fault.Of(edit.Refused[0]) != fault.Conflict || edit.Changed {
		t.Errorf("edit: %+v", edit)
	}
}

func TestRulesAreAboutFields(t *testing.T) {
	specs := map[stack.Kind]stack.Spec{
		KindEntries: Entries{}, KindPool: Pool{}, KindNICs: NICs{}, KindScaleSet: ScaleSet{}, KindPublicIP: PublicIP{}, KindBinding: Binding{},
		KindAccess: Access{}, KindLink: Link{}, KindPolicy: Policy{},
		KindContainer: Container{}, KindContainerIP: ContainerIP{}, KindRegistered: Registered{}, KindAttached: Attached{}, KindPods: Pods{},
	}
	for kind, rule := range Rules().Kinds {
		var fields []string
		for _, f := range stack.Fields(specs[kind]) {
			fields = append(fields, f.Name)
		}
		for _, name := range named1(rule) {
			if !slices.Contains(fields, name) {
				t.Errorf("%s: %s is no field", kind, name)
			}
		}
	}
}

func named1(r diff.Rule) []string {
	out := slices.Concat(r.Immutable, r.Ignore, r.Sticky)
	for k := range r.Equal {
		out = append(out, k)
	}
	for k := range r.Sets {
		out = append(out, k)
	}
	return out
}
