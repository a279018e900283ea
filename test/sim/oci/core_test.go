package oci_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oracle/oci-go-sdk/v65/common"
	"github.com/oracle/oci-go-sdk/v65/loadbalancer"

	"github.com/berth-lb/berth/test/sim"
	simoci "github.com/berth-lb/berth/test/sim/oci"
)

// reply is an answer of the core services.
type reply struct {
	status int
	header http.Header
	object map[string]any
	list   []map[string]any
}

// core makes a call of the core services, whose client takes too long to compile. Headers
// are pairs of name and value.
func (w *world) core(t *testing.T, method, path string, body any, headers ...string) reply {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var reader io.Reader = http.NoBody
	if body != nil {
		reader = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://sim/20160918"+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Host, r.Host = "", ""
	r.URL.Scheme = ""
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := w.lb.BaseClient.Call(t.Context(), r)
	if answer == nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	out := reply{status: answer.StatusCode, header: answer.Header}
	if service, is := common.IsServiceError(err); is {
		out.object = map[string]any{"code": service.GetCode()}
		return out
	}
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > 0 && got[0] == '[' {
		err = json.Unmarshal(got, &out.list)
	} else if len(got) > 0 {
		err = json.Unmarshal(got, &out.object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (r reply) want(t *testing.T, status int, code string) {
	t.Helper()
	got, _ := r.object["code"].(string)
	if r.status != status || got != code {
		t.Errorf("%d %q, want %d %q", r.status, got, status, code)
	}
}

func newCoreWorld(t *testing.T, opt simoci.Options) *world {
	t.Helper()
	w := newWorld(t, opt)
	w.lb.BasePath = ""
	return w
}

func ruleEntry(peer string, port int) map[string]any {
	return map[string]any{"protocol": "6", "source": peer, "isStateless": false, "tcpOptions": map[string]any{"destinationPortRange": map[string]int{"min": port, "max": port}}}
}

func TestSecurityList(t *testing.T) {
	w := newCoreWorld(t, simoci.Options{Limits: simoci.Limits{ListRules: 2}})
	path := "/securityLists/" + w.seed.Public.SecurityList
	before := w.core(t, "GET", path, nil)
	rules, _ := before.object["ingressSecurityRules"].([]any)
	put := map[string]any{"ingressSecurityRules": append(rules, ruleEntry("0.0.0.0/0", 80))}
	made := w.core(t, "PUT", path, put, "If-Match", before.header.Get("Etag"))
	made.want(t, 200, "")
	if got, _ := made.object["ingressSecurityRules"].([]any); len(got) != len(rules)+1 || made.header.Get("Etag") == before.header.Get("Etag") {
		t.Errorf("%d rules with the etag %s, want one more and another one", len(got), made.header.Get("Etag"))
	}
	w.core(t, "PUT", path, put, "If-Match", before.header.Get("Etag")).want(t, 412, "NoEtagMatch")
	for name, c := range map[string]struct {
		rules []any
		code  string
	}{
		"bits of hosts":  {[]any{ruleEntry("10.0.0.1/8", 80)}, "InvalidParameter"},
		"no port":        {[]any{ruleEntry("10.0.0.0/8", 0)}, "InvalidParameter"},
		"beyond a limit": {[]any{ruleEntry("10.0.0.0/8", 1), ruleEntry("10.0.0.0/8", 2), ruleEntry("10.0.0.0/8", 3)}, "LimitExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			w.core(t, "PUT", path, map[string]any{"ingressSecurityRules": c.rules}).want(t, 400, c.code)
		})
	}
}

func TestGroups(t *testing.T) {
	w := newCoreWorld(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 1}})
	body := map[string]any{"compartmentId": w.seed.Compartment, "vcnId": w.seed.VCN, "displayName": "a/b", "freeformTags": map[string]string{"CreatedBy": "CCM"}}
	made := w.core(t, "POST", "/networkSecurityGroups", body, "Opc-Retry-Token", "once")
	made.want(t, 200, "")
	id, _ := made.object["id"].(string)
	again := w.core(t, "POST", "/networkSecurityGroups", body, "Opc-Retry-Token", "once")
	if again.object["id"] != id {
		t.Errorf("a repeated call made %v beside %v", again.object["id"], id)
	}
	w.core(t, "PUT", "/networkSecurityGroups/"+id, map[string]any{"freeformTags": map[string]string{}}, "Opc-Retry-Token", "once").want(t, 200, "")
	if all := w.core(t, "GET", "/networkSecurityGroups?compartmentId="+w.seed.Compartment+"&displayName=a%2Fb", nil); len(all.list) != 1 {
		t.Errorf("%d groups, want 1", len(all.list))
	}
	path := "/networkSecurityGroups/" + id
	rule := ruleEntry("0.0.0.0/0", 80)
	rule["direction"], rule["sourceType"], rule["description"] = "INGRESS", "CIDR_BLOCK", "ours"
	other := ruleEntry(id, 30080)
	other["direction"], other["sourceType"] = "INGRESS", "NETWORK_SECURITY_GROUP"
	w.core(t, "POST", path+"/actions/addSecurityRules", map[string]any{"securityRules": []any{rule}}).want(t, 200, "")
	workers := "/networkSecurityGroups/" + w.seed.WorkerGroup
	w.core(t, "POST", workers+"/actions/addSecurityRules", map[string]any{"securityRules": []any{other}}).want(t, 200, "")
	all := w.core(t, "GET", path+"/securityRules?direction=INGRESS", nil)
	if len(all.list) != 1 || all.list[0]["isValid"] != true || all.list[0]["description"] != "ours" {
		t.Fatalf("rules %v, want the one that was added", all.list)
	}
	w.core(t, "POST", path+"/actions/removeSecurityRules", map[string]any{"securityRuleIds": []any{"none"}}).want(t, 400, "RelatedResourceNotAuthorizedOrNotFound")
	w.core(t, "POST", path+"/actions/removeSecurityRules", map[string]any{"securityRuleIds": []any{all.list[0]["id"]}}).want(t, 204, "")
	w.core(t, "DELETE", workers, nil).want(t, 409, "IncorrectState")
	w.core(t, "DELETE", path, nil, "If-Match", made.header.Get("Etag")).want(t, 412, "NoEtagMatch")
	w.core(t, "DELETE", path, nil).want(t, 204, "")
	if left := w.core(t, "GET", workers+"/securityRules", nil); len(left.list) != 1 || left.list[0]["isValid"] != false {
		t.Errorf("rules that name the group that is gone: %v, want one that is not valid", left.list)
	}
	w.core(t, "POST", "/networkSecurityGroups", body, "Opc-Retry-Token", "once").want(t, 409, "InvalidatedRetryToken")
}

func TestMachines(t *testing.T) {
	w := newCoreWorld(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 3}, Page: 2})
	n := w.seed.Nodes[1]
	first := w.core(t, "GET", "/instances?compartmentId="+w.seed.Compartment, nil)
	second := w.core(t, "GET", "/instances?compartmentId="+w.seed.Compartment+"&page="+first.header.Get("Opc-Next-Page"), nil)
	if len(first.list) != 2 || len(second.list) != 1 || second.header.Get("Opc-Next-Page") != "" {
		t.Errorf("pages of %d and %d instances, want 2 and 1", len(first.list), len(second.list))
	}
	attached := w.core(t, "GET", "/vnicAttachments?compartmentId="+w.seed.Compartment+"&instanceId="+n.InstanceID, nil)
	if len(attached.list) != 1 || attached.list[0]["vnicId"] != n.VnicID {
		t.Fatalf("attachments %v, want that of %s", attached.list, n.VnicID)
	}
	vnic := w.core(t, "GET", "/vnics/"+n.VnicID, nil)
	if vnic.object["privateIp"] != n.InternalIP || vnic.object["subnetId"] != w.seed.Workers.ID {
		t.Errorf("VNIC %v, want the address %s", vnic.object, n.InternalIP)
	}
	one := w.core(t, "POST", "/publicIps/actions/getByIpAddress", map[string]string{"ipAddress": w.seed.Addresses[0]})
	if one.object["lifecycleState"] != "AVAILABLE" || one.object["lifetime"] != "RESERVED" {
		t.Errorf("public IP %v, want one that is free", one.object)
	}
	private := w.core(t, "GET", "/privateIps?subnetId="+w.seed.Private.ID+"&ipAddress="+w.seed.PrivateAddress, nil)
	if len(private.list) != 1 || private.list[0]["id"] != w.seed.PrivateAddressID {
		t.Errorf("private IPs %v, want the reserved one", private.list)
	}
}

// TestReserved assigns a reserved address to a load balancer for as long as it exists.
func TestReserved(t *testing.T) {
	c := newCoreWorld(t, simoci.Options{})
	find := func() reply {
		return c.core(t, "POST", "/publicIps/actions/getByIpAddress", map[string]string{"ipAddress": c.seed.Addresses[0]})
	}
	id, _ := find().object["id"].(string)
	w := *c
	w.lb.BasePath = "20170115"
	d := w.classicDetails("reserved")
	d.ReservedIps = []loadbalancer.ReservedIp{{Id: &id}}
	lb, _ := w.makeClassic(t, d)
	if *lb.IpAddresses[0].IpAddress != c.seed.Addresses[0] || find().object["lifecycleState"] != "ASSIGNED" {
		t.Errorf("address %s of %v, want the reserved one, assigned", *lb.IpAddresses[0].IpAddress, find().object)
	}
	_, err := w.lb.CreateLoadBalancer(t.Context(), loadbalancer.CreateLoadBalancerRequest{CreateLoadBalancerDetails: d})
	expectRefusal(t, err, 409, "Conflict")
	if _, err := w.lb.DeleteLoadBalancer(t.Context(), loadbalancer.DeleteLoadBalancerRequest{LoadBalancerId: lb.Id}); err != nil {
		t.Fatal(err)
	}
	if got := find().object["lifecycleState"]; got != "AVAILABLE" {
		t.Errorf("the address is %v after the load balancer, want AVAILABLE", got)
	}
}

// TestDisturbed meets faults and the throttle, and looks at what the journal keeps.
func TestDisturbed(t *testing.T) {
	w := newWorld(t, simoci.Options{})
	for _, f := range []sim.Fault{
		{Operation: "ListLoadBalancers", Count: 1, Kind: sim.FaultError, Status: 503, Code: "ServiceUnavailable"},
		{Operation: "CreateLoadBalancer", Count: 1, Kind: sim.FaultError, Status: 200},
	} {
		if _, err := w.Cloud.Faults.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.lb.ListLoadBalancers(t.Context(), loadbalancer.ListLoadBalancersRequest{CompartmentId: &w.seed.Compartment})
	expectRefusal(t, err, 503, "ServiceUnavailable")
	if lb, _ := w.makeClassic(t, w.classicDetails("fails")); lb.LifecycleState != loadbalancer.LoadBalancerLifecycleStateFailed {
		t.Errorf("state %s, want FAILED", lb.LifecycleState)
	}
	if err := w.Cloud.Throttle.Set(sim.Bucket{Name: "none", Capacity: 0}); err != nil {
		t.Fatal(err)
	}
	_, err = w.lb.ListLoadBalancers(t.Context(), loadbalancer.ListLoadBalancersRequest{CompartmentId: &w.seed.Compartment})
	expectRefusal(t, err, 429, "TooManyRequests")
	if diff := cmp.Diff(map[string]int{"loadbalancer.ListLoadBalancers": 3, "loadbalancer.CreateLoadBalancer": 1}, w.Cloud.Journal.Counts()); diff != "" {
		t.Errorf("journal (-want +got)\n%s", diff)
	}
}
