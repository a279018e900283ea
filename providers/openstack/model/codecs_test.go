package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/kit/codec"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// TestEveryFieldIsDeclared verifies that no field of a spec is forgotten in its codec.
func TestEveryFieldIsDeclared(t *testing.T) {
	for name, problems := range map[string][]string{
		"load balancer": model.BalancerCodec().Problems(), "listener": model.ListenerCodec().Problems(), "pool": model.PoolCodec().Problems(),
		"member": model.MemberCodec().Problems(), "health monitor": model.MonitorCodec().Problems(), "floating IP": model.FloatingIPCodec().Problems(),
		"security group": model.GroupCodec().Problems(), "rule": model.GroupRuleCodec().Problems(),
	} {
		for _, p := range problems {
			t.Errorf("%s: %s", name, p)
		}
	}
}

func partKey(kind stack.Kind) stack.Key { return stack.Key{Kind: kind, Name: "tcp-80"} }

func fullListener() model.Listener {
	return model.Listener{
		Name: "listener_0_x", Tags: []string{"x"}, Protocol: "TCP", Port: 80, Pool: stack.RefTo(partKey(model.KindPool)), Limit: -1, Ranges: []string{"0.0.0.0/0"},
		Timeouts: model.Timeouts{Known: true, ClientData: 50000, MemberConnect: 5000, MemberData: 50000},
	}
}

// TestBodies verifies the bodies of all writing calls.
func TestBodies(t *testing.T) {
	ids := func(r stack.Ref) string { return "id-" + r.To.Name }
	monitor := model.Monitor{Name: "monitor_0_x", Type: "HTTP", Delay: 5, Timeout: 3, Retries: 1, RetriesDown: 2, Path: "/healthz", Method: "GET", Codes: "200"}
	pool := model.Pool{Name: "pool_0_x", Protocol: "TCP", Algorithm: "ROUND_ROBIN", Sticky: true, Claim: "c"}
	member := model.Member{Name: "node-a", Address: "10.0.0.5", Port: 30080, Subnet: "s1", Check: 32000}
	plain := model.Listener{Name: "n", Protocol: "TCP", Port: 80}
	for name, tc := range map[string]struct {
		body any
		want string
	}{
		"create a load balancer": {model.BalancerCodec().Create(model.Balancer{Name: "kube_service_a_b_c", Description: "d", Tags: []string{"t"}, Provider: "amphora", Subnet: "s", Status: model.Active}, ids),
			`{"name":"kube_service_a_b_c","description":"d","tags":["t"],"provider":"amphora","vip_subnet_id":"s"}`},
		"update tags": {model.BalancerCodec().Update(model.Balancer{Name: "n", Subnet: "s"}, []string{"Tags"}, ids), `{"tags":[]}`},
		"create a listener": {model.ListenerCodec().Create(fullListener(), ids),
			`{"name":"listener_0_x","tags":["x"],"protocol":"TCP","protocol_port":80,"default_pool_id":"id-tcp-80","connection_limit":-1,"allowed_cidrs":["0.0.0.0/0"],
			  "timeout_client_data":50000,"timeout_member_connect":5000,"timeout_member_data":50000,"timeout_tcp_inspect":0}`},
		"create a listener of an API without ranges and timeouts": {model.ListenerCodec().Create(plain, ids), `{"name":"n","protocol":"TCP","protocol_port":80,"connection_limit":0}`},
		"update one field of a listener":                          {model.ListenerCodec().Update(fullListener(), []string{"Limit"}, ids), `{"name":"listener_0_x","connection_limit":-1}`},
		"update timeouts": {model.ListenerCodec().Update(fullListener(), []string{"Timeouts"}, ids),
			`{"name":"listener_0_x","timeout_client_data":50000,"timeout_member_connect":5000,"timeout_member_data":50000,"timeout_tcp_inspect":0}`},
		"update a listener to nothing":                 {model.ListenerCodec().Update(plain, []string{"Headers", "TLS", "Ranges", "Tags"}, ids), `{"name":"n","insert_headers":{},"default_tls_container_ref":"","tags":[]}`},
		"create a pool":                                {model.PoolCodec().Create(pool, ids), `{"name":"pool_0_x","protocol":"TCP","lb_algorithm":"ROUND_ROBIN","session_persistence":{"type":"SOURCE_IP"}}`},
		"end persistence":                              {model.PoolCodec().Update(model.Pool{Name: "p"}, []string{"Sticky"}, ids), `{"session_persistence":null}`},
		"change the algorithm":                         {model.PoolCodec().Update(pool, []string{"Algorithm"}, ids), `{"lb_algorithm":"ROUND_ROBIN"}`},
		"create a member":                              {model.MemberCodec().Create(model.Member{Name: "a", Address: "10.0.0.5", Port: 1}, ids), `{"name":"a","address":"10.0.0.5","protocol_port":1}`},
		"replace a member":                             {model.MemberCodec().Replace(member, ids), `{"name":"node-a","address":"10.0.0.5","protocol_port":30080,"subnet_id":"s1","monitor_port":32000}`},
		"replace a member without a health check port": {model.MemberCodec().Replace(model.Member{Name: "a", Address: "10.0.0.5", Port: 1}, ids), `{"name":"a","address":"10.0.0.5","protocol_port":1,"monitor_port":null}`},
		"create a health monitor": {model.MonitorCodec().Create(monitor, ids),
			`{"name":"monitor_0_x","type":"HTTP","delay":5,"timeout":3,"max_retries":1,"max_retries_down":2,"url_path":"/healthz","http_method":"GET","expected_codes":"200"}`},
		"update a health monitor": {model.MonitorCodec().Update(monitor, []string{"Delay"}, ids), `{"delay":5}`},
		"create a floating IP": {model.FloatingIPCodec().Create(model.FloatingIP{Network: "n", Description: "d", Keep: true, Subnets: []string{"s"}}, ids),
			`{"floating_network_id":"n","description":"d"}`},
		"create a security group": {model.GroupCodec().Create(model.Group{Name: "g", Description: "d"}, ids), `{"name":"g","description":"d"}`},
		"create a rule": {model.GroupRuleCodec().Create(model.GroupRule{Direction: "ingress", Family: "IPv4", Protocol: "tcp", Port: 30080, Last: 30080, Remote: "10.0.0.0/16"}, ids),
			`{"direction":"ingress","ethertype":"IPv4","protocol":"tcp","port_range_min":30080,"port_range_max":30080,"remote_ip_prefix":"10.0.0.0/16"}`},
		"create a tree": {model.ListenerTree([]stack.Resource{
			{Key: partKey(model.KindListener), Spec: model.Listener{Name: "l", Protocol: "TCP", Port: 80, Pool: stack.RefTo(partKey(model.KindPool)), Limit: -1}},
			{Key: partKey(model.KindPool), Spec: model.Pool{Name: "p", Protocol: "TCP", Algorithm: "ROUND_ROBIN"}},
			{Key: partKey(model.KindMembers), Spec: model.Members{Members: []model.Member{member}}},
			{Key: partKey(model.KindMonitor), Spec: model.Monitor{Name: "m", Type: "TCP", Delay: 5}},
		}), `[{"name":"l","protocol":"TCP","protocol_port":80,"connection_limit":-1,"default_pool":{"name":"p","protocol":"TCP","lb_algorithm":"ROUND_ROBIN",
			"members":[{"name":"node-a","address":"10.0.0.5","protocol_port":30080,"subnet_id":"s1","monitor_port":32000}],"healthmonitor":{"name":"m","type":"TCP","delay":5}}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(fromJSON(t, tc.want), fromJSON(t, toJSON(t, tc.body))); d != "" {
				t.Errorf("body (-want +got):\n%s", d)
			}
		})
	}
}

// TestDecode verifies that specs survive the way to the API and back, and what becomes of
// fields that only the API writes.
func TestDecode(t *testing.T) {
	want := fullListener()
	want.Pool, want.Timeouts.Known = stack.RefID("p"), false
	body := model.ListenerCodec().Create(fullListener(), func(stack.Ref) string { return "p" })
	checkDecode(t, model.ListenerCodec(), toJSON(t, body), want)
	checkDecode(t, model.ListenerCodec(), `{"allowed_cidrs":[],"default_pool_id":null,"tags":["b","a"]}`, model.Listener{Tags: []string{"a", "b"}})
	checkDecode(t, model.PoolCodec(), `{"protocol":"TCP","lb_algorithm":"ROUND_ROBIN","session_persistence":{"type":"SOURCE_IP","cookie_name":null}}`, model.Pool{Protocol: "TCP", Algorithm: "ROUND_ROBIN", Sticky: true})
	checkDecode(t, model.PoolCodec(), `{"session_persistence":null}`, model.Pool{})
	checkDecode(t, model.MonitorCodec(), `{"type":"TCP","url_path":"/","http_method":"GET","expected_codes":"200","delay":5}`, model.Monitor{Type: "TCP", Delay: 5})
	checkDecode(t, model.MemberCodec(), `{"address":"10.0.0.5","monitor_port":null}`, model.Member{Address: "10.0.0.5"})
	checkDecode(t, model.GroupRuleCodec(), `{"direction":"ingress","remote_ip_prefix":null,"remote_group_id":"g","port_range_min":null}`, model.GroupRule{Direction: "ingress", Remote: "group g"})
}

// TestRules verifies what the codecs say of changes.
func TestRules(t *testing.T) {
	kinds := model.Rules().Kinds
	for kind, want := range map[stack.Kind][2]string{
		model.KindBalancer:   {"Lost", "Address Flavor Network Port Provider Stuck Subnet Zone"},
		model.KindListener:   {"Port Protocol", "Claim Name"},
		model.KindPool:       {"Protocol", "Claim Name"},
		model.KindMonitor:    {"Codes Method Path Type", "Name"},
		model.KindFloatingIP: {"Address", "Description Network Subnets"},
		model.KindGroup:      {"", "Description Name"},
	} {
		got := [2]string{strings.Join(kinds[kind].Immutable, " "), strings.Join(kinds[kind].Ignore, " ")}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: immutable and ignored fields (-want +got):\n%s", kind, d)
		}
	}
}

func checkDecode[T any](t *testing.T, kind codec.Kind[T], text string, want T) {
	t.Helper()
	got, err := kind.Decode([]byte(text))
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%s: error %v, spec (-want +got):\n%s", text, err, d)
	}
}

func toJSON(t *testing.T, body any) string {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func fromJSON(t *testing.T, text string) any {
	t.Helper()
	var out any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}
