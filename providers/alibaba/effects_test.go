package alibaba_test

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestNames: what is created has the names, tags and descriptions of the official controller, and
// the Service gets its label.
func TestNames(t *testing.T) {
	w := beginWorld(t, withNodes(2))
	svc := props.Service("web", nil).Service
	res := w.Serve(svc)
	const name = "a5a0c1f6e00004000800000000000000"
	creation := w.Control().Journal.Entries()
	at := slices.IndexFunc(creation, func(e sim.Entry) bool { return e.Operation == "CreateLoadBalancer" })
	got := creation[at].Request
	for key, want := range map[string]string{
		"?LoadBalancerName": name, "?AddressType": "internet", "?InstanceChargeType": "PayByCLCU", "?DeleteProtection": "on", "?ModificationProtectionStatus": "ConsoleProtection", "?ModificationProtectionReason": "managed.by.ack",
		"?Tag.1.Key": "kubernetes.do.not.delete", "?Tag.1.Value": name, "?Tag.2.Key": "ack.aliyun.com", "?Tag.2.Value": "berthdemo",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
	lb := w.Sim.Cloud.Balancers()[0]
	if got := w.Sim.Cloud.Description(lb, "tcp", 80); got != "k8s/80/web/shop/berthdemo" {
		t.Errorf("description %q", got)
	}
	if got := w.Sim.Cloud.ServersOf("k8s/30080/web/shop/berthdemo"); len(got) != 2 {
		t.Errorf("servers %v", got)
	}
	if got := res.Status.Labels["service.k8s.alibaba/loadbalancer-id"]; got != lb {
		t.Errorf("label %q, want %q", got, lb)
	}
}

// TestHostname: the status has the host name in place of the address.
func TestHostname(t *testing.T) {
	w := beginWorld(t, withNodes(2))
	res := w.Serve(props.Service("web", withKeys("hostname", "shop.example.com")).Service)
	if got := res.Status.Ingress; len(got) != 1 || got[0].Hostname != "shop.example.com" || got[0].IP != "" {
		t.Errorf("status %+v", got)
	}
}

// TestElsewhere: keys that leave a Service to others do.
func TestElsewhere(t *testing.T) {
	for key, value := range map[string]string{domain + "class": "custom", prefix + "tunnel-type": ""} {
		if c := model.Choose(props.Service("web", map[string]string{key: value}).Service); c.Kind != "" || !strings.Contains(c.Elsewhere, key) {
			t.Errorf("%s: %+v", key, c)
		}
	}
}

// TestSpellings: the deprecated spelling of a key counts where the present one does not exist, and
// an empty present one wins.
func TestSpellings(t *testing.T) {
	old := domain + "alicloud-loadbalancer-"
	for name, c := range map[string]struct {
		notes map[string]string
		want  string
	}{
		"old":       {map[string]string{old + "scheduler": "wlc"}, "wlc"},
		"both":      {map[string]string{old + "scheduler": "wlc", prefix + "scheduler": "sch"}, "sch"},
		"empty new": {map[string]string{old + "scheduler": "wlc", prefix + "scheduler": ""}, "rr"},
	} {
		w := beginWorld(t, withNodes(2))
		w.Serve(props.Service("web", c.notes).Service)
		if got := w.Sim.Cloud.Setting(w.Sim.Cloud.Balancers()[0], "tcp", 80, "Scheduler"); got != c.want {
			t.Errorf("%s: scheduler %q, want %q", name, got, c.want)
		}
	}
}

// TestIgnoreWeights: weights that the user changed stay where the Service says so.
func TestIgnoreWeights(t *testing.T) {
	for _, ignore := range []bool{false, true} {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", nil).Service
		if ignore {
			svc.Annotations = withKeys("ignore-weight-update", "On")
		}
		w.Serve(svc)
		w.Sim.Cloud.SetWeights("k8s/30080/web/shop/berthdemo", 0)
		w.Restart(svc)
		w.Serve(svc)
		if served := len(w.Sim.Cloud.Forwards()) == 2; served == ignore {
			t.Errorf("ignored %v: forwards %+v", ignore, w.Sim.Cloud.Forwards())
		}
	}
}

// TestCordoned: a cordoned node is a server, unless the Service says otherwise.
func TestCordoned(t *testing.T) {
	for _, removes := range []bool{false, true} {
		w := beginWorld(t, withNodes(3))
		w.Machines[0].TaintKeys = []string{corev1.TaintNodeUnschedulable}
		w.Restart()
		svc := props.Service("web", nil).Service
		if removes {
			svc.Annotations = withKeys("remove-unscheduled-backend", "on")
		}
		w.Serve(svc)
		if got := len(w.Sim.Cloud.Forwards()[0].Servers); (got == 2) != removes {
			t.Errorf("removes %v: %d servers", removes, got)
		}
	}
}

// TestStopped: a listener that was created and not started is started.
func TestStopped(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", nil).Service
		if _, err := w.Control().Faults.Add(sim.Fault{Operation: "StartLoadBalancerListener", Kind: sim.FaultCutBefore, Count: 1}); err != nil {
			t.Fatal(err)
		}
		w.Serve(svc)
		if n := len(w.Sim.Cloud.Forwards()); n != 2 {
			t.Errorf("%d ports are forwarded", n)
		}
	})
}

// TestBatches: a group of 75 nodes is created with 20 servers, and 40 and 15 are added.
func TestBatches(t *testing.T) {
	w := beginWorld(t, withNodes(75))
	svc := props.Service("web", nil).Service
	svc.Spec.Ports = svc.Spec.Ports[:1]
	w.Serve(svc)
	if n := len(w.Sim.Cloud.Forwards()[0].Servers); n != 75 {
		t.Errorf("%d servers", n)
	}
	if n := w.Control().Journal.Counts()["slb.AddVServerGroupBackendServers"]; n != 2 {
		t.Errorf("%d calls", n)
	}
}

// TestGoneInstance: an instance that the cloud does not know is left out, and the others serve.
func TestGoneInstance(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(5))
		w.Machines[2].ProviderID = "cn-hangzhou.i-unknown"
		w.Restart()
		svc := props.Service("web", nil).Service
		for range 4 {
			if _, err := w.Once(svc, false); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range w.Sim.Cloud.Forwards() {
			if len(f.Servers) != 4 {
				t.Errorf("port %d: servers %v", f.Port, f.Servers)
			}
		}
		if n := len(w.Sim.Cloud.Forwards()); n != 2 {
			t.Errorf("%d ports", n)
		}
	})
}

// TestLocal: with local endpoints nodes have the number of their pods as weight, and others are no
// servers.
func TestLocal(t *testing.T) {
	seed := onAlibaba().Start(t, withNodes(3)).Cloud.Seed
	nodes := props.Project(seed.KubernetesNodes())
	svc := props.Service("web", nil, props.Local).Service
	slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	for _, p := range svc.Spec.Ports {
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &p.Name, Protocol: &p.Protocol, Port: &p.Port})
	}
	for i, node := range []int{0, 0, 2} {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}).String()}, NodeName: &nodes[node].Name})
	}
	interner := nodeports.NewInterner()
	interner.Update(nodes)
	in := model.Input{Service: svc, Kind: model.CLB}
	in.Values, _ = model.Annotations().Parse(model.CLB, annotations.SourceOf(svc))
	in.Backends = nodeports.BackendsOf(svc, interner.Select(model.SelectNodes(in)), []*discoveryv1.EndpointSlice{slice}, nodeports.FallbackPerService)
	want, problems, err := model.Build(in, nil, nil)
	if err != nil || problems.Errors() {
		t.Fatal(err, problems)
	}
	spec, _ := stack.SpecOf[model.VServerGroup](want, model.GroupKey("30080"))
	weights := map[string]int{}
	for _, s := range spec.Servers {
		weights[s.ID] = s.Weight
	}
	if len(weights) != 2 || weights[seed.Nodes[0].InstanceID] != 2 || weights[seed.Nodes[2].InstanceID] != 1 {
		t.Errorf("weights %v", weights)
	}
}

// TestConfig: the official file is read as YAML and JSON with keys in base64, and faults are named.
func TestConfig(t *testing.T) {
	for text, want := range map[string]string{
		"Global:\n  region: cn-beijing\n  accessKeyID: a2V5\n  accessKeySecret: c2VjcmV0\n  vswitchid: \"cn-beijing-a:vsw-1,broken,cn-beijing-b:vsw-2\"\n":    "",
		`{"Global": {"region": "cn-beijing", "accessKeyID": "a2V5", "accessKeySecret": "c2VjcmV0", "vswitchid": "a:vsw-1,b:vsw-2", "routeTableIDs": "rt-1"}}`: "",
		"Global:\n  region: cn-beijing\n  accessKeyID: '%%'\n": "Global.accessKeyID: is not the base64",
		"Global:\n  region: r\n  accessKeyID: a2V5\n":          "one of them is empty",
		"Global: [\n": "cloud config",
	} {
		c, problems, err := model.ReadConfig(strings.NewReader(text))
		switch {
		case want == "" && (err != nil || len(problems) > 0 || c.KeyID != "key" || c.Secret != "secret" || c.ClusterID != "clusterid" || !slices.Equal(c.VSwitches, []string{"vsw-1", "vsw-2"})):
			t.Errorf("%s: %v, %v, %+v", text, err, problems, c)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, problems, err := model.ReadConfig(bytes.NewReader([]byte("Global:\n  region: r\n  vpcId: v\n")))
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].String(), "Global.vpcId") {
		t.Errorf("%v, %v", err, problems)
	}
}

// TestWrongKey: a session with another secret is refused, and the error names no secret.
func TestWrongKey(t *testing.T) {
	w := beginWorld(t, withNodes(2))
	file := bytes.ReplaceAll(w.Sim.Cloud.Seed.CloudConf(w.Sim.URL), []byte("accessKeySecret: c2ltdWxhdGVk"), []byte("accessKeySecret: b3RoZXJ3aXNl"))
	cloud, _, err := w.Cloud().Open(t.Context(), bytes.NewReader(file), account.Env())
	if err != nil {
		t.Fatal(err)
	}
	process := props.Process(t, cloud, w.Machines)
	_, err = process.Draft(t.Context(), reconcile.Job{Service: props.Service("web", nil).Service})
	if err == nil || !strings.Contains(err.Error(), "SignatureDoesNotMatch") || strings.Contains(err.Error(), "otherwise") {
		t.Errorf("error %v", err)
	}
}
