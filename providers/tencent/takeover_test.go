package tencent_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/rest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// inherited is an account in which TKE has served until now. Its marks are those of the documentation:
// https://cloud.tencent.com/document/product/457/45491.
type inherited struct {
	podSubject
	served []*corev1.Service
	users  []string // ids of the load balancers that users have created
}

// balancer adds a load balancer with the marks of TKE for a new Service with two ports.
func (in *inherited) balancer(name string, tags func(uid string) map[string]string, notes func(lb string) map[string]string) (lb string, svc *corev1.Service) {
	svc = props.Service(name, nil).Service
	svc.Name, svc.UID = name, account.UID(len(in.served))
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].NodePort = int32(31000 + 10*len(in.served) + i)
	}
	lb = in.Sim.Cloud.AddBalancer(tags(string(svc.UID)))
	svc.Annotations = map[string]string{kube + "loadbalance-id": lb, cloud + "client-token": "ed7a31f0-24cd-4aea-ab10-e00d63994dd8", cloud + "sync-begin-time": "2026-01-04T16:24:42+08:00"}
	for key, value := range notes(lb) {
		svc.Annotations[key] = value
	}
	svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: in.Sim.Cloud.Balancer(lb).Texts("LoadBalancerVips")[0]}}
	in.served = append(in.served, svc)
	return lb, svc
}

// listen adds the listeners of a Service with its nodes as targets.
func (in *inherited) listen(lb string, svc *corev1.Service) {
	for _, p := range svc.Spec.Ports {
		in.Sim.Cloud.Bind(in.Sim.Cloud.AddListener(lb, string(p.Protocol), int(p.Port), model.ListenerName), int(p.NodePort), in.instances()...)
	}
}

func (in *inherited) instances() []string {
	var out []string
	for _, n := range in.Sim.Cloud.Seed.Nodes {
		out = append(out, n.InstanceID)
	}
	return out
}

// markedTags returns the tags of a load balancer that TKE has created.
func markedTags(uid string) map[string]string {
	return map[string]string{model.TagCreated: "yes", model.TagCluster: "cls-berthdemo", model.TagService: uid}
}

// usedTags returns the tags that TKE adds to a load balancer of a user.
func usedTags(string) map[string]string { return map[string]string{model.TagCluster: "cls-berthdemo"} }

func noNotes(string) map[string]string { return nil }

func namedLB(lb string) map[string]string { return withKey(existed, lb) }

// inheritState adds a load balancer with every form of mark that Berth serves.
func inheritState(t testing.TB) *inherited {
	in := &inherited{podSubject: podSubject{onTencent().Subject(t, withNodes(3))}}
	sim := in.Sim.Cloud
	lb, svc := in.balancer("own", markedTags, noNotes)
	in.listen(lb, svc)

	lb, svc = in.balancer("kept", func(uid string) map[string]string {
		tags := markedTags(uid)
		delete(tags, model.TagCreated)
		return tags
	}, noNotes)
	in.listen(lb, svc)
	in.users = append(in.users, lb)

	lb, svc = in.balancer("existing", usedTags, namedLB)
	in.listen(lb, svc)
	sim.AddListener(lb, "TCP", 9000, "made by hand")
	in.users = append(in.users, lb)
	shared := lb
	spare, beside := in.balancer("beside", usedTags, func(string) map[string]string { return namedLB(shared) })
	sim.DropBalancer(spare)
	beside.Annotations[kube+"loadbalance-id"], beside.Status = lb, *svc.Status.DeepCopy()
	beside.Spec.Ports[0].Port, beside.Spec.Ports[1].Port = 8080, 8443
	in.listen(lb, beside)

	lb, _ = in.balancer("pods", markedTags, func(string) map[string]string { return withKey(direct, "true") })
	for _, port := range []int{80, 443} {
		sim.Bind(sim.AddListener(lb, "TCP", port, model.ListenerName), port, "172.16.0.11", "172.16.0.12", "172.16.0.13")
	}

	lb, svc = in.balancer("web", markedTags, func(string) map[string]string {
		return withKey(protocols, `{"443":{"protocol":["HTTPS"],"hosts":{"a.example.com":{"tls":"one"}}}}`)
	})
	svc.Spec.Ports = svc.Spec.Ports[1:]
	l := sim.AddListener(lb, "HTTPS", 443, model.ListenerName)
	sim.ChangeListener(l, rest.Object{"SniSwitch": 1})
	sim.Bind(sim.AddRule(l, "a.example.com", sim.Seed.Certificates[0]), int(svc.Spec.Ports[0].NodePort), in.instances()...)
	return in
}

// TestTakeOver: no resource with a mark of TKE is written. The load balancers of users stay when the
// Services are deleted, without the listeners of the Services.
func TestTakeOver(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		in := inheritState(t)
		writes, _ := props.TakeOver(t, in, in.served)
		for _, call := range writes {
			t.Errorf("%s %v", call.Operation, call.Request)
		}
		left := in.Sim.Cloud.Balancers()
		slices.Sort(left)
		slices.Sort(in.users)
		if !slices.Equal(left, in.users) {
			t.Errorf("load balancers %v are left, want those of the users, %v", left, in.users)
		}
		if n := in.Sim.Cloud.Forwards(); len(n) > 0 {
			t.Errorf("ports are left: %v", n)
		}
	})
}
