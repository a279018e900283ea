package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// TestEveryKeyIsDeclared: testdata/keys.txt has every key that the official
// controller reads.
func TestEveryKeyIsDeclared(t *testing.T) {
	cases.Declared(t, Annotations().Names())
}

func TestDeclarations(t *testing.T) {
	set, err := declareAnnotations()
	if err != nil {
		t.Fatal(err)
	}
	cases.Described(t, set, Internal, Public)
}

// TestOneTruth: every boolean is read in one way, the kind included.
func TestOneTruth(t *testing.T) {
	tests := map[string]bool{"true": true, "True": true, "TRUE": true, " true ": true, "": false, "false": false, "False": false, "1": false, "yes": false, "t": false}
	keys := []*annotations.Key[bool]{internalKey, noFloatingKey, noResetKey, denyAllKey, noAccessKey, linkCreateKey, linkProxyKey, haKey}
	for value, want := range tests {
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{internalKey.Name: value}}}
		if got := chooseKind(svc).Kind == Internal; got != want {
			t.Errorf("choose with %q: internal %t, want %t", value, got, want)
		}
		for _, key := range keys {
			bag, problems := Annotations().Parse(Internal, annotations.Source{Annotations: map[string]string{key.Name: value, internalKey.Name: "true"}})
			if got := key.Get(bag); got != want && key != internalKey {
				t.Errorf("%s %q = %t, want %t", key.Name, value, got, want)
			}
			odd := slices.Contains([]string{"1", "yes", "t"}, value)
			told := slices.ContainsFunc(problems, func(p annotations.Problem) bool { return strings.Contains(p.Message, "ignored") })
			if key != internalKey && told != odd {
				t.Errorf("%s %q: told %t, want %t", key.Name, value, told, odd)
			}
		}
	}
}

func TestProbePort(t *testing.T) {
	ports := []corev1.ServicePort{{Name: "http", Port: 80, NodePort: 30080}, {Name: "admin", Port: 9000, NodePort: 30900}}
	tests := map[string]int{"http": 30080, "ADMIN": 30900, "80": 30080, "9000": 30900, "8443": 8443}
	for value, want := range tests {
		key := portPrefix + "80_health-probe_port"
		bag, problems := Annotations().Parse(Public, annotations.Source{Annotations: map[string]string{key: value}, Ports: ports})
		if got := portPortKey.Port(bag, 80); got != want || problems.Errors() {
			t.Errorf("%q = %d, want %d; %v", value, got, want, problems.Strings())
		}
	}
	for _, value := range []string{"0", "65536", "https", " 80"} {
		_, problems := Annotations().Parse(Public, annotations.Source{Annotations: map[string]string{portPrefix + "80_health-probe_port": value}, Ports: ports})
		if !problems.Errors() {
			t.Errorf("%q is taken", value)
		}
	}
}

// TestTrace: where things can be does not depend on annotations, but for groups of
// the user.
func TestTrace(t *testing.T) {
	id := identity{Owner: stack.Owner{Namespace: "shop", Name: "web", UID: "257b9655-5137-4ad2-b091-ef3f07043ad3"}, Cluster: "kubernetes", Config: testConfig()}
	var got []string
	for _, l := range OwnedScope(id).Own {
		got = append(got, string(l.Kind)+" "+l.By+" "+l.Value)
	}
	const base = "a257b965551374ad2b091ef3f07043ad"
	want := []string{"load-balancer-entries base " + base, "public-ip service shop/web", "private-link-service service shop/web", "security-rule-entry base " + base}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("own (-want +got):\n%s", d)
	}
	id.Places = map[string]string{groupKey.Name: " Theirs ", linkGroupKey.Name: "a/b"}
	told := slices.DeleteFunc(OwnedScope(id).Facts, func(l providers.Lookup) bool { return l.By != ByToldGroup })
	if d := cmp.Diff([]providers.Lookup{{Kind: KindPublicIP, By: ByToldGroup, Value: "theirs"}}, told); d != "" {
		t.Errorf("groups of the user (-want +got):\n%s", d)
	}
}

// TestSelect verifies which nodes are excluded from the backends.
func TestSelect(t *testing.T) {
	node := func(name string, labels map[string]string, provider string) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: corev1.NodeSpec{ProviderID: provider}}
	}
	const machine = "azure:///subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/x"
	nodes := []corev1.Node{
		node("plain", nil, machine), node("upper", nil, strings.ToUpper(machine)), node("ours", map[string]string{labelGroup: "RG", labelManaged: "true"}, machine),
		node("elsewhere", map[string]string{labelGroup: "other"}, machine), node("unmanaged", map[string]string{labelManaged: "False"}, machine),
		node("excluded", map[string]string{corev1.LabelNodeExcludeBalancers: "false"}, machine), node("metal", nil, "kind://x"),
		node("control", map[string]string{labelControl: ""}, machine), node("old", map[string]string{labelRole: "master"}, machine),
	}
	got := func(c Config) []string {
		in, _ := inputOf(c, "kubernetes", testService(0, nil, 80), nodes)
		return in.Backends.Nodes.Names()
	}
	c := testConfig()
	if d := cmp.Diff([]string{"ours", "plain", "upper"}, got(c)); d != "" {
		t.Errorf("addresses (-want +got):\n%s", d)
	}
	c.WithMasters, c.PoolType = true, poolNIC
	if d := cmp.Diff([]string{"control", "old", "ours", "plain", "upper"}, got(c)); d != "" {
		t.Errorf("with the control plane (-want +got):\n%s", d)
	}
}

// TestRangesTwiceOffline: ranges of the field and of an annotation at once are refused without a cloud.
func TestRangesTwiceOffline(t *testing.T) {
	svc := &corev1.Service{}
	svc.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"}
	svc.Annotations = map[string]string{allowedRangesKey.Name: "203.0.113.0/24"}
	refused := func() bool {
		_, problems := Annotations().Parse(Internal, annotations.SourceOf(svc))
		return slices.ContainsFunc(problems, func(p annotations.Problem) bool {
			return p.Key == annotations.FieldRanges && p.Severity == annotations.Error
		})
	}
	if !refused() {
		t.Error("both at once are accepted")
	}
	known := Annotations().WithSettings(settingsOf(Config{PoolType: poolPodIP}))
	if _, problems := known.Parse(Public, annotations.SourceOf(svc)); problems.Errors() {
		t.Errorf("refused where load balancers of pods have no ranges: %v", problems.Strings())
	}
	svc.Annotations[noAccessKey.Name] = "true"
	if refused() {
		t.Error("refused although no rule is written")
	}
}
