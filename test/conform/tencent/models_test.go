package conform

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-lb/berth/docs/permissions"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/tencent"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/conform/models"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simtencent "github.com/berth-lb/berth/test/sim/tencent"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// recorded is a simulated account whose calls are compared with the models.
type recorded struct {
	*simtencent.Cloud
	record models.Recorder
	url    string
	notes  providers.Notes
}

func (r *recorded) Config(testing.TB) []byte { return r.Seed.CloudConf(r.url) }

func (r *recorded) Env() providers.Env {
	env := account.Env()
	env.Notes = r.notes
	return env
}

func (r *recorded) KubernetesNodes() []corev1.Node { return r.Seed.KubernetesNodes() }

func (r *recorded) Control() *sim.Control { return &r.Cloud.Control }

func (r *recorded) Forwards() []account.Forward { return nil }

// TestModels serves and changes Services of all kinds. Requests and answers must fit the models, and
// every action of the simulator must occur.
func TestModels(t *testing.T) {
	all, err := models.Load(t.Context(), "sdk")
	if err != nil || len(all) < 50 {
		t.Fatalf("%d models, %v", len(all), err)
	}
	virtual.Test(t, func(t *testing.T) {
		cloud := account.Cloud[simtencent.Options, *recorded]{Entry: providers.EntryOf(tencent.Cloud()), Start: func(t testing.TB, opt simtencent.Options) *recorded {
			r := &recorded{Cloud: virtual.Fresh(t, simtencent.New, opt), notes: service.NewNotes(fake.NewClientset())}
			r.record = models.Recorder{Simulator: r.Cloud, Judge: judge(all).Judge}
			r.url = virtual.Start(t, &r.record)
			return r
		}}
		w := cloud.Begin(t, simtencent.Options{Seed: simtencent.SeedOptions{Nodes: 6, Users: true}})
		w.Given = namedSecrets(w.Sim.Seed)
		for n, c := range serviceCases(w.Sim.Cloud) {
			svc := c.Service
			svc.Name, svc.UID = c.Name, account.UID(n)
			w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, "172.16.0.11", "172.16.0.12", "172.16.0.13")}
			changeAll(w, svc, c.Name)
		}
		served := operationsOf(w)
		roles, err := permissions.Of("tencent")
		if err != nil {
			t.Fatal(err)
		}
		w.Open(t).Diagnose(t.Context(), roles) // its calls are compared as well
		w.Sim.record.Check(t, knownGaps())
		all := operationsOf(w)
		if d := cmp.Diff(slices.Sorted(slices.Values(simtencent.Operations())), all); d != "" {
			t.Errorf("actions (-simulated +made):\n%s", d)
		}
		alone := slices.DeleteFunc(all, func(name string) bool { return slices.Contains(served, name) })
		if d := cmp.Diff([]string{"clb.DescribeQuota"}, alone); d != "" {
			t.Errorf("actions of berth doctor alone (-want +got):\n%s", d)
		}
	})
}

// operationsOf returns the actions that were called until now, sorted.
func operationsOf(w *account.World[*recorded]) []string {
	made := map[string]bool{}
	for _, e := range w.Control().Journal.Entries() {
		made[e.Service+"."+e.Operation] = true
	}
	return slices.Sorted(maps.Keys(made))
}

// Prefixes of keys.
const (
	kube  = "service.kubernetes.io/"
	cloud = "service.cloud.tencent.com/"
)

// namedSecrets are Secrets that name the certificates of the account.
func namedSecrets(seed simtencent.Seed) map[providers.Reference]providers.Object {
	out := map[providers.Reference]providers.Object{}
	for i, name := range []string{"one", "other"} {
		out[providers.Reference{Kind: providers.Secret, Namespace: "shop", Name: name}] = providers.Object{Data: map[string][]byte{"qcloud_cert_id": []byte(seed.Certificates[i])}}
	}
	return out
}

// secureHosts asks for HTTPS with hosts.
func secureHosts(hosts string) string { return `{"443":{"protocol":["HTTPS"],"hosts":` + hosts + `}}` }

// serviceCases returns Services with load balancers of their own and of others.
func serviceCases(c *simtencent.Cloud) []props.Case {
	const protocols = cloud + "specify-protocol"
	return []props.Case{
		props.Service("plain", map[string]string{}),
		props.Service("mixed", map[string]string{kube + "qcloud-loadbalancer-internet-charge-type": "BANDWIDTH_POSTPAID_BY_HOUR", kube + "qcloud-loadbalancer-internet-max-bandwidth-out": "20"}, props.UDP),
		props.Service("internal", map[string]string{kube + "qcloud-loadbalancer-internal-subnetid": c.Seed.Subnets[0].ID, cloud + "security-groups": c.Seed.SecurityGroups[0]}),
		props.Service("hosts", map[string]string{protocols: secureHosts(`{"a.example.com":{"tls":"one"},"b.example.com":{"tls":"one"}}`)}),
		props.Service("secure", map[string]string{protocols: `{"80":{"protocol":["TCP_SSL"],"tls":"one"}}`}),
		props.Service("pods", map[string]string{cloud + "direct-access": "true"}),
		props.Service("weighted", map[string]string{kube + "local-svc-only-bind-node-with-pod": "true", cloud + "local-svc-weighted-balance": "true"}, props.Local),
		props.Service("existing", map[string]string{kube + "tke-existed-lbid": c.Seed.Users}),
		props.Service("away", map[string]string{cloud + "cross-region-id": "ap-chongqing", cloud + "cross-vpc-id": "vpc-mjekzyps"}),
	}
}

// changeAll serves a Service, changes what can change, and releases it.
func changeAll(w *account.World[*recorded], svc *corev1.Service, name string) {
	w.Serve(svc)
	svc.Spec.Ports[1].NodePort++
	w.Serve(svc)
	w.Process.SetNodes(w.Machines[1:])
	ready := w.Slices[0].Endpoints
	w.Slices[0].Endpoints = ready[1:]
	w.Serve(svc)
	w.Process.SetNodes(w.Machines)
	w.Slices[0].Endpoints = ready
	w.Serve(svc)
	full := svc.Spec.Ports
	svc.Spec.Ports = full[:1]
	if name != "hosts" {
		w.Serve(svc)
	}
	svc.Spec.Ports = full
	switch name {
	case "hosts":
		for _, hosts := range []string{`{"a.example.com":{"tls":"other"},"b.example.com":{"tls":"one"}}`, `{"a.example.com":{"tls":"other"}}`} {
			svc.Annotations[cloud+"specify-protocol"] = secureHosts(hosts)
			w.Serve(svc)
		}
	case "mixed":
		svc.Annotations[kube+"qcloud-loadbalancer-internet-max-bandwidth-out"] = "30"
	case "weighted":
		w.Slices = append(w.Slices, account.PodSlice(svc, w.Machines[:1], "172.16.0.21", "172.16.0.22"))
	case "internal":
		svc.Annotations[cloud+"security-groups"] = w.Sim.Seed.SecurityGroups[1]
		svc.Annotations[cloud+"pass-to-target"] = "true"
	}
	svc.Annotations[kube+"service.listenerParameters"] = `{"Scheduler":"LEAST_CONN"}`
	w.Serve(svc)
	w.Restart(svc)
	w.Serve(svc)
	w.Release(svc)
}
