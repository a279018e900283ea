package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// largeService returns a Service of so many ports, in a cluster of so many nodes in
// three zones.
func largeService(nodes, ports int, values map[string]string) (*corev1.Service, []corev1.Node, *Facts) {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "0a1b", Annotations: map[string]string{lbPrefix + "type": "nlb"}}}
	for k, v := range values {
		svc.Annotations[k] = v
	}
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	for n := range ports {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint("p", n), Protocol: corev1.ProtocolTCP, Port: int32(1000 + n), NodePort: int32(30000 + n)})
	}
	facts := &Facts{Cluster: ClusterTag{ID: "shop"}, VPC: "vpc-1", Subnets: []Subnet{newSubnet("subnet-a", "z0", true), newSubnet("subnet-b", "z1", true), newSubnet("subnet-c", "z2", true)}, Instances: map[string]Instance{}}
	var list []corev1.Node
	for n := range nodes {
		id := fmt.Sprintf("i-%05d", n)
		list = append(list, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n" + id}, Spec: corev1.NodeSpec{ProviderID: "aws:///z/" + id}})
		facts.Instances[id] = Instance{ID: id, Zone: fmt.Sprint("z", n%3)}
	}
	return svc, list, facts
}

// buildLarge returns the result of building one Service of largeService.
func buildLarge(t *testing.T, svc *corev1.Service, nodes []corev1.Node, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems) {
	t.Helper()
	in, problems := inputOf(Config{VPC: "vpc-1"}, "kubernetes", svc, nodes)
	want, more, err := buildStack(in, facts, have)
	if err != nil {
		t.Fatal(err)
	}
	return want, append(problems, more...)
}

// targetsOfPorts are the instances of each target group, by zone.
func targetsOfPorts(want *stack.Stack, facts *Facts) map[string]map[string]int {
	out := map[string]map[string]int{}
	for _, r := range want.Of(KindTargets) {
		out[r.Key.Name] = map[string]int{}
		for _, target := range r.Spec.(Targets).Targets {
			out[r.Key.Name][facts.Instances[target.ID].Zone]++
		}
	}
	return out
}

// TestTargetLimits: with more nodes than AWS takes, every port gets as many in each zone
// as it may, and the problem names both numbers.
func TestTargetLimits(t *testing.T) {
	for _, tc := range []struct {
		name         string
		nodes, ports int
		quota        TargetQuota
		values       map[string]string
		want         int // in each zone, behind each port
		told         string
	}{
		{"all fit", 300, 1, TargetQuota{}, nil, 100, ""},
		{"above the usual quota of a group, which may have been raised", 1200, 1, TargetQuota{}, nil, 400, "are 1200, above 1000"},
		{"above the usual quota of a zone", 900, 2, TargetQuota{}, nil, 300, "make 600 targets with 2 ports, above 500"},
		{"refused", 900, 2, TargetQuota{Group: 1000, Zone: 500}, nil, 250, "are 900 with 2 ports each, more than AWS takes as targets: 750 of them get traffic"},
		{"refused across zones", 900, 2, TargetQuota{Group: 1000, Zone: 501}, map[string]string{lbPrefix + "cross-zone-load-balancing-enabled": "true"}, 83, "250 of them get traffic"},
		{"a group that is full", 1800, 1, TargetQuota{Group: 999, Zone: 500}, nil, 333, "999 of them get traffic"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			svc, nodes, facts := largeService(tc.nodes, tc.ports, tc.values)
			facts.Quota = tc.quota
			want, problems := buildLarge(t, svc, nodes, facts, nil)
			for port, zones := range targetsOfPorts(want, facts) {
				for zone, n := range zones {
					if n != tc.want && n != tc.want+1 {
						t.Errorf("%s: %d in %s, want %d", port, n, zone, tc.want)
					}
				}
			}
			told := strings.Join(problems.Strings(), "\n")
			if tc.told == "" && strings.Contains(told, "targets") || !strings.Contains(told, tc.told) {
				t.Errorf("told %q, want %q", told, tc.told)
			}
		})
	}
}

// TestTargetsStay: the chosen nodes do not change from run to run, nor because a node is
// added.
func TestTargetsStay(t *testing.T) {
	svc, nodes, facts := largeService(1800, 1, nil)
	facts.Quota = TargetQuota{Group: 1000, Zone: 500}
	first, _ := buildLarge(t, svc, nodes[:1799], facts, nil)
	again, _ := buildLarge(t, svc, nodes, facts, asFound(first))
	key := stack.Key{Kind: KindTargets, Name: PortKey("tcp", 1000)}
	one, _ := first.Get(key)
	two, _ := again.Get(key)
	if d := cmp.Diff(one.Spec, two.Spec); d != "" {
		t.Errorf("targets (-before +after):\n%s", d)
	}
}

// TestStoppedLeftOut: a target group does not take instances that do not run.
func TestStoppedLeftOut(t *testing.T) {
	svc, nodes, facts := largeService(3, 1, nil)
	facts.Instances["i-00001"] = Instance{ID: "i-00001", Zone: "z1", Stopped: true}
	want, problems := buildLarge(t, svc, nodes, facts, nil)
	if d := cmp.Diff(map[string]map[string]int{PortKey("tcp", 1000): {"z0": 1, "z2": 1}}, targetsOfPorts(want, facts)); d != "" {
		t.Errorf("targets (-want +got):\n%s", d)
	}
	if told := strings.Join(problems.Strings(), "\n"); !strings.Contains(told, "do not run: i-00001") {
		t.Errorf("told %q", told)
	}
}

// TestRulesBounded: ports and ranges that no account can have are refused before any
// rule is created; numbers that a raised quota allows are reported.
func TestRulesBounded(t *testing.T) {
	ranges := func(n int) []string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf("10.%d.%d.0/24", i/250, i%250))
		}
		return out
	}
	for _, tc := range []struct {
		kind          string
		ports, ranges int
		refused       bool
		told          string
	}{
		{"nlb", 50, 1000, true, "takes 51000 rules for its ports and 1000 ranges, more than the 1000 that a load balancer of kind nlb can have; accounts that have not raised the quota of a security group have 60"},
		{"clb", 100, 5000, true, "505000 rules"},
		{"clb", 9, 100, false, "needs 1000 rules: that is above 60"},
		{"clb", 2, 20, false, ""},
	} {
		t.Run(fmt.Sprint(tc.kind, tc.ports, "x", tc.ranges), func(t *testing.T) {
			svc, nodes, facts := largeService(1, tc.ports, map[string]string{lbPrefix + "type": tc.kind})
			svc.Spec.LoadBalancerSourceRanges = ranges(tc.ranges)
			want, problems := buildLarge(t, svc, nodes, facts, nil)
			if (want == nil) != tc.refused {
				t.Errorf("refused: %v, want %v: %v", want == nil, tc.refused, problems.Strings())
			}
			told := strings.Join(problems.Strings(), "\n")
			if tc.told == "" && strings.Contains(told, "rules") || !strings.Contains(told, tc.told) {
				t.Errorf("told %q, want %q", told, tc.told)
			}
		})
	}
}

// TestTagsThatAWSRefuses are reported before anything is created.
func TestTagsThatAWSRefuses(t *testing.T) {
	var many []string
	for n := range 48 {
		many = append(many, fmt.Sprintf("k%d=v", n))
	}
	for _, tc := range []struct{ tags, told string }{
		{"team=shop,stage=prod test", ""},
		{strings.Join(many[:47], ","), ""},
		{strings.Join(many, ","), "has 48 tags"},
		{"AWS:x=1", "begins with aws:"},
		{strings.Repeat("k", 129) + "=1", "key is longer than 128"},
		{"k=" + strings.Repeat("v", 257), "value is longer than 256"},
		{"k=a;b", "character that AWS does not allow"},
	} {
		_, problems := parseAnnotations(CLB, map[string]string{"additional-resource-tags": tc.tags})
		told := strings.Join(problems, "\n")
		if strings.Contains(told, "error: ") != (tc.told != "") || !strings.Contains(told, tc.told) {
			t.Errorf("%.20s: told %q, want %q", tc.tags, told, tc.told)
		}
	}
}

// TestScheme: the key of the other controller never ends in a load balancer that
// clients from the internet reach though it asks for an internal one.
func TestScheme(t *testing.T) {
	for _, tc := range []struct {
		scheme, internal, want string
		refused                bool
	}{
		{"", "", schemePublic, false},
		{SchemeInternal, "", SchemeInternal, false},
		{schemePublic, "", schemePublic, false},
		{SchemeInternal, "true", SchemeInternal, false},
		{SchemeInternal, "false", "", true},
		{schemePublic, "true", "", true},
		{"odd", "", schemePublic, false},
	} {
		values := map[string]string{}
		if tc.scheme != "" {
			values[lbPrefix+"scheme"] = tc.scheme
		}
		if tc.internal != "" {
			values[lbPrefix+"internal"] = tc.internal
		}
		svc, nodes, facts := largeService(1, 1, values)
		want, problems := buildLarge(t, svc, nodes, facts, nil)
		spec, _ := stack.SpecOf[Network](want, networkKey())
		if problems.Errors() != tc.refused || !tc.refused && spec.Scheme != tc.want {
			t.Errorf("scheme %q, internal %q: got %q, %v", tc.scheme, tc.internal, spec.Scheme, problems.Strings())
		}
	}
}

// TestOldClusterTag: the old form of the tag counts in every cluster.
func TestOldClusterTag(t *testing.T) {
	c := ClusterTag{ID: "shop"}
	if !c.Marks(Tags{TagClusterLegacy: "shop"}) || c.Marks(Tags{TagClusterLegacy: "other"}) || !c.Owns(Tags{TagClusterLegacy: "shop"}) {
		t.Error("what has the old tag alone is not the cluster's")
	}
}

// TestCheckTimeout: a check is over before the next one begins.
func TestCheckTimeout(t *testing.T) {
	for _, tc := range []struct {
		values map[string]string
		want   int32
	}{
		{nil, 0},
		{map[string]string{"healthcheck-interval": "5"}, 5},
		{map[string]string{"healthcheck-interval": "10"}, 0},
		{map[string]string{"healthcheck-interval": "6", "healthcheck-protocol": "http"}, 0},
		{map[string]string{"healthcheck-interval": "5", "healthcheck-protocol": "http"}, 5},
		{map[string]string{"healthcheck-timeout": "3"}, 0}, // as the official controller
	} {
		in := input{Service: &corev1.Service{}}
		in.Values, _ = parseAnnotations(NLB, tc.values)
		if got := networkCheck(in).timeout; got != tc.want {
			t.Errorf("%v: %d, want %d", tc.values, got, tc.want)
		}
	}
}

// TestRangesWithoutGroups: source ranges of a Network Load Balancer without security groups are
// reported where its targets do not see the addresses of clients.
func TestRangesWithoutGroups(t *testing.T) {
	for value, reported := range map[string]bool{"": false, attrPreserveIP + "=true": false, attrPreserveIP + "=false": true} {
		svc, nodes, facts := largeService(1, 1, map[string]string{lbPrefix + "target-group-attributes": value})
		svc.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
		want, problems := buildLarge(t, svc, nodes, facts, nil)
		found := slices.ContainsFunc(problems, func(p annotations.Problem) bool {
			return p.Code == annotations.CodeLacking && p.Severity == annotations.Warning
		})
		if want == nil || found != reported {
			t.Errorf("%q: reported %v: %v", value, found, problems.Strings())
		}
	}
}
