package ibm_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestRefused: what cannot be served is refused with the key, the value and what is legal,
// before anything is created.
func TestRefused(t *testing.T) {
	seed := onIBM().Start(t, simibm.Options{}).Cloud.Seed
	onIBM().Refused(t, withNodes(3), account.Refusals{
		"a public in another case":  {withKeys("ip-type", "Public"), nil, `ip-type: "Public" is not "public", case matters`},
		"classic infrastructure":    {withKeys("enable-features", "ipvs"), nil, "asks for ipvs, a load balancer of classic infrastructure"},
		"two kinds":                 {withKeys("enable-features", "nlb,private-path"), nil, "asks for the kinds nlb and private-path at once"},
		"PROXY of an nlb":           {withKeys("enable-features", "nlb,proxy-protocol"), nil, "asks for proxy-protocol, which network load balancers do not speak"},
		"idle connections of a nlb": {withKeys("enable-features", "nlb", "vpc-idle-connection-timeout", "60"), nil, "must not be set on this kind: network load balancers do not end connections"},
		"https check of an nlb":     {withKeys("enable-features", "nlb", "vpc-health-check-protocol", "https"), nil, `vpc-health-check-protocol: "https" is not`},
		"UDP without a check":       {withKeys("enable-features", "nlb"), props.UDP, "needs a TCP node port to be checked"},
		"UDP on a private path":     {withKeys("enable-features", "private-path"), props.UDP, "has a protocol that load balancers of kind private-path do not serve"},
		"a port of two protocols": {withKeys("enable-features", "nlb", "vpc-health-check-udp", "30080"), func(s *corev1.ServiceSpec) {
			s.Ports[1].Port, s.Ports[1].Protocol = s.Ports[0].Port, corev1.ProtocolUDP
		}, "is used twice, and a load balancer has one listener per number"},
		"a private nlb alone":         {withKeys("enable-features", "nlb", "ip-type", "private"), nil, "needs a subnet of its own in"},
		"a private nlb beside nodes":  {withKeys("enable-features", "nlb", "ip-type", "private", "vpc-subnets", seed.Subnets[0].ID), nil, "is a subnet of the cluster"},
		"two subnets of an nlb":       {withKeys("enable-features", "nlb", "vpc-subnets", seed.Subnets[0].ID+","+seed.Subnets[1].ID), nil, "has 2 items"},
		"a range of an alb":           {withKeys("vpc-port-range", "80-90"), nil, "application load balancers have no ranges of ports"},
		"a range of a private nlb":    {withKeys("enable-features", "nlb", "ip-type", "private", "vpc-subnets", seed.Separate[0].ID, "vpc-port-range", "80-90"), nil, "which private network load balancers do not have"},
		"a range without a port":      {withKeys("enable-features", "nlb", "vpc-port-range", "8000-8010"), nil, "whose first port is not a port of the Service"},
		"a range over a port":         {withKeys("enable-features", "nlb", "vpc-port-range", "80-500"), nil, "in which port 443 of the Service is"},
		"ranges that overlap":         {withKeys("enable-features", "nlb", "vpc-port-range", "80-90,85-95"), nil, "overlaps another range"},
		"a range backwards":           {withKeys("enable-features", "nlb", "vpc-port-range", "90-80"), nil, "is not a range of ports"},
		"an unknown security group":   {withKeys("vpc-security-group", "nobody"), nil, "is not the id or name of a security group of the VPC"},
		"a group of a private path":   {withKeys("enable-features", "private-path", "vpc-security-group", "web"), nil, "private path load balancers have no security groups"},
		"outbound traffic to no port": {withKeys("vpc-allow-outbound-traffic", "80,8080"), nil, "has 8080, which is not a port of the Service"},
		"outbound traffic to a word":  {withKeys("vpc-allow-outbound-traffic", "http"), nil, `has "http", which is not a port`},
		"a port of outbound twice":    {withKeys("vpc-allow-outbound-traffic", "80,80"), nil, "has the port 80 twice"},
		"outbound traffic to an nlb":  {withKeys("enable-features", "nlb", "vpc-allow-outbound-traffic", "80"), nil, "must not be set on this kind: rules are created for addresses of application load balancers only"},
		"a public private path":       {withKeys("enable-features", "private-path", "ip-type", "public"), nil, `ip-type: "public" is not`},
		"a zone without an instance":  {withKeys("ip-type", "private", "vpc-private-dns-zone-id", "z"), nil, "has no instance beside it"},
		"an unknown feature":          {withKeys("enable-features", "proxyprotocol"), nil, `has "proxyprotocol", which is not a feature`},
		"a zone without a subnet":     {withKeys("zone", "eu-de-9"), nil, "has no subnet of the cluster"},
		"a subnet of another VPC":     {withKeys("vpc-subnets", seed.Foreign.Name), nil, "is a subnet of another VPC"},
		"no subnet":                   {withKeys("vpc-subnets", "nowhere"), nil, `"nowhere" is not the id, name or IPv4 range of a subnet`},
		"two labels":                  {withKeys("vpc-node-selector", "a=b=c"), nil, "is not one label"},
		"a name in capitals":          {withKeys("vpc-lb-name", "Shop"), nil, "is not a name of a load balancer"},
		"a timeout above the delay":   {withKeys("vpc-health-check-timeout", "9"), nil, "is not less than the delay"},
		"a delay below the timeout":   {withKeys("vpc-health-check-delay", "2"), nil, "is not greater than the timeout"},
		"a quota of words":            {withKeys("vpc-member-quota", "few"), nil, "is not a number of nodes"},
		"UDP":                         {nil, props.UDP, "has a protocol that load balancers of kind alb do not serve"},
		"source ranges":               {nil, func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/8"} }, "cannot be applied"},
		"an address":                  {nil, func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.7" }, "the address is chosen by the subnet"},
		"eleven ports": {nil, func(s *corev1.ServiceSpec) {
			for i := range int32(9) {
				s.Ports = append(s.Ports, corev1.ServicePort{Name: string(rune('a' + i)), Protocol: corev1.ProtocolTCP, Port: 9000 + i, NodePort: 31000 + i})
			}
		}, "has 11 ports, more than the 10 listeners"},
	})
}

// TestImmutable: a change that a live load balancer cannot take over is refused, and its
// members follow the nodes.
func TestImmutable(t *testing.T) {
	onIBM().Immutable(t, withNodes(4), nil, map[string]map[string]string{
		"private": withKeys("ip-type", "private"), "another name": withKeys("vpc-lb-name", "shop-web"), "a network load balancer": withKeys("enable-features", "nlb"), "private DNS": withKeys("vpc-private-dns-instance-crn", "crn", "vpc-private-dns-zone-id", "z"),
	})
}

// TestNameOfOthers: a load balancer of the chosen name that has other pools is not touched,
// neither while the Service is served nor when it is deleted.
func TestNameOfOthers(t *testing.T) {
	w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 3}})
	first := props.Service("web", withKeys("vpc-lb-name", "shared")).Service
	w.Serve(first)
	second := first.DeepCopy()
	second.Name, second.UID = "other", account.UID(7)
	second.Spec.Ports[0].NodePort = 31080
	before := w.Sim.Cloud.Forwards()
	w.Control().Journal.Reset()
	res, err := w.Once(second, false)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(res.Draft.Problems.Strings(), "\n"); !strings.Contains(text, "has pools that are not the Service's") {
		t.Errorf("problems %q", text)
	}
	if _, err := w.Once(second, true); err != nil {
		t.Fatal(err)
	}
	if n, after := w.Control().Journal.Writes(), w.Sim.Cloud.Forwards(); n != 0 || len(after) != len(before) {
		t.Errorf("%d writes, forwards %+v", n, after)
	}
}

// TestQuotaWithLocalPolicy: with local endpoints all nodes are members, also while the Service
// cannot be built.
func TestQuotaWithLocalPolicy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 6}})
		svc := props.Service("web", withKeys("vpc-member-quota", "1"), props.Local).Service
		w.Serve(svc)
		svc.Annotations[prefix+"vpc-health-check-delay"] = "1"
		w.Restart(svc)
		w.Process.SetNodes(w.Machines[1:])
		if res, err := w.Once(svc, false); err != nil || !res.Draft.Problems.Errors() {
			t.Fatal(err, res.Draft.Problems)
		}
		for _, f := range w.Sim.Cloud.Forwards() {
			if len(f.Machines) != 5 {
				t.Errorf("port %d has the members %v", f.First, f.Machines)
			}
		}
	})
}

// TestNewSubnet: a subnet that is not known is looked up again soon, and known ones are not.
func TestNewSubnet(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 3}})
		lists := func(name string) int {
			w.Control().Journal.Reset()
			for range 2 {
				if _, err := w.Process.Draft(t.Context(), reconcile.Job{Service: props.Service("web", withKeys("vpc-subnets", name)).Service}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
			}
			return w.Control().Journal.Counts()["vpc.list_subnets"]
		}
		if n := lists(w.Sim.Cloud.Seed.Subnets[0].Name); n != 1 {
			t.Errorf("known: %d lists", n)
		}
		if n := lists("new"); n != 2 {
			t.Errorf("unknown: %d lists", n)
		}
	})
}

// TestMembersKept: a choice of nodes that is refused, or that matches no node, takes no member
// away and adds none; members that are no nodes any more are removed.
func TestMembersKept(t *testing.T) {
	for name, change := range map[string]map[string]string{
		"a zone that does not exist": withKeys("zone", "eu-de-9"), "a selector of two labels": withKeys("vpc-node-selector", "a=b=c"),
		"a selector without a node": withKeys("vpc-node-selector", "kubernetes.io/hostname=nowhere"),
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, withNodes(6))
			svc := props.Service("web", withKeys("zone", "eu-de-2")).Service
			w.Serve(svc)
			svc.Annotations = change
			for _, restarted := range []bool{false, true} {
				if restarted {
					w.Restart(svc)
				}
				if res, err := w.Once(svc, false); err != nil || res.Err != nil || !res.Draft.Problems.Errors() {
					t.Fatal(err, res.Err, res.Draft.Problems)
				}
				if got := w.Sim.Forwards(); len(got) != 2 || len(got[0].To) != 2 {
					t.Errorf("restarted %v: %v", restarted, got)
				}
			}
			w.Process.SetNodes(slices.Delete(slices.Clone(w.Machines), 1, 2)) // one of the zone
			if _, err := w.Once(svc, false); err != nil {
				t.Fatal(err)
			}
			if got := w.Sim.Forwards(); len(got) != 2 || len(got[0].To) != 1 {
				t.Errorf("a node less: %v", got)
			}
		})
	}
}
