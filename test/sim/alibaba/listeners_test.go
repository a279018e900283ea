package alibaba

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestListenersSayWhetherTheyRedirect: the official controller deletes a listener of HTTP and creates it again unless
// the answer says that it does not redirect.
func TestListenersSayWhetherTheyRedirect(t *testing.T) {
	cloud, err := New(Options{Seed: SeedOptions{Nodes: 1}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(cloud)
	defer server.Close()
	call := func(out any, action string, pairs ...string) {
		t.Helper()
		params := url.Values{"Action": {action}, "Version": {"2014-05-15"}}
		for i := 0; i < len(pairs); i += 2 {
			params.Set(pairs[i], pairs[i+1])
		}
		answer, err := http.Post(server.URL+"/?"+cloud.Seed.Sign(params), "", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(answer.Body).Decode(out)
		if answer.Body.Close() != nil || err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v %v", action, answer.Status, err, out)
		}
	}
	var lb struct {
		ID string `json:"LoadBalancerId"`
	}
	call(&lb, "CreateLoadBalancer", "AddressType", "internet", "LoadBalancerName", "web")
	unchecked := []string{"LoadBalancerId", lb.ID, "HealthCheck", "off", "StickySession", "off"}
	var done map[string]any
	call(&done, "CreateLoadBalancerHTTPListener", append(unchecked, "ListenerPort", "8080")...)
	call(&done, "CreateLoadBalancerHTTPSListener", append(unchecked, "ListenerPort", "443", "ServerCertificateId", cloud.Seed.Certificates[0])...)
	call(&done, "CreateLoadBalancerHTTPListener", append(unchecked, "ListenerPort", "80", "ListenerForward", "on", "ForwardPort", "443")...)
	var list struct {
		Listeners []struct {
			ListenerPort       int
			HTTPListenerConfig *struct{ ListenerForward string }
		}
	}
	call(&list, "DescribeLoadBalancerListeners", "LoadBalancerId.1", lb.ID)
	got := map[int]string{}
	for _, l := range list.Listeners {
		if l.HTTPListenerConfig != nil {
			got[l.ListenerPort] = l.HTTPListenerConfig.ListenerForward
		}
	}
	if len(got) != 2 || got[80] != "on" || got[8080] != "off" {
		t.Errorf("redirects: %v", got)
	}
}
