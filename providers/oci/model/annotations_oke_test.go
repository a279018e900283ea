package model

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
)

// TestSessions: a key decides, an empty cookie name turns session persistence off, and without a
// key what exists stays.
func TestSessions(t *testing.T) {
	application, balancer := Session{"A", true}, CookieSession{Cookie: "B", HTTP: true}
	with := BackendSet{Session: application, Connections: 300}
	for name, c := range map[string]struct {
		keys        map[string]string
		found, want BackendSet
	}{
		"nothing":              {nil, BackendSet{}, BackendSet{}},
		"found":                {nil, with, with},
		"application":          {map[string]string{sessionKey.Name: `{"cookieName": "A", "disableFallback": true}`}, BackendSet{CookieSession: balancer}, BackendSet{Session: application}},
		"balancer":             {map[string]string{cookieSessionKey.Name: `{"cookieName": "B"}`}, with, BackendSet{CookieSession: balancer, Connections: 300}},
		"balancer of no name":  {map[string]string{cookieSessionKey.Name: `{"isHttpOnly": false}`}, BackendSet{}, BackendSet{CookieSession: CookieSession{Cookie: StandardCookie}}},
		"application, removed": {map[string]string{sessionKey.Name: `{"cookieName": ""}`}, with, BackendSet{Connections: 300}},
		"balancer, removed":    {map[string]string{cookieSessionKey.Name: `{"cookieName": ""}`}, BackendSet{CookieSession: balancer}, BackendSet{}},
		"connections":          {map[string]string{connectionsKey.Name: "0"}, with, BackendSet{Session: application}},
		"failover":             {map[string]string{typeKey.Name: NLB, failoverKey.Name: "false"}, BackendSet{Failover: true}, BackendSet{}},
		"failover, found":      {map[string]string{typeKey.Name: NLB}, BackendSet{Failover: true}, BackendSet{Failover: true}},
	} {
		b := &builder{in: inputOf(t, c.keys)}
		got := BackendSet{}
		b.extend(&got, c.found)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

// inputOf parses a Service with annotations, which must be legal.
func inputOf(t *testing.T, keys map[string]string) providers.Input[Config] {
	t.Helper()
	cloud := Cloud()
	if keys = maps.Clone(keys); keys == nil {
		keys = map[string]string{}
	}
	if keys[typeKey.Name] != NLB {
		keys[protocolKey.Name] = protocolHTTP
	}
	svc := props.Service("web", keys).Service
	in, problems := cases.Input(&cloud, Config{}, svc, cases.Around{Cluster: "kubernetes"})
	if len(problems) > 0 {
		t.Fatal(problems.Strings())
	}
	return in
}

// TestSessionsRefused: what a backend set cannot have is refused, and what has no effect is reported.
func TestSessionsRefused(t *testing.T) {
	both := map[string]string{sessionKey.Name: `{"cookieName": "A"}`, cookieSessionKey.Name: `{"cookieName": "B"}`, protocolKey.Name: protocolHTTP}
	for name, c := range map[string]struct {
		keys    map[string]string
		want    string
		refused bool
	}{
		"both":          {both, "one sort of session persistence", true},
		"no cookie":     {map[string]string{sessionKey.Name: "{}", protocolKey.Name: protocolHTTP}, "has no cookieName", true},
		"for TCP":       {map[string]string{sessionKey.Name: `{"cookieName": "A"}`}, protocolKey.Name, false},
		"of a mistake":  {map[string]string{cookieSessionKey.Name: `{"maxAge": 1}`, protocolKey.Name: protocolHTTP}, "maxAge", false},
		"pods":          {map[string]string{backendTypeKey.Name: "pod"}, "not yet supported", false},
		"pods checked":  {map[string]string{podCheckKey.Name: podCheck}, "not yet supported", false},
		"nlb of pods":   {map[string]string{typeKey.Name: NLB, netPodCheckKey.Name: podCheck}, "not yet supported", false},
		"too many":      {map[string]string{connectionsKey.Name: "65536"}, "65535", true},
		"nlb sessions":  {map[string]string{typeKey.Name: NLB, sessionKey.Name: `{"cookieName": "A"}`}, sessionKey.Name, false},
		"lb failover":   {map[string]string{failoverKey.Name: "true"}, failoverKey.Name, false},
		"no whole JSON": {map[string]string{sessionKey.Name: `{"cookieName"`, protocolKey.Name: protocolHTTP}, "JSON", true},
	} {
		cloud := Cloud()
		_, problems := cases.Input(&cloud, Config{}, props.Service("web", c.keys).Service, cases.Around{Cluster: "kubernetes"})
		if said := strings.Join(problems.Strings(), "\n"); problems.Errors() != c.refused || !strings.Contains(said, c.want) {
			t.Errorf("%s: %q", name, said)
		}
	}
}
