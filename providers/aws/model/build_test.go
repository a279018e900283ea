package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/mutate"
)

func newSubnet(id, zone string, public bool, tags ...string) Subnet {
	s := Subnet{ID: id, VPC: "vpc-1", Zone: zone, Public: public, Tags: Tags{}, ZoneType: "availability-zone"}
	for _, tag := range tags {
		s.Tags[tag] = "1"
	}
	return s
}

func TestDiscoverSubnets(t *testing.T) {
	const mine, other = "kubernetes.io/cluster/shop", "kubernetes.io/cluster/other"
	wave := newSubnet("w", "z-wl", true)
	wave.ZoneType = "wavelength-zone"
	unknown := newSubnet("u", "z3", true)
	unknown.ZoneType = ""
	tests := []struct {
		name     string
		subnets  []Subnet
		internal bool
		own      string
		want     []string
	}{
		{"public only", []Subnet{newSubnet("a", "z1", true), newSubnet("b", "z2", false)}, false, "", []string{"a"}},
		{"internal may be public", []Subnet{newSubnet("a", "z1", true), newSubnet("b", "z2", false)}, true, "", []string{"a", "b"}},
		{"role beats cluster", []Subnet{newSubnet("a", "z1", true, mine), newSubnet("b", "z1", true, tagPublicRole)}, false, "", []string{"b"}},
		{"role of the other scheme is none", []Subnet{newSubnet("a", "z1", true, mine), newSubnet("b", "z1", true, tagInternalRole)}, false, "", []string{"a"}},
		{"cluster beats id", []Subnet{newSubnet("a", "z1", true), newSubnet("b", "z1", true, mine)}, false, "", []string{"b"}},
		{"lowest id", []Subnet{newSubnet("b", "z1", true), newSubnet("a", "z1", true)}, false, "", []string{"a"}},
		{"other clusters' are left out", []Subnet{newSubnet("a", "z1", true, other), newSubnet("b", "z1", true, other, mine)}, false, "", []string{"b"}},
		{"own subnet at last", []Subnet{newSubnet("a", "z1", true, other), newSubnet("b", "z2", true, other)}, false, "b", []string{"b"}},
		{"ordered by zone", []Subnet{newSubnet("a", "z2", true), newSubnet("b", "z1", true)}, false, "", []string{"b", "a"}},
		{"no wavelength zones, but unknown ones", []Subnet{wave, unknown}, false, "", []string{"u"}},
		{"none", nil, false, "x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := &Facts{Cluster: ClusterTag{ID: "shop"}, Subnets: tt.subnets, OwnSubnet: tt.own}
			var got []string
			for _, s := range discoverSubnets(facts, tt.internal) {
				got = append(got, s.ID)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("subnets (-want +got):\n%s", d)
			}
		})
	}
}

func TestNamedSubnets(t *testing.T) {
	a, b, twin := newSubnet("subnet-a", "z1", true), newSubnet("subnet-b", "z2", true), newSubnet("subnet-c", "z1", true)
	a.Name, b.Name, twin.Name = "front", "back", "back"
	facts := &Facts{VPC: "vpc-1", Subnets: []Subnet{a, b, twin}}
	tests := []struct {
		names, want []string
		bad         int
	}{
		{[]string{"subnet-b", "front"}, []string{"subnet-b", "subnet-a"}, 0},
		{[]string{"back"}, nil, 1},
		{[]string{"nowhere", "subnet-x"}, nil, 2},
		{[]string{"subnet-a", "subnet-c"}, []string{"subnet-a", "subnet-c"}, 1},
		{[]string{"subnet-a", "front"}, []string{"subnet-a"}, 0},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.names, ","), func(t *testing.T) {
			list, problems := namedSubnets(tt.names, annotations.Origin{Key: subnetsKey.Name}, facts)
			var got []string
			for _, s := range list {
				got = append(got, s.ID)
			}
			if d := cmp.Diff(tt.want, got); d != "" || len(problems) != tt.bad {
				t.Errorf("%d problems %v, subnets (-want +got):\n%s", len(problems), problems.Strings(), d)
			}
		})
	}
}

func TestNodeGroup(t *testing.T) {
	groups := []NodeGroup{
		{ID: "sg-1"}, {ID: "sg-2"},
		{ID: "sg-5", Tags: Tags{"kubernetes.io/cluster/shop": "shared"}},
		{ID: "sg-7", Tags: Tags{"kubernetes.io/cluster/shop": "owned"}},
		{ID: "sg-8", Tags: Tags{"kubernetes.io/cluster/shop": "owned"}},
		{ID: "sg-9", Tags: Tags{"kubernetes.io/cluster/other": "owned"}},
	}
	tests := []struct {
		of      string
		want    []string
		doubted bool
	}{
		{"sg-1", []string{"sg-1"}, false},
		{"sg-1 sg-5", []string{"sg-5"}, false},
		{"sg-5 sg-7", []string{"sg-7"}, true},
		{"sg-8 sg-7", []string{"sg-7"}, true},
		{"sg-2 sg-1", []string{"sg-1"}, true},
		{"sg-9 sg-5", []string{"sg-5"}, false},
		{"", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.of, func(t *testing.T) {
			facts := &Facts{Cluster: ClusterTag{ID: "shop"}, NodeGroups: groups, Instances: map[string]Instance{"i-1": {ID: "i-1", Groups: strings.Fields(tt.of)}}}
			got, problems := nodeGroups([]string{"i-1"}, facts)
			if d := cmp.Diff(tt.want, got); d != "" || (len(problems) > 0) != tt.doubted {
				t.Errorf("problems %v, groups (-want +got):\n%s", problems.Strings(), d)
			}
		})
	}
}

// TestHealthChecks has the tables of the official controller for both kinds.
func TestHealthChecks(t *testing.T) {
	local := func(svc *corev1.Service) {
		svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyLocal, 32100
	}
	shared := Config{Probe: Probe{Mode: probeShared}}
	tests := []struct {
		name     string
		config   Config
		change   func(*corev1.Service)
		values   map[string]string
		clb, nlb string
	}{
		{"cluster", Config{}, nil, nil, "TCP:31080", "TCP:traffic-port"},
		{"cluster, https backend", Config{}, nil, map[string]string{"backend-protocol": "HTTPS"}, "SSL:31080", "TCP:traffic-port"},
		{"local", Config{}, local, nil, "HTTP:32100/healthz", "HTTP:32100/healthz"},
		{"local, traffic port", Config{}, local, map[string]string{"healthcheck-port": "traffic-port"}, "HTTP:31080/healthz", "HTTP:traffic-port/healthz"},
		{"local, tcp", Config{}, local, map[string]string{"healthcheck-protocol": "TCP"}, "TCP:32100", "TCP:32100"},
		{"local, path", Config{}, local, map[string]string{"healthcheck-path": "/x"}, "HTTP:32100/x", "HTTP:32100/x"},
		{"cluster, http", Config{}, nil, map[string]string{"healthcheck-protocol": "http"}, "HTTP:31080/", "HTTP:traffic-port/"},
		{"cluster, path without http", Config{}, nil, map[string]string{"healthcheck-path": "/x"}, "TCP:31080", "TCP:traffic-port"},
		{"shared", shared, nil, nil, "HTTP:10256/healthz", "HTTP:10256/healthz"},
		{"shared, traffic port", shared, nil, map[string]string{"healthcheck-port": "traffic-port"}, "HTTP:10256/healthz", "HTTP:10256/healthz"},
		{"shared, annotations", shared, nil, map[string]string{"healthcheck-port": "8080", "healthcheck-path": "/x", "healthcheck-protocol": "https"}, "HTTPS:8080/x", "HTTP:10256/healthz"},
		{"shared, local", shared, local, nil, "HTTP:32100/healthz", "HTTP:32100/healthz"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			svc := &corev1.Service{}
			if tt.change != nil {
				tt.change(svc)
			}
			in := input{Service: svc, Backends: nodeports.BackendsOf(svc, nodeports.NodeSet{}, nil, nodeports.FallbackOf(svc))}
			in.Config = tt.config
			in.Values, _ = parseAnnotations(CLB, tt.values)
			if got := classicCheck(in, 31080).Target; got != tt.clb {
				t.Errorf("clb: %s, want %s", got, tt.clb)
			}
			in.Values, _ = parseAnnotations(NLB, tt.values)
			c := networkCheck(in)
			if got := c.protocol + ":" + c.port + c.path; got != tt.nlb {
				t.Errorf("nlb: %s, want %s", got, tt.nlb)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	lb := func(kind stack.Kind, name string, proof stack.Proof, state stack.State) stack.Resource {
		var spec stack.Spec = Classic{DNSName: name}
		if kind == KindNetwork {
			spec = Network{DNSName: name}
		}
		return stack.Resource{Key: stack.Key{Kind: kind}, Proof: proof, State: state, Spec: spec}
	}
	tests := []struct {
		name string
		kind string
		have []stack.Resource
		want string
	}{
		{"nothing", CLB, nil, ""},
		{"classic, lower case", CLB, []stack.Resource{lb(KindClassic, "Internal-A.elb.amazonaws.com.cn", stack.Name, stack.Ready)}, "internal-a.elb.amazonaws.com.cn"},
		{"not ours", CLB, []stack.Resource{lb(KindClassic, "a", stack.None, stack.Ready)}, ""},
		{"being made", NLB, []stack.Resource{lb(KindNetwork, "n", stack.Name, stack.Pending)}, "n"},
		{"failed", NLB, []stack.Resource{lb(KindNetwork, "n", stack.Name, stack.Failed)}, ""},
		{"the other kind still serves", NLB, []stack.Resource{lb(KindClassic, "c", stack.Name, stack.Ready)}, "c"},
		{"until the new one is ready", NLB, []stack.Resource{lb(KindClassic, "c", stack.Name, stack.Ready), lb(KindNetwork, "n", stack.Name, stack.Pending)}, "c"},
		{"and then no more", NLB, []stack.Resource{lb(KindClassic, "c", stack.Name, stack.Ready), lb(KindNetwork, "n", stack.Name, stack.Ready)}, "n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			have := &stack.Stack{Resources: tt.have}
			for _, r := range tt.have {
				port := stack.Resource{Key: stack.Key{Kind: KindListener, Name: "tcp-80"}, In: r.Key, Proof: stack.Derived, Spec: Listener{Port: 80}}
				if r.Key.Kind == KindClassic {
					port.Key.Kind, port.Spec = KindClassicPort, ClassicPort{Port: 80}
				}
				have.Resources = append(have.Resources, port)
			}
			for _, i := range statusOf(input{Kind: tt.kind}, have).Ingress {
				got += i.Hostname
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzAddresses(f *testing.F) {
	mutate.Add(f, 200, "Name.ELB.amazonaws.com", 0, true)
	mutate.Add(f, 200, "", 2, false)
	f.Fuzz(func(t *testing.T, name string, state int, network bool) {
		r := stack.Resource{Key: ClassicKey(), Proof: stack.Name, State: stack.State(state), Spec: Classic{DNSName: name}}
		kind := CLB
		if network {
			r.Key, r.Spec, kind = networkKey(), Network{DNSName: name}, NLB
		}
		clean, err := statusOf(input{Kind: kind}, &stack.Stack{Resources: []stack.Resource{r}}).Clean()
		if len(clean.Ingress) > 1 || len(clean.Ingress) == 1 && err != nil {
			t.Errorf("%q: %v %v", name, clean, err)
		}
	})
}

func TestShadow(t *testing.T) {
	id := identity{Owner: stack.Owner{Namespace: "shop", Name: "web", UID: "u-1"}}
	rule := func(p Permission, description, source string) stack.Resource {
		return stack.Resource{Key: NodeRuleKey("sg-n", p, source), Spec: NodeRule{Group: "sg-n", Permission: p, Description: description}}
	}
	group := stack.RefTo(stack.Key{Kind: KindGroup})
	tests := []struct {
		name  string
		entry stack.Resource
		want  bool
	}{
		{"our client rule", rule(tcpPermission(31000, "0.0.0.0/0"), ClientDescription("au1"), ""), true},
		{"another's client rule", rule(tcpPermission(31000, "0.0.0.0/0"), ClientDescription("au2"), ""), false},
		{"a check of a port that many can have", rule(tcpPermission(10256, "10.0.0.0/8"), HealthDescription("au2"), ""), true},
		{"icmp", rule(sizeRule("0.0.0.0/0"), RuleMTU, ""), true},
		{"from our group", rule(Permission{Protocol: "-1", Source: group}, "", "k8s-elb-au1"), true},
		{"from another's group", rule(Permission{Protocol: "-1", Source: group}, "", "k8s-elb-au2"), false},
		{"from a user's group", rule(Permission{Protocol: "-1", Source: stack.RefID("sg-u")}, "", ""), true},
		{"what all load balancers of kind nlb-lbc share, which is left to another controller", rule(tcpPermission(1, ""), OwnRuleDescription, ""), false},
		{"no rule", stack.Resource{Key: ClassicKey(), Spec: Classic{}}, false},
	}
	for _, tt := range tests {
		if got := mayWant(id, tt.entry); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
	id.Config.DisableNodeRules = true
	if mayWant(id, rule(sizeRule("0.0.0.0/0"), RuleMTU, "")) {
		t.Error("rules are wanted although they are switched off")
	}
}

// TestRulesNameFields: every field that a rule names exists, and every edge
// names kinds that there are.
func TestRulesNameFields(t *testing.T) {
	specs := map[stack.Kind]stack.Spec{
		KindGroup: Group{}, KindIngress: Ingress{}, KindNodeRule: NodeRule{}, KindClassic: Classic{}, KindClassicPort: ClassicPort{},
		KindClassicPol: ClassicPolicy{}, KindClassicSSL: ClassicPolicies{}, KindClassicBack: ClassicPolicies{}, KindClassicAttr: ClassicAttributes{},
		KindClassicCheck: ClassicHealthCheck{}, KindClassicInst: ClassicInstances{}, KindNetwork: Network{}, KindNetworkAttr: Attributes{},
		KindTargetGroup: TargetGroup{}, KindTargets: Targets{}, KindTargetAttr: Attributes{}, KindListener: Listener{},
		KindSharedNetwork: Network{}, KindFrontGroup: Group{}, KindFrontRule: FrontRule{},
		KindSharedGroup: Group{}, KindListenerAttr: Attributes{}, KindCertificates: Certificates{}, KindCapacity: Capacity{},
	}
	rules := Rules()
	if len(rules.Kinds) != len(specs) {
		t.Errorf("%d rules for %d kinds", len(rules.Kinds), len(specs))
	}
	for kind, rule := range rules.Kinds {
		fields := map[string]bool{"create": true, "delete": true, "replace": true}
		for _, f := range stack.Fields(specs[kind]) {
			fields[f.Name] = true
		}
		for _, name := range slices.Concat(rule.Immutable, rule.Ignore, rule.Sticky, sortedKeys(rule.Sets), sortedKeys(rule.Equal), sortedKeys(rule.Parts), sortedKeys(rule.Impact)) {
			if !fields[name] {
				t.Errorf("%s: no field %s", kind, name)
			}
		}
	}
	for _, e := range rules.Edges {
		for _, m := range []diff.Match{e.First, e.Then} {
			if specs[m.Kind] == nil || e.Reason == "" {
				t.Errorf("edge %+v", e)
			}
		}
	}
}
