package nodeports

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// byValue lets cmp compare addresses and ranges, which have no exported fields.
var byValue = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

func parseAddrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, t := range texts {
		out = append(out, netip.MustParseAddr(t))
	}
	return out
}

func TestProject(t *testing.T) {
	now := metav1.Now()
	for name, tc := range map[string]struct {
		node *corev1.Node
		keep func(string) bool
		want Node
	}{
		"bare": {
			node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			want: Node{Name: "a", Ready: corev1.ConditionUnknown},
		},
		"all of it": {
			node: &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{
					Name:              "a",
					DeletionTimestamp: &now,
					Labels: map[string]string{
						"topology.kubernetes.io/zone":            "z1",
						"failure-domain.beta.kubernetes.io/zone": "old",
						"pool":                                   "blue",
						"other":                                  "x",
					},
				},
				Spec: corev1.NodeSpec{
					ProviderID: "aws:///z1/i-1",
					Taints: []corev1.Taint{
						{Key: "b", Effect: corev1.TaintEffectNoExecute},
						{Key: "a", Effect: corev1.TaintEffectNoSchedule},
						{Key: "b", Effect: corev1.TaintEffectNoSchedule},
					},
				},
				Status: corev1.NodeStatus{
					Conditions: []corev1.NodeCondition{
						{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse},
						{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
					},
					Addresses: []corev1.NodeAddress{
						{Type: corev1.NodeHostName, Address: "10.9.9.9"},
						{Type: corev1.NodeInternalIP, Address: "10.0.0.1"},
						{Type: corev1.NodeInternalIP, Address: "2001:DB8::0001"},
						{Type: corev1.NodeInternalIP, Address: "a.example"},
						{Type: corev1.NodeExternalIP, Address: "192.0.2.007"},
						{Type: corev1.NodeInternalIP, Address: "::ffff:10.0.0.2"},
					},
				},
			},
			keep: func(k string) bool { return k == "pool" },
			want: Node{
				Name: "a", ProviderID: "aws:///z1/i-1", Zone: "z1", Deleting: true,
				Labels: map[string]string{"pool": "blue"}, TaintKeys: []string{"a", "b"}, Ready: corev1.ConditionTrue,
				Internal: parseAddrs("10.0.0.1", "2001:db8::1", "10.0.0.2"), External: parseAddrs("192.0.2.7"),
			},
		},
		"beta zone": {
			node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"failure-domain.beta.kubernetes.io/zone": "z9"}}},
			want: Node{Zone: "z9", Ready: corev1.ConditionUnknown},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Project(tc.node, tc.keep)
			if diff := cmp.Diff(withoutEqual(tc.want), withoutEqual(got), byValue); diff != "" {
				t.Errorf("projection (-want +got):\n%s", diff)
			}
		})
	}
}

// withoutEqual removes the Equal method, so that cmp shows which field differs.
func withoutEqual(n Node) any {
	type node Node
	return node(n)
}

func TestExcludeLabel(t *testing.T) {
	const key = "node.kubernetes.io/exclude-from-external-load-balancers"
	for _, tc := range []struct {
		labels   map[string]string
		excluded bool
		present  bool
	}{
		{nil, false, false},
		{map[string]string{"foo": "true"}, false, false},
		{map[string]string{key: "false"}, false, true},
		{map[string]string{key: "0"}, false, true},
		{map[string]string{key: "f"}, false, true},
		{map[string]string{key: "F"}, false, true},
		{map[string]string{key: "FALSE"}, false, true},
		{map[string]string{key: "False"}, false, true},
		{map[string]string{key: "true"}, true, true},
		{map[string]string{key: "1"}, true, true},
		{map[string]string{key: ""}, true, true},
		{map[string]string{key: "no"}, true, true},
		{map[string]string{key: "fAlse"}, true, true},
	} {
		n := Project(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: tc.labels}}, nil)
		if n.Excluded != tc.excluded || n.ExcludeLabel != tc.present || n.Eligible() == tc.excluded {
			t.Errorf("%v: want excluded %t, present %t; got %t, %t, eligible %t", tc.labels, tc.excluded, tc.present, n.Excluded, n.ExcludeLabel, n.Eligible())
		}
	}
}

func TestEligible(t *testing.T) {
	for name, tc := range map[string]struct {
		node Node
		want bool
	}{
		"nothing known":         {Node{}, true},
		"not ready":             {Node{Ready: corev1.ConditionFalse}, true},
		"another taint":         {Node{TaintKeys: []string{"node.kubernetes.io/unschedulable"}}, true},
		"no provider id":        {Node{ProviderID: ""}, true},
		"about to be removed":   {Node{TaintKeys: []string{"A", TaintToBeDeleted}}, false},
		"deleting":              {Node{Deleting: true}, false},
		"excluded":              {Node{Excluded: true, ExcludeLabel: true}, false},
		"label parses as false": {Node{ExcludeLabel: true}, true},
	} {
		if got := tc.node.Eligible(); got != tc.want {
			t.Errorf("%s: want %t, got %t", name, tc.want, got)
		}
	}
}

func TestNodeEqual(t *testing.T) {
	base := func() Node {
		return Node{
			Name: "a", ProviderID: "p", Zone: "z", Internal: parseAddrs("10.0.0.1"), External: parseAddrs("192.0.2.1"),
			Labels: map[string]string{"k": "v"}, TaintKeys: []string{"t"}, Ready: corev1.ConditionTrue,
		}
	}
	if !base().Equal(base()) {
		t.Error("a node does not equal itself")
	}
	for name, change := range map[string]func(*Node){
		"name":          func(n *Node) { n.Name = "b" },
		"provider id":   func(n *Node) { n.ProviderID = "q" },
		"zone":          func(n *Node) { n.Zone = "y" },
		"created again": func(n *Node) { n.UID = "2" },
		"restarted":     func(n *Node) { n.BootID = "2" },
		"internal":      func(n *Node) { n.Internal = parseAddrs("10.0.0.2") },
		"external":      func(n *Node) { n.External = nil },
		"labels":        func(n *Node) { n.Labels = map[string]string{"k": "w"} },
		"taints":        func(n *Node) { n.TaintKeys = nil },
		"ready":         func(n *Node) { n.Ready = corev1.ConditionFalse },
		"excluded":      func(n *Node) { n.Excluded = true },
		"exclude label": func(n *Node) { n.ExcludeLabel = true },
		"deleting":      func(n *Node) { n.Deleting = true },
	} {
		changed := base()
		change(&changed)
		if base().Equal(changed) {
			t.Errorf("%s: want a difference, got none", name)
		}
	}
}

func TestHeartbeatIsNoEvent(t *testing.T) {
	node := func(beat int64, image string) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: image, Labels: map[string]string{"noise": image}},
			Status: corev1.NodeStatus{
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Unix(beat, 0)}},
				Images:     []corev1.ContainerImage{{Names: []string{image}}},
			},
		}
	}
	if a, b := Project(node(1, "x"), nil), Project(node(2, "y"), nil); !a.Equal(b) {
		t.Errorf("a heartbeat changed the projection:\n%+v\n%+v", a, b)
	}
}

func TestAddress(t *testing.T) {
	n := Node{Internal: parseAddrs("2001:db8::1", "10.0.0.1", "10.0.0.2"), External: parseAddrs("192.0.2.1")}
	only := Node{External: parseAddrs("192.0.2.1")}
	for _, tc := range []struct {
		node   Node
		family corev1.IPFamily
		want   string
	}{
		{n, corev1.IPv4Protocol, "10.0.0.1"},
		{n, corev1.IPv6Protocol, "2001:db8::1"},
		{only, corev1.IPv4Protocol, "192.0.2.1"},
		{only, corev1.IPv6Protocol, ""},
	} {
		got, ok := tc.node.Address(tc.family)
		if ok != (tc.want != "") || ok && got.String() != tc.want {
			t.Errorf("%s: want %q, got %v %t", tc.family, tc.want, got, ok)
		}
	}
}
