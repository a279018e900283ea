package alibaba_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestNetSettingsOfSwitches: the time to drain is sent beside the switch only, whatever that is, and the policy of
// ALPN only if it is on, as by the official controller. Otherwise a load balancer of that controller would be changed
// when it is taken over.
func TestNetSettingsOfSwitches(t *testing.T) {
	secure := []string{"protocol-port", "tcpssl:80", "cert-id", defaultSeed().Certificates[0], "alpn-policy", "HTTP1Only"}
	for name, c := range map[string]struct {
		operation, param, want string
		keys                   []string
	}{
		"a time to drain":           {"CreateServerGroup", "ConnectionDrainTimeout", "", []string{"connection-drain-timeout", "30"}},
		"a time, and no draining":   {"CreateServerGroup", "ConnectionDrainTimeout", "30", []string{"connection-drain-timeout", "30", "connection-drain", "off"}},
		"a time, and draining":      {"CreateServerGroup", "ConnectionDrainTimeout", "30", []string{"connection-drain-timeout", "30", "connection-drain", "on"}},
		"a policy":                  {"CreateListener", "AlpnPolicy", "", secure},
		"a policy, and ALPN is off": {"CreateListener", "AlpnPolicy", "", append(secure[:len(secure):len(secure)], "alpn", "off")},
		"a policy, and ALPN is on":  {"CreateListener", "AlpnPolicy", "HTTP1Only", append(secure[:len(secure):len(secure)], "alpn", "on")},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := onNet().Begin(t, withNodes(2))
			w.Serve(netCase("web", withKeys(c.keys...)).Service)
			calls := 0
			for _, e := range w.Control().Journal.Entries() {
				if e.Operation != c.operation {
					continue
				}
				calls++
				if got := e.Request[c.param]; got != c.want && e.Request["Protocol"] != "UDP" && e.Request["ListenerPort"] != "443" {
					t.Errorf("%s is sent as %q, want %q", c.param, got, c.want)
				}
			}
			if calls == 0 {
				t.Errorf("there is no %s", c.operation)
			}
		})
	}
}

// TestSettingsOfSwitches: as long as the switch is off, a live listener keeps what belongs to it, as with the official
// controller.
func TestSettingsOfSwitches(t *testing.T) {
	for name, c := range map[string]struct {
		keys   []string
		writes bool
	}{
		"a kind of list":      {[]string{"acl-type", "white"}, false},
		"a list, switched on": {[]string{"acl-type", "white", "acl-id", defaultSeed().Lists[0], "acl-status", "on"}, true},
		"a list":              {[]string{"acl-type", "black", "acl-id", defaultSeed().Lists[0]}, false},
		"a time to drain":     {[]string{"connection-drain-timeout", "30"}, false},
		"a time, draining":    {[]string{"connection-drain-timeout", "30", "connection-drain", "on"}, true},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, withNodes(2))
			w.Serve(props.Service("web", nil).Service)
			w.Control().Journal.Reset()
			w.Serve(props.Service("web", withKeys(c.keys...)).Service)
			writes := 0
			for _, e := range w.Control().Journal.Entries() {
				if e.Write {
					writes++
				}
			}
			if writes > 0 != c.writes {
				t.Errorf("%d writes", writes)
			}
		})
	}
}
