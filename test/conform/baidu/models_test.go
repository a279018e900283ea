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
	"github.com/berth-lb/berth/providers/baidu"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/conform/models"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simbaidu "github.com/berth-lb/berth/test/sim/baidu"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// recorded is a simulated account whose calls are compared with the models.
type recorded struct {
	*simbaidu.Cloud
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

// TestModels serves and changes Services of all kinds, and checks the setup as berth doctor does. Requests and answers
// must fit the models, and every operation of the simulator must occur.
func TestModels(t *testing.T) {
	all, err := modelsOf()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("the clients of the SDK make %d calls", len(all))
	}
	virtual.Test(t, func(t *testing.T) {
		cloud := account.Cloud[simbaidu.Options, *recorded]{Entry: providers.EntryOf(baidu.Cloud()), Start: func(t testing.TB, opt simbaidu.Options) *recorded {
			r := &recorded{Cloud: virtual.Fresh(t, simbaidu.New, opt), notes: service.NewNotes(fake.NewClientset())}
			r.record = models.Recorder{Simulator: r.Cloud, Judge: judge(all).Judge}
			r.url = virtual.Start(t, &r.record)
			return r
		}}
		w := cloud.Begin(t, simbaidu.Options{Seed: simbaidu.SeedOptions{Nodes: 6}})
		for n, c := range serviceCases(w.Sim.Cloud) {
			svc := c.Service
			svc.Name, svc.UID = c.Name, account.UID(n)
			w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, "172.16.0.11", "172.16.0.12", "172.16.0.13")}
			changeAll(w, svc)
		}
		served := operationsOf(w)
		roles, err := permissions.Of("baidu")
		if err != nil {
			t.Fatal(err)
		}
		w.Open(t).Diagnose(t.Context(), roles) // its calls are compared as well
		w.Sim.record.Check(t, knownGaps())
		all := operationsOf(w)
		want := slices.DeleteFunc(simbaidu.Operations(), func(name string) bool {
			// No normal load balancer is created or deleted, and the protocol of a group is deleted with it.
			return name == "blb.CreateLoadBalancer" || name == "blb.DeleteLoadBalancer" || name == "blb.DeleteAppIpGroupBackendPolicy"
		})
		slices.Sort(want)
		if d := cmp.Diff(want, all); d != "" {
			t.Errorf("operations (-simulated +made):\n%s", d)
		}
		alone := slices.DeleteFunc(all, func(name string) bool { return slices.Contains(served, name) })
		if d := cmp.Diff([]string{"quota-center.QuotaCenterQuery"}, alone); d != "" {
			t.Errorf("operations of berth doctor alone (-want +got):\n%s", d)
		}
	})
}

// operationsOf returns the operations that were called until now, sorted.
func operationsOf(w *account.World[*recorded]) []string {
	made := map[string]bool{}
	for _, e := range w.Control().Journal.Entries() {
		made[e.Service+"."+e.Operation] = true
	}
	return slices.Sorted(maps.Keys(made))
}

// Prefixes of keys.
const (
	keyLB  = "service.beta.kubernetes.io/cce-load-balancer-"
	keyEIP = "service.beta.kubernetes.io/cce-elastic-ip-"
)

// serviceCases returns Services with load balancers of their own and of others.
func serviceCases(cloud *simbaidu.Cloud) []props.Case {
	existing := func(kind, key, name string, changes ...func(*corev1.ServiceSpec)) props.Case {
		return props.Service(name, map[string]string{keyLB + key: cloud.AddBalancer(kind, name, nil)}, changes...)
	}
	return []props.Case{
		props.Service("plain", map[string]string{}),
		props.Service("prepaid", map[string]string{keyEIP + "payment-timing": "Prepaid", keyEIP + "reservation-length": "1"}),
		props.Service("kept", map[string]string{keyLB + "reserve-lb": "true"}, props.UDP),
		props.Service("internal", map[string]string{keyLB + "internal-vpc": "true"}, props.Local),
		props.Service("pods", map[string]string{"berth-lb.io/baidu-pods": "true"}),
		existing("appblb", "id", "application"),
		existing("blb", "exist-id", "normal"),
		existing("blb", "exist-id", "normal-udp", props.UDP),
	}
}

// changeAll serves a Service, changes what can change, and releases it.
func changeAll(w *account.World[*recorded], svc *corev1.Service) {
	w.Serve(svc)
	svc.Spec.Ports[1].NodePort++
	w.Serve(svc)
	w.Process.SetNodes(w.Machines[1:])
	ready := w.Slices[0].Endpoints
	w.Slices[0].Endpoints = ready[1:]
	w.Serve(svc)
	w.Process.SetNodes(w.Machines)
	w.Slices[0].Endpoints = ready
	full := svc.Spec.Ports
	svc.Spec.Ports = full[:1]
	w.Serve(svc)
	svc.Spec.Ports = full
	svc.Annotations[keyLB+"scheduler"], svc.Annotations[keyLB+"unhealthy-threshold"] = "LeastConnection", "5"
	if svc.Name == "plain" {
		svc.Annotations[keyEIP+"bandwidth-in-mbps"] = "20"
	}
	w.Serve(svc)
	if svc.Name == "plain" {
		w.Sim.DropAddress(w.Sim.Addresses()[0])
	}
	w.Restart(svc)
	w.Serve(svc)
	w.Release(svc)
}
