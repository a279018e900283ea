package alibaba_test

import (
	"testing"

	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
)

// SetRole judges by a policy of RAM.
func (s podSubject) SetRole(t testing.TB, role []byte) {
	t.Helper()
	props.Judge(t, role, simalibaba.ParsePolicy, s.Sim.Cloud.SetPolicy)
}

// TestPermissions holds docs/permissions/alibaba.json against what is called when load balancers are changed
// in everything that can change.
func TestPermissions(t *testing.T) {
	fresh := func(t testing.TB) props.Subject { return podSubject{onAlibaba().Subject(t, withUsers(3))} }
	certificates, lists := defaultSeed().Certificates, defaultSeed().Lists
	secure := func(pairs ...string) map[string]string {
		return withKeys(append([]string{"protocol-port", "http:80,https:443", "cert-id", certificates[0], "health-check-flag", "on"}, pairs...)...)
	}
	permissions.Check(t, permissions.Alibaba(), permissions.Walk{Fresh: fresh, Cases: []props.Case{
		props.Service("plain", nil, withUDP), props.Service("tuned", withKeys("scheduler", "wlc", "name", "shop", "additional-resource-tags", "Team=web", "delete-protection", "off", "modification-protection", "NonProtection"), withUDP),
		props.Service("listed", withKeys("acl-status", "on", "acl-id", lists[0], "acl-type", "white", "default-weight", "50", "external-ip-type", "eip")),
		props.Service("secure", secure("domain-extensions", "shop.example.com:"+certificates[1])),
		props.Service("secure and tuned", secure("idle-timeout", "20", "domain-extensions", "shop.example.com:"+certificates[0])),
		props.Service("other domain", secure("domain-extensions", "www.example.com:"+certificates[0])),
		props.Service("by size", withKeys("instance-charge-type", "PayBySpec", "charge-type", "paybybandwidth", "bandwidth", "20")),
		props.Service("greater", withKeys("instance-charge-type", "PayBySpec", "spec", "slb.s2.small", "delete-protection", "on", "charge-type", "paybybandwidth", "bandwidth", "30")),
		props.Service("pods", podKeys()),
		netCase("network", nil, withUDP),
		netCase("network, tuned", withKeys("name", "shop", "additional-resource-tags", "Team=web", "scheduler", "rr", "idle-timeout", "60", "bandwidth-package-id", "cbwp-1", "security-group-ids", defaultUsers().UsersSecurity), withUDP),
		netCase("network, other zones", withKeys("zone-maps", defaultSeed().VSwitches[0].Zone+":"+defaultSeed().VSwitches[0].ID+","+defaultSeed().VSwitches[2].Zone+":"+defaultSeed().VSwitches[2].ID, "bandwidth-package-id", "", "security-group-ids", ""), withUDP),
		netCase("network, ranges", nil, withRanges("203.0.113.0/24")),
		netCase("network, other ranges", withKeys("default-weight", "50"), withRanges("198.51.100.0/24")),
		netCase("network, secure", withKeys("protocol-port", "tcpssl:443", "cert-id", certificates[0], "additional-cert-ids", certificates[1])),
		netCase("network, fewer certificates", withKeys("protocol-port", "tcpssl:443", "cert-id", certificates[0], "additional-cert-ids", "", "address-type", "intranet")),
	}}, permissions.Walk{Fresh: fresh, Cases: []props.Case{
		netCase("both families", withKeys("ip-version", "DualStack", "ipv6-address-type", "internet")),
		netCase("both families, internal", withKeys("ip-version", "DualStack", "ipv6-address-type", "intranet")),
	}})
}
