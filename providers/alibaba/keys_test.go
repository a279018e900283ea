package alibaba_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/test/account"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

func keyCases(seed simalibaba.Seed) []account.KeyCase {
	intranet := []string{"address-type", "intranet"}
	web := []string{"protocol-port", "http:80", "health-check-flag", "on"}
	secure := []string{"protocol-port", "https:80", "cert-id", seed.Certificates[0]}
	listed := []string{"acl-status", "on", "acl-id", seed.Lists[0], "acl-type", "white"}
	reused := []string{"id", seed.Users}
	sticky := append(slices.Clone(web), "sticky-session", "on", "sticky-session-type", "insert", "cookie-timeout", "60")
	return []account.KeyCase{
		{"address-type", "intranet", nil}, {"network-type", "classic", intranet}, {"vswitch-id", seed.VSwitches[2].ID, intranet}, {"ip", "192.168.1.77", intranet},
		{"master-zoneid", "cn-hangzhou-j", nil}, {"slave-zoneid", "cn-hangzhou-k", []string{"master-zoneid", "cn-hangzhou-j"}}, {"name", "shop", nil}, {"resource-group-id", "rg-1", nil},
		{"additional-resource-tags", "Team=web", nil}, {"delete-protection", "off", nil}, {"modification-protection", "NonProtection", nil},
		{"instance-charge-type", "PayBySpec", nil}, {"spec", "slb.s2.small", []string{"instance-charge-type", "PayBySpec"}},
		{"charge-type", "paybybandwidth", nil}, {"bandwidth", "20", []string{"charge-type", "paybybandwidth"}},
		{"protocol-port", "http:80", nil}, {"scheduler", "wlc", nil}, {"persistence-timeout", "60", nil}, {"established-timeout", "60", nil},
		{"connection-drain", "on", nil}, {"connection-drain-timeout", "30", []string{"connection-drain", "on"}}, {"proxy-protocol", "on", nil},
		{"idle-timeout", "20", web}, {"request-timeout", "20", web}, {"sticky-session", "on", []string{"protocol-port", "http:80", "sticky-session-type", "server", "cookie", "s"}},
		{"sticky-session-type", "insert", []string{"protocol-port", "http:80", "cookie-timeout", "60"}}, {"cookie", "s", sticky}, {"cookie-timeout", "60", web},
		{"xforwardedfor-proto", "on", web}, {"xforwardedfor-slbport", "on", web}, {"xforwardedfor-clientsrcport", "on", web},
		{"cert-id", seed.Certificates[1], secure}, {"tls-cipher-policy", "tls_cipher_policy_1_2", secure}, {"http2-enabled", "off", secure},
		{"health-check-flag", "on", []string{"protocol-port", "http:80"}}, {"health-check-switch", "off", nil}, {"health-check-type", "http", nil},
		{"health-check-uri", "/live", web}, {"health-check-connect-port", "8080", nil}, {"healthy-threshold", "5", nil}, {"unhealthy-threshold", "5", nil}, {"health-check-interval", "5", nil},
		{"health-check-connect-timeout", "9", nil}, {"health-check-timeout", "9", web}, {"health-check-domain", "shop.example.com", web}, {"health-check-httpcode", "http_2xx,http_3xx", web}, {"health-check-method", "get", web},
		{"default-weight", "50", nil}, {"backend-label", "kubernetes.io/hostname=berthdemo-node-2", nil},
		{"ip-version", "ipv6", nil}, {"acl-status", "on", []string{"acl-status", "off", "acl-id", seed.Lists[0], "acl-type", "white"}}, {"acl-id", seed.Lists[1], listed}, {"acl-type", "black", listed},
		{"domain-extensions", "shop.example.com:" + seed.Certificates[1], secure}, {"forward-port", "80:443", []string{"protocol-port", "http:80,https:443", "cert-id", seed.Certificates[0]}},
		{"id", seed.Users, nil}, {"force-override-listeners", "true", reused}, {"vgroup-port", seed.UsersGroup + ":80", reused}, {"weight", "60", append(slices.Clone(reused), "vgroup-port", seed.UsersGroup+":80")},
	}
}

// TestExplained: the explanation of each key's Service is complete and right, and names the key.
func TestExplained(t *testing.T) {
	opt := withUsers(6)
	onAlibaba().Explained(t, account.EveryKey[simalibaba.Options]{Options: opt, Cases: keyCases(onAlibaba().Start(t, opt).Cloud.Seed)}, nil)
	onNet().Explained(t, account.EveryKey[simalibaba.Options]{Options: opt, Cases: netKeyCases(onNet().Start(t, opt).Cloud.Seed)}, nil)
}

// TestEveryKeyWorks: each key that works changes the cloud.
func TestEveryKeyWorks(t *testing.T) {
	opt := withUsers(6)
	opt.Clock = account.StillClock()
	onAlibaba().EveryKey(t, account.EveryKey[simalibaba.Options]{Options: opt, Kind: model.CLB, Cases: keyCases(onAlibaba().Start(t, opt).Cloud.Seed),
		Refused: []account.KeyCase{{"security-group-ids", "sg-bp1abc", nil}, {"ipv6-address-type", "intranet", nil}, {"acl-id", "acl-bp1ut10zzvh8jy1pxxxx", []string{"acl-type", "white"}}}, Elsewhere: map[string]string{
			"hostname": "TestHostname", "preserve-lb-on-delete": "TestPreserved", "remove-unscheduled-backend": "TestCordoned", "external-ip-type": "TestElasticAddress", "backend-ip-version": "TestPodsOfIPv6", "graceful-shutdown": "TestGraceful",
			"ignore-weight-update": "TestIgnoreWeights", "type": "TestElsewhere", "tunnel-type": "TestElsewhere",
		}})
}

// TestNumbersForNothing: 0 is as without the key, also on a listener that has a value, and -520 is the port of the
// backend. Numbers beside these and the range are refused.
func TestNumbersForNothing(t *testing.T) {
	for _, c := range []struct{ key, value, param, sent, live string }{
		{"health-check-connect-port", "0", "HealthCheckConnectPort", "", "8080"},
		{"health-check-connect-port", "-520", "HealthCheckConnectPort", "-520", "-520"},
		{"health-check-connect-port", "1", "HealthCheckConnectPort", "1", "1"},
		{"health-check-connect-port", "-1", "HealthCheckConnectPort", "refused", ""},
		{"established-timeout", "0", "EstablishedTimeout", "", "60"},
		{"established-timeout", "9", "EstablishedTimeout", "refused", ""},
	} {
		virtual.Run(t, c.key+" "+c.value, func(t *testing.T) {
			w := beginWorld(t, withNodes(2))
			svc := props.Service("web", withKeys(c.key, c.value)).Service
			if c.sent == "refused" {
				if res, err := w.Once(svc, false); err != nil || !res.Draft.Problems.Errors() {
					t.Errorf("%v, problems %v", err, res.Draft.Problems)
				}
				return
			}
			w.Serve(svc)
			for _, e := range w.Control().Journal.Entries() {
				if got := e.Request["?"+c.param]; e.Operation == "CreateLoadBalancerTCPListener" && got != c.sent {
					t.Errorf("%s is sent as %q, want %q", c.param, got, c.sent)
				}
			}
			svc.Annotations[prefix+c.key] = c.live
			w.Serve(svc)
			w.Control().Journal.Reset()
			svc.Annotations[prefix+c.key] = c.value
			w.Serve(svc)
			for _, e := range w.Control().Journal.Entries() {
				if e.Write {
					t.Errorf("%s is written for a listener with %s", e.Operation, c.live)
				}
			}
		})
	}
}

// TestKeysAlone: a key without what it needs changes the desired stack, or is reported.
func TestKeysAlone(t *testing.T) {
	onAlibaba().KeysAlone(t, withUsers(6), keyCases(onAlibaba().Start(t, withUsers(6)).Cloud.Seed), common.Alone{
		Kinds: map[string]func(*corev1.Service){model.CLB: nil},
		Except: map[string]string{
			prefix + "hostname": "TestHostname", prefix + "preserve-lb-on-delete": "TestPreserved", prefix + "remove-unscheduled-backend": "TestCordoned", prefix + "ignore-weight-update": "TestIgnoreWeights",
			prefix + "external-ip-type": "TestElasticAddress", prefix + "backend-ip-version": "TestPodsOfIPv6", prefix + "graceful-shutdown": "TestGraceful",
			prefix + "type": "TestElsewhere", prefix + "tunnel-type": "TestElsewhere", domain + "class": "TestElsewhere", domain + "backend-type": "TestPods",
		},
	})
}
