package model_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// TestEveryFieldIsDeclared verifies that no field of a spec is forgotten in its codec.
func TestEveryFieldIsDeclared(t *testing.T) {
	problems := map[string][]string{"certificate": model.CertificateCodec().Problems(), "group": model.GroupCodec().Problems()}
	for _, p := range model.Products() {
		problems["set of "+p.Name], problems["listener of "+p.Name] = model.SetCodec(p).Problems(), model.ListenerCodec(p).Problems()
	}
	for name, list := range problems {
		for _, p := range list {
			t.Errorf("%s: %s", name, p)
		}
	}
}

// TestBodies verifies the bodies of parts of load balancers, and that each is read again as
// it was written.
func TestBodies(t *testing.T) {
	const health = `"healthChecker":{"protocol":"HTTP","urlPath":"/healthz","port":10256,"retries":3,"intervalInMillis":10000,"timeoutInMillis":3000,"returnCode":200}`
	lb, nlb := model.Products()[0], model.Products()[1]
	set := model.BackendSet{
		Policy: "ROUND_ROBIN", Health: model.Health{Protocol: "HTTP", Path: "/healthz", Port: 10256, Retries: 3, Interval: 10000, Timeout: 3000, Code: 200},
		Backends: []model.Backend{{Address: "10.0.0.5", Port: 30080, Weight: 1, Drain: true}},
	}
	with := func(change func(*model.BackendSet)) model.BackendSet {
		s := set
		change(&s)
		return s
	}
	for name, tc := range map[string]struct {
		product model.Product
		set     model.BackendSet
		want    string
	}{
		"of lb": {lb, set, `{"policy":"ROUND_ROBIN",` + health + `,"backends":[{"ipAddress":"10.0.0.5","port":30080,"weight":1,"backup":false,"drain":true,"offline":false}]}`},
		"of nlb": {nlb, with(func(s *model.BackendSet) { s.Preserve, s.Version = true, model.V4 }), `{"policy":"ROUND_ROBIN",` + health + `,"isPreserveSource":true,"isInstantFailoverEnabled":false,"ipVersion":"IPV4",
			"backends":[{"ipAddress":"10.0.0.5","port":30080,"weight":1,"isBackup":false,"isDrain":true,"isOffline":false}]}`},
		"with TLS": {lb, with(func(s *model.BackendSet) { s.Backends, s.Certificate, s.TLSProtocols = nil, "c", []string{"TLSv1.2"} }),
			`{"policy":"ROUND_ROBIN",` + health + `,"backends":[],"sslConfiguration":{"certificateName":"c","verifyDepth":0,"verifyPeerCertificate":false,"protocols":["TLSv1.2"]}}`},
		"with sessions": {lb, with(func(s *model.BackendSet) {
			s.Backends, s.Session, s.Connections = nil, model.Session{Cookie: "x"}, 300
		}), `{"policy":"ROUND_ROBIN",` + health + `,"backends":[],"sessionPersistenceConfiguration":{"cookieName":"x","disableFallback":false},"backendMaxConnections":300}`},
		"with a cookie of the load balancer": {lb, with(func(s *model.BackendSet) {
			s.Backends, s.CookieSession = nil, model.CookieSession{Cookie: model.StandardCookie, MaxAge: 60}
		}), `{"policy":"ROUND_ROBIN",` + health + `,"backends":[],"lbCookieSessionPersistenceConfiguration":{"cookieName":"X-Oracle-BMC-LBS-Route","disableFallback":false,"maxAgeInSeconds":60,"isSecure":false,"isHttpOnly":false}}`},
		"with unknown fields": {lb, with(func(s *model.BackendSet) { s.Backends, s.Rest = nil, `{"future":{"a":1}}` }), `{"policy":"ROUND_ROBIN",` + health + `,"backends":[],"future":{"a":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			codec := model.SetCodec(tc.product)
			sameJSON(t, tc.want, codec.Replace(tc.set, nil))
			sameJSON(t, tc.want, codec.Create(tc.set, nil))
			if got, err := codec.Decode([]byte(tc.want)); err != nil || !cmp.Equal(tc.set, got) {
				t.Errorf("error %v, read (-want +got):\n%s", err, cmp.Diff(tc.set, got))
			}
		})
	}
}

func TestListenerBodies(t *testing.T) {
	lb, nlb := model.Products()[0], model.Products()[1]
	set := stack.RefID("TCP-80")
	for name, tc := range map[string]struct {
		product  model.Product
		listener model.Listener
		want     string
	}{
		"of lb":         {lb, model.Listener{Set: set, Port: 80, Protocol: "TCP"}, `{"defaultBackendSetName":"TCP-80","port":80,"protocol":"TCP"}`},
		"with a time":   {lb, model.Listener{Set: set, Port: 80, Protocol: "TCP", Idle: 77}, `{"defaultBackendSetName":"TCP-80","port":80,"protocol":"TCP","connectionConfiguration":{"idleTimeout":77}}`},
		"with PROXY":    {lb, model.Listener{Set: set, Port: 80, Protocol: "TCP", Proxy: 1}, `{"defaultBackendSetName":"TCP-80","port":80,"protocol":"TCP","connectionConfiguration":{"idleTimeout":300,"backendTcpProxyProtocolVersion":1}}`},
		"of nlb":        {nlb, model.Listener{Set: set, Port: 80, Protocol: "TCP", Version: model.V6, Proxy: 2}, `{"defaultBackendSetName":"TCP-80","port":80,"protocol":"TCP","ipVersion":"IPV6","isPpv2Enabled":true}`},
		"without PROXY": {nlb, model.Listener{Set: set, Port: 80, Protocol: "TCP"}, `{"defaultBackendSetName":"TCP-80","port":80,"protocol":"TCP","isPpv2Enabled":false}`},
		"with rule sets and TLS": {lb, model.Listener{Set: set, Port: 443, Protocol: "HTTP", RuleSets: []string{"a"}, Managed: "ocid1"},
			`{"defaultBackendSetName":"TCP-80","port":443,"protocol":"HTTP","ruleSetNames":["a"],"sslConfiguration":{"certificateIds":["ocid1"],"verifyDepth":0,"verifyPeerCertificate":false}}`},
	} {
		t.Run(name, func(t *testing.T) {
			codec := model.ListenerCodec(tc.product)
			sameJSON(t, tc.want, codec.Replace(tc.listener, func(r stack.Ref) string { return r.ID }))
			if got, err := codec.Decode([]byte(tc.want)); err != nil || !cmp.Equal(tc.listener, got) {
				t.Errorf("error %v, read (-want +got):\n%s", err, cmp.Diff(tc.listener, got))
			}
		})
	}
}

func sameJSON(t *testing.T, want string, body any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var wanted, got any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Errorf("body (-want +got):\n%s", d)
	}
}
