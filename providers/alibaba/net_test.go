package alibaba_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/test/account"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// zonesText is the value of zone-maps in the seeded vSwitches.
func zonesText() string {
	var out []string
	for _, v := range defaultSeed().VSwitches[:2] {
		out = append(out, v.Zone+":"+v.ID)
	}
	return strings.Join(out, ",")
}

// defaultUsers returns the seed of an account in which a user has load balancers.
func defaultUsers() simalibaba.Seed {
	cloud, err := simalibaba.New(withUsers(1))
	if err != nil {
		panic(err)
	}
	return cloud.Seed
}

// asNet makes a Service one with a network load balancer.
func asNet(svc *corev1.Service) {
	class := model.ClassNLB
	svc.Spec.LoadBalancerClass = &class
	if svc.Annotations == nil {
		svc.Annotations = map[string]string{}
	}
	if _, given := svc.Annotations[prefix+"zone-maps"]; !given && svc.Annotations[prefix+"id"] == "" {
		svc.Annotations[prefix+"zone-maps"] = zonesText()
	}
}

// onNet declares the cloud for tests of network load balancers.
func onNet() account.Cloud[simalibaba.Options, simulated] {
	cloud := onAlibaba()
	cloud.Complete = asNet
	return cloud
}

// netCase is a Service with a network load balancer.
func netCase(name string, notes map[string]string, changes ...func(*corev1.ServiceSpec)) props.Case {
	c := props.Service(name, notes, changes...)
	asNet(c.Service)
	return c
}

// withRanges admits some clients only.
func withRanges(ranges ...string) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = ranges }
}

// withSlowJobs are options of an account in which jobs take a while.
func withSlowJobs(opt simalibaba.Options) simalibaba.Options {
	opt.Jobs, opt.Provision = 3*time.Second, 3*time.Second
	return opt
}

// TestNetCalls measures the calls of Services with network load balancers, whose jobs take three seconds.
func TestNetCalls(t *testing.T) {
	opt := withSlowJobs(withNodes(4))
	opt.Limits = simalibaba.Limits{LoadBalancers: 200}
	goals := account.Goals{"create": {8.5, 7}, "touch": {0, 0}, "port": {3.5, 3}, "delnode": {3.4, 3}, "addnode": {3.4, 3}, "delete": {5.65, 5}}
	onNet().Calls(t, opt, goals, nil)
}

// TestNetNames: what is created has the names, tags and descriptions of the official controller.
func TestNetNames(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onNet().Begin(t, withSlowJobs(withNodes(2)))
		res := w.Serve(netCase("web", nil, withRanges("203.0.113.0/24")).Service)
		const name = "a5a0c1f6e00004000800000000000000"
		want := map[string]map[string]string{
			"CreateLoadBalancer": {
				"LoadBalancerName": name, "AddressType": "Internet", "AddressIpVersion": "ipv4", "DeletionProtectionConfig.Enabled": "true", "ModificationProtectionConfig.Status": "ConsoleProtection",
				"ModificationProtectionConfig.Reason": "managed.by.ack", "Tag.1.Key": "kubernetes.do.not.delete", "Tag.1.Value": name, "Tag.2.Key": "ack.aliyun.com", "Tag.2.Value": "berthdemo",
			},
			"CreateServerGroup":   {"ServerGroupName": "k8s.30080.TCP.web.shop.berthdemo", "Protocol": "TCP", "ServerGroupType": "Instance", "Tag.1.Value": name},
			"CreateListener":      {"ListenerDescription": "k8s.80.TCP.web.shop.berthdemo", "ListenerPort": "80"},
			"CreateSecurityGroup": {"?SecurityGroupName": "k8s-nlb-" + name, "?Description": "k8s.shop.web.berthdemo", "?SecurityGroupType": "enterprise", "?Tag.1.Value": name},
		}
		for _, e := range w.Control().Journal.Entries() {
			for key, value := range want[e.Operation] {
				if e.Operation == "CreateListener" && e.Request["ListenerPort"] != "80" || e.Operation == "CreateServerGroup" && !strings.Contains(e.Request["ServerGroupName"], "30080") {
					continue
				}
				if e.Request[key] != value {
					t.Errorf("%s: %s is %q, want %q", e.Operation, key, e.Request[key], value)
				}
			}
		}
		labels := res.Status.Labels
		if labels["service.k8s.alibaba/loadbalancer-id"] != w.Sim.Cloud.Nets()[0] || labels["service.k8s.alibaba/security-group-id"] != w.Sim.Cloud.SecurityGroups()[0] {
			t.Errorf("labels %v", labels)
		}
		if got := res.Status.Ingress; len(got) != 1 || !strings.HasSuffix(got[0].Hostname, ".nlb.aliyuncs.com") || got[0].IP != "" {
			t.Errorf("status %+v", got)
		}
	})
}

// TestNetChoice: the class asks for a network load balancer, and the type only with its gate.
func TestNetChoice(t *testing.T) {
	typed := props.Service("web", withKeys("type", "nlb")).Service
	other := props.Service("web", withKeys("type", "alb")).Service
	on, off := model.Config{TypeKey: true}, model.Config{}
	if model.ChooseUnder(off, netCase("web", nil).Service).Kind != model.NLB || model.ChooseUnder(off, typed).Kind != model.CLB || model.ChooseUnder(on, typed).Kind != model.NLB || model.ChooseUnder(on, other).Elsewhere == "" {
		t.Error("the kind of a Service does not follow from its class and type")
	}
}

// TestNetRanges: clients are admitted by a security group that exists before the listeners, follows the Service,
// and is deleted with the ranges.
func TestNetRanges(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onNet().Begin(t, withSlowJobs(withNodes(2)))
		svc := netCase("web", nil, withRanges("203.0.113.0/24")).Service
		w.Serve(svc)
		joined, listened := 0, 0
		for i, e := range w.Control().Journal.Entries() {
			switch e.Operation {
			case "LoadBalancerJoinSecurityGroup":
				joined = i
			case "CreateListener":
				listened = max(listened, 1)
				if joined == 0 {
					t.Error("a listener was created before the security group was joined")
				}
			}
		}
		check := func(want ...string) {
			t.Helper()
			for _, f := range w.Sim.Cloud.Forwards() {
				if !slices.Equal(f.Admits, want) {
					t.Errorf("port %d admits %v, want %v", f.Port, f.Admits, want)
				}
			}
			if len(w.Sim.Cloud.Forwards()) != 2 {
				t.Errorf("forwards %v", w.Sim.Cloud.Forwards())
			}
		}
		check("203.0.113.0/24")
		svc.Spec.LoadBalancerSourceRanges = []string{"198.51.100.0/24", "203.0.113.0/25"}
		w.Serve(svc)
		check("198.51.100.0/24", "203.0.113.0/25")
		svc.Spec.LoadBalancerSourceRanges = nil
		w.Serve(svc)
		check()
		if got := w.Sim.Cloud.SecurityGroups(); len(got) != 0 || listened == 0 {
			t.Errorf("security groups %v", got)
		}
	})
}

// TestNetJobFails: a failed job is a failure, after which the Service is served nevertheless.
func TestNetJobFails(t *testing.T) {
	for _, action := range []string{"CreateServerGroup", "AddServersToServerGroup", "CreateListener", "CreateLoadBalancer", "DeleteServerGroup", "DeleteLoadBalancer"} {
		virtual.Run(t, action, func(t *testing.T) {
			w := onNet().Begin(t, withSlowJobs(withNodes(2)))
			if _, err := w.Control().Faults.Add(sim.Fault{Operation: action, Kind: sim.FaultError, Status: 200, Count: 1}); err != nil {
				t.Fatal(err)
			}
			svc := netCase("web", nil).Service
			w.Serve(svc)
			if n := len(w.Sim.Cloud.Forwards()); n != 2 {
				t.Errorf("%d ports", n)
			}
			w.Release(svc)
			if n := len(w.Sim.Cloud.Nets()) + len(w.Sim.Cloud.ServerGroups()); n != 0 {
				t.Errorf("%d resources are left", n)
			}
		})
	}
}

// TestNetGone: groups are deleted even if the load balancer was deleted by hand, which is created again for a
// Service that is served.
func TestNetGone(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onNet().Begin(t, withSlowJobs(withNodes(2)))
		svc := netCase("web", nil, withRanges("203.0.113.0/24")).Service
		w.Serve(svc)
		w.Sim.Cloud.DeleteNet(w.Sim.Cloud.Nets()[0])
		w.Restart()
		w.Serve(svc)
		if n := len(w.Sim.Cloud.Forwards()); n != 2 || len(w.Sim.Cloud.ServerGroups()) != 2 {
			t.Errorf("%d ports, groups %v", n, w.Sim.Cloud.ServerGroups())
		}
		w.Sim.Cloud.DeleteNet(w.Sim.Cloud.Nets()[0])
		w.Restart()
		w.Release(svc)
		if left := append(w.Sim.Cloud.ServerGroups(), w.Sim.Cloud.SecurityGroups()...); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestNetPreserved: a load balancer that is kept has its listeners and groups, without the tags of the controller.
func TestNetPreserved(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onNet().Begin(t, withSlowJobs(withNodes(2)))
		svc := netCase("web", withKeys("preserve-lb-on-delete", "true")).Service
		w.Serve(svc)
		w.Release(svc)
		if n := len(w.Sim.Cloud.Forwards()); n != 2 {
			t.Errorf("%d ports", n)
		}
		for _, id := range append(w.Sim.Cloud.Nets(), w.Sim.Cloud.ServerGroups()...) {
			if tags := w.Sim.Cloud.NetTagsOf(id); len(tags) != 0 {
				t.Errorf("%s has the tags %v", id, tags)
			}
		}
	})
}

// TestNetReused: on a load balancer of others only the parts of the Service are written, and only with override.
func TestNetReused(t *testing.T) {
	for _, override := range []string{"true", "false"} {
		virtual.Run(t, override, func(t *testing.T) {
			w := onNet().Begin(t, withSlowJobs(withUsers(2)))
			seed := w.Sim.Cloud.Seed
			w.Sim.Cloud.AddNetListener(seed.UsersNet, 9000, seed.UsersNetGroup, "by hand")
			svc := netCase("web", withKeys("id", seed.UsersNet, "force-override-listeners", override)).Service
			w.Serve(svc)
			if got := len(w.Sim.Cloud.NetDescriptions()); (got == 3) != (override == "true") {
				t.Errorf("listeners %v", w.Sim.Cloud.NetDescriptions())
			}
			w.Release(svc)
			if got := w.Sim.Cloud.NetDescriptions(); !slices.Equal(got, []string{"by hand"}) || len(w.Sim.Cloud.Nets()) != 1 || len(w.Sim.Cloud.ServerGroups()) != 1 {
				t.Errorf("listeners %v, load balancers %v, groups %v", got, w.Sim.Cloud.Nets(), w.Sim.Cloud.ServerGroups())
			}
		})
	}
}

// TestNetByHand: a listener of the user stays on the Service's load balancer, is a conflict on a wanted port, and a
// stopped one of the Service is started.
func TestNetByHand(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onNet().Begin(t, withUsers(2))
		svc := netCase("web", nil).Service
		w.Serve(svc)
		w.Sim.Cloud.AddNetListener(w.Sim.Cloud.Nets()[1], 8080, w.Sim.Cloud.Seed.UsersNetGroup, "by hand")
		w.Sim.Cloud.StopNetListener("k8s.80.TCP.web.shop.berthdemo")
		w.Restart(svc)
		w.Serve(svc)
		if got := w.Sim.Cloud.NetDescriptions(); !slices.Contains(got, "by hand") || len(w.Sim.Cloud.Forwards()) != 2 {
			t.Errorf("listeners %v, forwards %v", got, w.Sim.Cloud.Forwards())
		}
		svc.Spec.Ports[0].Port = 8080
		res, err := w.Once(svc, false)
		if err != nil || !strings.Contains(strings.Join(res.Draft.Problems.Strings(), "\n"), `"by hand"`) {
			t.Errorf("%v, problems %v", err, res.Draft.Problems)
		}
	})
}

func netKeyCases(seed simalibaba.Seed) []account.KeyCase {
	certificates := seed.Certificates
	secure := []string{"protocol-port", "tcpssl:80", "cert-id", certificates[0]}
	checked := []string{"health-check-flag", "on"}
	dual := []string{"ip-version", "DualStack"}
	proxy := []string{"proxy-protocol", "on"}
	reused := []string{"id", seed.UsersNet}
	return []account.KeyCase{
		{"address-type", "Intranet", nil}, {"ip-version", "DualStack", nil}, {"ipv6-address-type", "Internet", dual}, {"name", "shop", nil}, {"resource-group-id", "rg-1", nil},
		{"additional-resource-tags", "Team=web", nil}, {"zone-maps", seed.VSwitches[0].Zone + ":" + seed.VSwitches[0].ID + "," + seed.VSwitches[2].Zone + ":" + seed.VSwitches[2].ID, nil},
		{"security-group-ids", seed.UsersSecurity, nil}, {"bandwidth-package-id", "cbwp-1", nil}, {"cross-zone-enabled", "off", nil},
		{"protocol-port", "tcpssl:80", []string{"cert-id", certificates[0]}}, {"cert-id", certificates[1], secure}, {"idle-timeout", "60", nil}, {"tls-cipher-policy", "tls_cipher_policy_1_2", secure},
		{"scheduler", "rr", nil}, {"connection-drain", "On", nil}, {"connection-drain-timeout", "30", []string{"connection-drain", "on"}}, {"proxy-protocol", "On", nil},
		{"cacert", "on", secure}, {"cacert-id", certificates[1], secure}, {"cps", "100", nil}, {"alpn", "on", secure}, {"alpn-policy", "HTTP2Only", append(slices.Clone(secure), "alpn", "on")},
		{"additional-cert-ids", certificates[1], secure}, {"ppv2-pvl-ep-id-enabled", "on", proxy}, {"ppv2-pvl-eps-id-enabled", "on", proxy}, {"ppv2-pvl-vpc-id-enabled", "on", proxy},
		{"health-check-flag", "off", nil}, {"health-check-type", "http", checked}, {"health-check-uri", "/live", checked}, {"health-check-connect-port", "8080", checked}, {"healthy-threshold", "5", checked},
		{"unhealthy-threshold", "5", checked}, {"health-check-interval", "5", checked}, {"health-check-connect-timeout", "9", checked}, {"health-check-domain", "shop.example.com", checked},
		{"health-check-httpcode", "http_2xx,http_3xx", checked}, {"health-check-method", "head", checked}, {"health-check-http-version", "HTTP1.1", checked},
		{"default-weight", "50", nil}, {"backend-label", "kubernetes.io/hostname=berthdemo-node-2", nil}, {"preserve-client-ip", "off", nil}, {"server-group-type", "ip", nil},
		{"id", seed.UsersNet, nil}, {"force-override-listeners", "true", reused}, {"vgroup-port", seed.UsersNetGroup + ":80", reused}, {"weight", "60", append(slices.Clone(reused), "vgroup-port", seed.UsersNetGroup+":80")},
	}
}

// TestEveryNetKeyWorks: each key that works for network load balancers changes the cloud.
func TestEveryNetKeyWorks(t *testing.T) {
	opt := withUsers(6)
	opt.Clock = account.StillClock()
	onNet().EveryKey(t, account.EveryKey[simalibaba.Options]{Options: opt, Kind: model.NLB, Cases: netKeyCases(onNet().Start(t, opt).Cloud.Seed),
		Refused: []account.KeyCase{{"acl-status", "on", nil}, {"acl-id", "acl-bp1ut10zzvh8jy1pxxxx", nil}, {"acl-type", "white", nil}}, Elsewhere: map[string]string{
			"preserve-lb-on-delete": "TestNetPreserved", "remove-unscheduled-backend": "TestCordoned", "ignore-weight-update": "TestIgnoreWeights", "graceful-shutdown": "TestGraceful", "backend-ip-version": "TestNetFamilies",
			"listener-port-range": "TestNetPortRange", "type": "TestNetChoice", "tunnel-type": "TestElsewhere",
		}})
}

// TestNetKeysAlone: a key without what it needs changes the desired stack, or is reported.
func TestNetKeysAlone(t *testing.T) {
	onNet().KeysAlone(t, withUsers(6), netKeyCases(onNet().Start(t, withUsers(6)).Cloud.Seed), common.Alone{
		Kinds: map[string]func(*corev1.Service){model.NLB: asNet},
		Except: map[string]string{
			prefix + "preserve-lb-on-delete": "TestNetPreserved", prefix + "remove-unscheduled-backend": "TestCordoned", prefix + "ignore-weight-update": "TestIgnoreWeights",
			prefix + "backend-ip-version": "TestNetFamilies", prefix + "graceful-shutdown": "TestGraceful", prefix + "type": "TestNetChoice", prefix + "tunnel-type": "TestElsewhere", domain + "class": "TestElsewhere", domain + "backend-type": "TestNetPortRange",
			prefix + "listener-port-range": "TestNetPortRange",
		},
	})
}

func netCases() []props.Case {
	certificates := defaultSeed().Certificates
	return []props.Case{
		netCase("plain", nil),
		netCase("mixed", nil, withUDP),
		netCase("tuned", withKeys("scheduler", "rr", "connection-drain", "on", "connection-drain-timeout", "30", "proxy-protocol", "on", "idle-timeout", "60", "name", "shop", "cross-zone-enabled", "off", "health-check-flag", "on", "health-check-interval", "5")),
		netCase("secure", withKeys("protocol-port", "tcpssl:443", "cert-id", certificates[0], "additional-cert-ids", certificates[1])),
		netCase("other ports", nil, func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[0].NodePort = 8080, 31080 }),
		netCase("other node port", withKeys("default-weight", "50"), func(s *corev1.ServiceSpec) { s.Ports[1].NodePort = 31443 }),
		netCase("ranges", nil, withRanges("203.0.113.0/24")),
		netCase("other ranges", nil, withRanges("198.51.100.0/24", "203.0.113.0/24")),
		netCase("by address", withKeys("server-group-type", "ip")),
		netCase("intranet", withKeys("address-type", "intranet")),
	}
}

// TestNetProperties holds network load balancers against what every cloud must be.
func TestNetProperties(t *testing.T) { props.Run(t, onNet().Fresh(withNodes(6)), netCases()) }

// TestNetFlowsAreForwards: the observed flows are the traffic that the simulator passes on.
func TestNetFlowsAreForwards(t *testing.T) { onNet().FlowsAreForwards(t, withNodes(3), netCases()) }

// TestNetOrphans: the load balancer and the groups of a lost Service are listed.
func TestNetOrphans(t *testing.T) {
	onNet().Orphans(t, withNodes(3), netCase("web", nil).Service, "5a0c1f6e000040008000000000000001"[:31], 3)
}

// TestNetPortRange: a range of ports reaches pods at the port of the client, and gives way to the port.
func TestNetPortRange(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onNet().Begin(t, withSlowJobs(withNodes(3)))
		svc := netCase("web", podKeys("listener-port-range", "2000-3000:80")).Service
		w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, podAddresses(2)...)}
		w.Serve(svc)
		if got := w.Sim.Cloud.NetDescriptions(); !slices.Equal(got, []string{"k8s.2000_3000.TCP.web.shop.berthdemo", "k8s.443.TCP.web.shop.berthdemo"}) {
			t.Errorf("listeners %v", got)
		}
		for _, f := range w.Sim.Cloud.Forwards() {
			if f.Port == 2000 && !slices.Equal(f.Servers, []string{podAddresses(2)[0] + ":0", podAddresses(2)[1] + ":0"}) {
				t.Errorf("servers %v", f.Servers)
			}
		}
		delete(svc.Annotations, prefix+"listener-port-range")
		w.Serve(svc)
		if got := w.Sim.Cloud.NetDescriptions(); len(got) != 2 || got[1] != "k8s.80.TCP.web.shop.berthdemo" {
			t.Errorf("listeners %v", got)
		}
	})
}

// TestNetFamilies: with both families the pods of both are servers.
func TestNetFamilies(t *testing.T) {
	for family, want := range map[string]int{"ipv4": 1, "ipv6": 1, "dualstack": 2} {
		virtual.Run(t, family, func(t *testing.T) {
			opt := withSlowJobs(withNodes(2))
			opt.Gates = "IPv6DualStack=true"
			w := onNet().Begin(t, opt)
			svc := netCase("web", podKeys("ip-version", "DualStack", "backend-ip-version", family)).Service
			svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
			w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, podAddresses(1)...), account.PodSlice(svc, w.Machines, simalibaba.PodAddress6(0))}
			w.Serve(svc)
			for _, f := range w.Sim.Cloud.Forwards() {
				if len(f.Servers) != want || strings.Contains(f.Servers[0], "2408") != (family == "ipv6") && want == 1 {
					t.Errorf("port %d: servers %v", f.Port, f.Servers)
				}
			}
			if len(w.Sim.Cloud.Forwards()) != 2 {
				t.Error("a port serves no one")
			}
		})
	}
}
