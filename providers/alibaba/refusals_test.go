package alibaba_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestRefused: what cannot be served is refused with the key, the value and what is legal,
// before anything is created.
func TestRefused(t *testing.T) {
	old := domain + "alicloud-loadbalancer-"
	onAlibaba().Refused(t, withNodes(3), account.Refusals{
		"an intranet in another case":         {withKeys("address-type", "Intranet"), nil, `address-type: "Intranet" is not "intranet", case matters`},
		"a load balancer that does not exist": {withKeys("id", "lb-1"), nil, "is no load balancer of this account and region"},
		"the same in the old spelling":        {map[string]string{old + "id": "lb-1"}, nil, old + `id: "lb-1" is no load balancer`},
		"a list that does not exist":          {withKeys("acl-status", "on", "acl-id", "acl-1", "acl-type", "white"), nil, "has acl-1, which is no access control list"},
		"access control without lists":        {withKeys("acl-status", "on"), nil, "needs " + prefix + "acl-id"},
		"a redirect to a port without HTTPS":  {withKeys("protocol-port", "http:80", "forward-port", "80:8443"), nil, "redirects to the port 8443, which has no listener of HTTPS"},
		"a redirect without a port":           {withKeys("forward-port", "80"), nil, "is not a pair with a colon"},
		"two groups for a port":               {withKeys("id", "lb-1", "vgroup-port", "rsp-1:80,rsp-2:80"), nil, "has two server groups for the port 80"},
		"a size without PayBySpec":            {withKeys("spec", "slb.s1.small"), nil, "only for a load balancer that is paid by its size"},
		"a size that does not exist":          {withKeys("instance-charge-type", "PayBySpec", "spec", "slb.huge"), nil, `"slb.huge"`},
		"https without a certificate":         {withKeys("protocol-port", "https:80"), nil, "needs a certificate"},
		"an unknown protocol":                 {withKeys("protocol-port", "tls:80"), nil, `has the protocol "tls"`},
		"a protocol without a port":           {withKeys("protocol-port", "http"), nil, "is not a protocol and a port"},
		"udp for a port of TCP":               {withKeys("protocol-port", "udp:80"), nil, "a protocol over that of the port"},
		"udp for the second port of a number": {withKeys("protocol-port", "udp:53"), func(s *corev1.ServiceSpec) {
			s.Ports = append(s.Ports, corev1.ServicePort{Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53, NodePort: 31053}, corev1.ServicePort{Name: "dns-tcp", Protocol: corev1.ProtocolTCP, Port: 53, NodePort: 31054})
		}, "has udp for the port dns-tcp (53/TCP)"},
		"a cookie without a name":  {withKeys("protocol-port", "http:80", "sticky-session", "on", "sticky-session-type", "server"), nil, "needs " + prefix + "cookie"},
		"a path without a slash":   {withKeys("health-check-uri", "live"), nil, "is not a path"},
		"a class of answers":       {withKeys("health-check-httpcode", "200"), nil, "is not a class of answers"},
		"a weight above the range": {withKeys("default-weight", "101"), nil, "default-weight"},
		"labels without a value":   {withKeys("backend-label", "edge"), nil, "is not a label and its value"},
		"eleven tags":              {withKeys("additional-resource-tags", "a,b,c,d,e,f,g,h,i"), nil, "makes 11 tags"},
		"source ranges":            {nil, func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/8"} }, "cannot be applied"},
		"an address":               {nil, func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.7" }, "for an address of the vSwitch"},
		"SCTP":                     {nil, func(s *corev1.ServiceSpec) { s.Ports[0].Protocol = corev1.ProtocolSCTP }, "has a protocol that load balancers of kind clb do not serve"},
		"51 ports": {nil, func(s *corev1.ServiceSpec) {
			for i := range int32(49) {
				s.Ports = append(s.Ports, corev1.ServicePort{Name: fmt.Sprint("p", i), Protocol: corev1.ProtocolTCP, Port: 9000 + i, NodePort: 31000 + i})
			}
		}, "has 51 ports, more than the 50 listeners"},
	})
}

// TestImmutable: a change that a live load balancer cannot take over is refused, and its
// servers follow the nodes.
func TestImmutable(t *testing.T) {
	onAlibaba().Immutable(t, withNodes(4), nil, map[string]map[string]string{
		"intranet": withKeys("address-type", "intranet"), "another zone": withKeys("master-zoneid", "cn-hangzhou-k"), "another resource group": withKeys("resource-group-id", "rg-2"),
		"a load balancer of others": withKeys("id", "lb-1"), "access control": withKeys("acl-status", "on"), "IPv6": withKeys("ip-version", "ipv6"),
	})
}

// TestListenerOfOthers: a listener that the user created on a wanted port is named and left alone,
// and the other ports are served.
func TestListenerOfOthers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(3))
		svc := props.Service("web", nil).Service
		full := svc.Spec.Ports
		svc.Spec.Ports = full[:1]
		w.Serve(svc)
		lb := w.Sim.Cloud.Balancers()[0]
		w.Sim.Cloud.AddListener(lb, "tcp", int(full[1].Port), "made by hand")
		w.Restart(svc)
		svc.Spec.Ports = full
		third := full[1]
		third.Name, third.Port, third.NodePort = "third", 8443, 31843
		svc.Spec.Ports = append(svc.Spec.Ports[:2:2], third)
		res, err := w.Once(svc, false)
		if err != nil || res.Clean {
			t.Fatalf("err %v, clean %v", err, res.Clean)
		}
		if text := strings.Join(res.Draft.Problems.Strings(), "\n"); !strings.Contains(text, `listener "made by hand" of the load balancer `+lb) {
			t.Errorf("problems %q", text)
		}
		if got := w.Sim.Cloud.Description(lb, "tcp", int(full[1].Port)); got != "made by hand" {
			t.Errorf("the listener is %q now", got)
		}
		if ports := len(w.Sim.Cloud.Forwards()); ports != 2 {
			t.Errorf("%d ports are forwarded, want 80 and 8443", ports)
		}
	})
}

// TestServersOfOthers: servers that the user added to a group stay, also when the port is removed.
func TestServersOfOthers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(4))
		seed := w.Sim.Cloud.Seed
		w.Machines = w.Machines[:3]
		w.Restart()
		svc := props.Service("web", nil).Service
		w.Serve(svc)
		group := fmt.Sprintf("k8s/%d/%s/%s/%s", svc.Spec.Ports[1].NodePort, svc.Name, svc.Namespace, seed.ClusterID)
		w.Sim.Cloud.AddServer(group, seed.Nodes[3].InstanceID, 9000, "mine")
		w.Restart(svc)
		w.Serve(svc)
		svc.Spec.Ports = svc.Spec.Ports[:1]
		w.Serve(svc)
		if got := w.Sim.Cloud.ServersOf(group); len(got) != 1 || got[0] != seed.Nodes[3].InstanceID+":9000" {
			t.Errorf("servers %v", got)
		}
		w.Release(svc)
	})
}

// TestPreserved: a load balancer that is kept when the Service is deleted forwards as before, and
// has neither protections nor the tags of the controller.
func TestPreserved(t *testing.T) {
	for _, key := range []string{prefix, domain + "alicloud-loadbalancer-"} {
		for _, known := range []bool{false, true} {
			virtual.Run(t, fmt.Sprintf("%s, known %v", key, known), func(t *testing.T) {
				w := beginWorld(t, withNodes(3))
				svc := props.Service("web", withKeys("additional-resource-tags", "Team=web")).Service
				w.Serve(svc)
				before := w.Sim.Cloud.Forwards()
				svc.Annotations[key+"preserve-lb-on-delete"] = "false"
				if !known {
					w.Restart(svc)
				}
				w.Control().Journal.Reset()
				w.Release(svc)
				if n := w.Control().Journal.Writes(); n != 3 {
					t.Errorf("%d writes: %v", n, w.Control().Journal.Counts())
				}
				if diff := cmp.Diff(before, w.Sim.Cloud.Forwards()); diff != "" {
					t.Error(diff)
				}
				if got := w.Sim.Cloud.TagsOf(w.Sim.Cloud.Balancers()[0]); len(got) != 1 || got["Team"] != "web" {
					t.Errorf("tags %v", got)
				}
			})
		}
	}
}
