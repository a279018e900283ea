package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// newKeys returns the keys of a small cloud: one with an old name, one per port, one in any
// case and one that the program writes.
func newKeys(t *testing.T) *annotations.Set {
	t.Helper()
	key := func(name string, anyCase bool, aliases ...string) annotations.Declaration {
		return &annotations.Key[string]{Name: name, Aliases: aliases, AnyCase: anyCase, Group: "all", Example: "x", Doc: "Is there for the test.",
			Forms: []annotations.Form[string]{{Type: annotations.String(), Source: "this test"}}}
	}
	set, err := annotations.NewSet("toy", []string{"toy.example/"},
		key("toy.example/address", false, "old.example/address"), key("toy.example/port-<PORT>-tls", false),
		key("toy.example/groups", true), key("toy.example/internal", false), key("toy.example/rule", false))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const tenants = `
allowedNamespaces: ["team-*", platform, bare]
rules:
- name: tenants
  namespaces: ["team-*"]
  exceptNamespaces: ["team-infra"]
  forbidAnnotations: ["toy.example/port-*", "toy.example/address"]
  forbidInternet: true
  forbidOpenNodes: true
  kinds: [small]
  classes: ["", "toy.example/*"]
  names:
    subnet: ["*/apps/*", "apps-*"]
    "*": []
- name: nobody
  namespaces: ["*"]
  names:
    resource-group: ["shared"]
`

func TestJudge(t *testing.T) {
	internal := providers.Reach{Kind: "small", Scheme: annotations.Origin{Key: "toy.example/internal", Raw: "true"}}
	open := internal
	open.Internet, open.Internal, open.Scheme.Raw = true, "true", ""
	naming := func(thing providers.Thing, value string) providers.Reach {
		r := internal
		r.Names = []providers.Naming{{Thing: thing, Key: "toy.example/" + string(thing), Value: value}}
		return r
	}
	opens := internal
	opens.Opens = []providers.Naming{{Thing: annotations.ThingSecurityGroup, Key: "toy.example/groups", Value: "sg-1"}}
	beyond := internal
	beyond.Beyond = []providers.Naming{{Thing: "resource-group", Key: "toy.example/group", Value: "shared"}, {Thing: "load-balancer", Key: "toy.example/lb", Value: "other/lb"}}
	large := internal
	large.Kind = "large"
	class := "other.example/x"
	for name, c := range map[string]struct {
		namespace   string
		annotations map[string]string
		labels      map[string]string
		class       *string
		reach       providers.Reach
		want        []string
	}{
		"nothing special": {namespace: "team-a", reach: internal},
		"of another namespace": {namespace: "team-a", reach: beyond, want: []string{
			`toy.example/lb: "other/lb" is of another namespace, and no rule of the policy allows it to Services of team-a; legal is one of its own namespace, or a rule of --policy-config that has it in names.load-balancer`}},
		"another namespace":       {namespace: "default", reach: internal, want: []string{`metadata.namespace: "default" is none of the namespaces that this controller serves; legal is "team-*" or "platform" or "bare"`}},
		"outside of the flag":     {namespace: "bare", reach: internal, want: []string{`metadata.namespace: "bare" is none of the namespaces that this controller serves; legal is "team-*" or "platform" or "default"`}},
		"a namespace without one": {namespace: "platform", reach: open},
		"an exception":            {namespace: "team-infra", reach: open},
		"the internet": {namespace: "team-a", reach: open, want: []string{
			`toy.example/internal: without it the Service is refused by the policy, rule "tenants": the internet could reach the load balancer; legal is an internal one, "true"`}},
		"a key": {namespace: "team-a", annotations: map[string]string{"toy.example/address": "web"}, reach: internal, want: []string{
			`toy.example/address: "web" is refused by the policy, rule "tenants"; legal is a Service without "toy.example/address"`}},
		"its old name": {namespace: "team-a", annotations: map[string]string{"old.example/address": "web"}, reach: internal, want: []string{
			`old.example/address: "web" is refused by the policy, rule "tenants"; legal is a Service without "toy.example/address"`}},
		"a key per port": {namespace: "team-a", annotations: map[string]string{"toy.example/port-443-tls": "yes"}, reach: internal, want: []string{
			`toy.example/port-443-tls: "yes" is refused by the policy, rule "tenants"; legal is a Service without "toy.example/port-*"`}},
		"a label":           {namespace: "team-a", labels: map[string]string{"toy.example/address": "web"}, reach: internal, want: []string{`toy.example/address: "web" is refused by the policy, rule "tenants"; legal is a Service without "toy.example/address"`}},
		"an undeclared key": {namespace: "team-a", annotations: map[string]string{"toy.example/port": "yes"}, reach: internal},
		"all ports of the nodes": {namespace: "team-a", reach: opens, want: []string{
			`toy.example/groups: "sg-1" is refused by the policy, rule "tenants": the nodes would let this security group in on all ports; legal is a load balancer whose security group is its own`}},
		"all ports elsewhere": {namespace: "platform", reach: opens},
		"a kind":              {namespace: "team-a", reach: large, want: []string{`kind of load balancer: "large" is refused by the policy, rule "tenants"; legal is "small"`}},
		"a class":             {namespace: "team-a", class: &class, reach: internal, want: []string{`spec.loadBalancerClass: "other.example/x" is refused by the policy, rule "tenants"; legal is "" or "toy.example/*"`}},
		"a listed subnet":     {namespace: "team-a", reach: naming(annotations.ThingSubnet, "apps-1")},
		"one with slashes":    {namespace: "team-a", reach: naming(annotations.ThingSubnet, "/net/apps/1")},
		"another subnet":      {namespace: "team-a", reach: naming(annotations.ThingSubnet, "db-1"), want: []string{`toy.example/subnet: "db-1" is refused by the policy, rule "tenants"; legal is the subnet "*/apps/*" or "apps-*"`}},
		"a thing of no key":   {namespace: "team-a", reach: naming(annotations.ThingBucket, "logs"), want: []string{`toy.example/bucket: "logs" is refused by the policy, rule "tenants"; legal is no bucket`}},
		"allowed by one rule": {namespace: "team-a", reach: naming(annotations.ThingResourceGroup, "shared"), want: []string{`toy.example/resource-group: "shared" is refused by the policy, rule "tenants"; legal is no resource-group`}},
		"one rule of two":     {namespace: "platform", reach: naming(annotations.ThingResourceGroup, "mine"), want: []string{`toy.example/resource-group: "mine" is refused by the policy, rule "nobody"; legal is the resource-group "shared"`}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse([]byte(tenants), newKeys(t))
			if err != nil {
				t.Fatal(err)
			}
			svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "web", Annotations: c.annotations, Labels: c.labels}}
			svc.Spec.LoadBalancerClass = c.class
			var got []string
			for _, problem := range p.Within([]string{"team-*", "platform", "default"}).Judge(svc, c.reach, nil) {
				got = append(got, problem.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpellings forbids by one spelling and writes another.
func TestSpellings(t *testing.T) {
	for _, c := range []struct {
		pattern, key string
		want         bool
	}{
		{"toy.example/groups", "TOY.example/Groups", true},
		{"TOY.EXAMPLE/groups", "toy.example/groups", true},
		{"old.example/address", "toy.example/address", true},
		{"old.example/*", "toy.example/address", true},
		{"toy.example/port-<PORT>-tls", "toy.example/port-80-tls", true},
		{"toy.example/groups", "toy.example/internal", false},
		{"*", "toy.example/internal", true},
		{"*", "toy.example/rule", false}, // the program writes it
		{"*", "somebody.example/else", false},
	} {
		body := "rules: [{name: r, namespaces: ['*'], forbidAnnotations: ['" + c.pattern + "']}]"
		p, err := Parse([]byte(body), newKeys(t), "toy.example/rule")
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{c.key: "x"}}}
		if got := p.Judge(svc, providers.Reach{}, nil).Errors(); got != c.want {
			t.Errorf("pattern %s, key %s: refused %v, want %v", c.pattern, c.key, got, c.want)
		}
	}
}

func TestZero(t *testing.T) {
	if got := new(Policy).Within(nil).Judge(&corev1.Service{}, providers.Reach{Internet: true}, nil); got != nil {
		t.Errorf("no policy refuses: %v", got)
	}
}

// TestLimits: each limit refuses what is beyond it and says both numbers; what is at
// it passes.
func TestLimits(t *testing.T) {
	p, err := Parse([]byte("rules: [{name: r, namespaces: ['*'], maxPorts: 3, maxSourceRanges: 2, maxRules: 8, maxLoadBalancers: 1}]"), newKeys(t))
	if err != nil {
		t.Fatal(err)
	}
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	for _, c := range []struct {
		size  providers.Size
		older int
		want  string
	}{
		{providers.Size{Ports: 3, Ranges: 2, Rules: 8}, 0, ""},
		{providers.Size{Ports: 4}, 0, `spec.ports: is refused by the policy, rule "r": the Service has 4 ports; legal is at most 3`},
		{providers.Size{Ranges: 3}, 0, `spec.loadBalancerSourceRanges: is refused by the policy, rule "r": the Service has 3 source ranges; legal is at most 2`},
		{providers.Size{Rules: 9}, 0, `spec.loadBalancerSourceRanges: is refused by the policy, rule "r": the Service has 9 rules for its ports and source ranges; legal is at most 8`},
		{providers.Size{}, 1, `metadata.namespace: "shop" is refused by the policy, rule "r": as many older Services of the namespace have load balancers as may; legal is at most 1 in each namespace`},
	} {
		got := strings.Join(p.Judge(svc, providers.Reach{Size: c.size}, func() int { return c.older }).Strings(), "\n")
		if got != c.want {
			t.Errorf("%+v, %d older: got %q, want %q", c.size, c.older, got, c.want)
		}
	}
	none, err := Parse([]byte("rules: [{name: r, namespaces: ['*'], maxLoadBalancers: 0}]"), newKeys(t))
	if err != nil || !none.Judge(svc, providers.Reach{}, nil).Errors() {
		t.Errorf("a limit of none allows one: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"nothing":                {"", "neither names namespaces nor has rules"},
		"an empty object":        {"{}", "neither names namespaces nor has rules"},
		"an unknown field":       {"rules: [{name: a, namespaces: ['*'], forbidInternt: true}]", "forbidInternt"},
		"a list that is a word":  {"rules: [{name: a, namespaces: team}]", "rules.namespaces"},
		"no name":                {"rules: [{namespaces: ['*'], forbidInternet: true}]", "name is missing"},
		"a name twice":           {"rules: [{name: a, namespaces: ['*'], kinds: []}, {name: a, namespaces: ['*'], kinds: []}]", `the name "a" is taken`},
		"no namespaces":          {"rules: [{name: a, forbidInternet: true}]", "namespaces is missing"},
		"a rule without effect":  {"rules: [{name: a, namespaces: ['*']}]", "it forbids nothing"},
		"a misspelt annotation":  {"rules: [{name: a, namespaces: ['*'], forbidAnnotations: [toy.example/addr]}]", `"toy.example/addr" is no annotation of toy`},
		"an unknown thing":       {"rules: [{name: a, namespaces: ['*'], names: {subnets: []}}]", `"subnets" is not known; legal: *, address,`},
		"a key without a value":  {"rules: [{name: a, namespaces: ['*'], forbidInternet: true, kinds: }]", "rules[0].kinds has no value"},
		"a limit below nothing":  {"rules: [{name: a, namespaces: ['*'], maxPorts: -1}]", "maxPorts: -1 is less than 0"},
		"a limit without value":  {"rules: [{name: a, namespaces: ['*'], forbidInternet: true, maxRules: }]", "rules[0].maxRules has no value"},
		"a thing without values": {"rules: [{name: a, namespaces: ['*'], names: {subnet: }}]", "rules[0].names.subnet has no value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.body), newKeys(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error that says %q", err, c.want)
			}
		})
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"", "", true}, {"", "a", false},
		{"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abc", true}, {"a*a", "a", false}, {"a*b*c", "axbxc", true},
		{"a*b*c", "axc", false}, {"**", "x", true}, {"a.c", "abc", false}, {"a*bc*c", "abc", false},
	} {
		if got := matchPattern(c.pattern, c.text); got != c.want {
			t.Errorf("%q on %q: got %v", c.pattern, c.text, got)
		}
	}
}
