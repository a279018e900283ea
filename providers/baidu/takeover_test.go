package baidu_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// podSubject is a cloud whose Services have three pods.
type podSubject struct{ account.Subject[simulated] }

// podAddresses are those of the pods of every Service.
func podAddresses() []string { return []string{"172.16.0.11", "172.16.0.12", "172.16.0.13"} }

func (s podSubject) Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	return []*discoveryv1.EndpointSlice{account.PodSlice(svc, s.Nodes(), podAddresses()...)}
}

// freshPods starts accounts with pods.
func freshPods(t testing.TB) props.Subject { return podSubject{onBaidu().Subject(t, withNodes(6))} }

// inherited is an account in which Baidu's controllers have served until now. Tags are those of the
// documentation: https://cloud.baidu.com/doc/CCE/s/zlako7b04. Names of parts are not published.
type inherited struct {
	podSubject
	served []*corev1.Service
	kept   []string // ids of load balancers that stay
}

// service adds a Service with two ports, and returns its mark.
func (in *inherited) service(name string) (svc *corev1.Service, mark string) {
	svc = props.Service(name, nil).Service
	svc.Name, svc.UID, svc.Annotations = name, account.UID(len(in.served)), map[string]string{}
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].NodePort = int32(31000 + 10*len(in.served) + i)
	}
	in.served = append(in.served, svc)
	return svc, model.OwnerMark("cce-berthdemo", string(svc.UID))
}

// reached writes the address of a load balancer into the status of its Service.
func (in *inherited) reached(svc *corev1.Service, lb string) {
	o := in.Sim.Cloud.Balancer(lb)
	address := o.Text("publicIp")
	if address == "" {
		address = o.Text("address")
	}
	svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: address}}
}

// existing adds the load balancer of a user with the listeners of the controller of CCE.
func (in *inherited) existing(name, used string) (lb string, svc *corev1.Service) {
	svc, _ = in.service(name)
	lb = in.Sim.Cloud.AddBalancer(model.AppBLB, "by-hand", map[string]string{model.TagUsed: used})
	svc.Annotations[lbKey("id")] = lb
	in.listen(lb, svc)
	in.groupEach(lb, svc)
	in.reached(svc, lb)
	in.kept = append(in.kept, lb)
	return lb, svc
}

// listen adds the listeners of a Service.
func (in *inherited) listen(lb string, svc *corev1.Service) {
	for _, p := range svc.Spec.Ports {
		in.Sim.Cloud.AddListener(lb, string(p.Protocol), int(p.Port))
	}
}

// application adds an application load balancer of the controller of CCE, whose listeners send to groups.
func (in *inherited) application(name string, route func(lb string, svc *corev1.Service)) (lb string, svc *corev1.Service, mark string) {
	svc, mark = in.service(name)
	lb = in.Sim.Cloud.AddBalancer(model.AppBLB, "cce-lb-"+name, map[string]string{model.TagCreated: mark, model.TagUsed: mark})
	svc.Annotations[lbKey("id")] = lb
	in.listen(lb, svc)
	route(lb, svc)
	return lb, svc, mark
}

func lbKey(name string) string { return lb + name }

// oneGroup sends all listeners to one group of nodes.
func (in *inherited) oneGroup(lb string, svc *corev1.Service) {
	group := in.Sim.Cloud.AddGroup(lb, "default", in.instances()...)
	for _, p := range svc.Spec.Ports {
		in.Sim.Cloud.Route(lb, string(p.Protocol), int(p.Port), group, int(p.NodePort))
	}
}

// groupEach sends each listener to a group of its own.
func (in *inherited) groupEach(lb string, svc *corev1.Service) {
	for _, p := range svc.Spec.Ports {
		in.Sim.Cloud.Route(lb, string(p.Protocol), int(p.Port), in.Sim.Cloud.AddGroup(lb, "port-"+p.Name, in.instances()...), int(p.NodePort))
	}
}

// poolEach sends each listener to a group of the addresses of pods.
func (in *inherited) poolEach(lb string, svc *corev1.Service) {
	for _, p := range svc.Spec.Ports {
		in.Sim.Cloud.Route(lb, string(p.Protocol), int(p.Port), in.Sim.Cloud.AddPool(lb, "port-"+p.Name, int(p.Port), podAddresses()...), 0)
	}
}

func (in *inherited) instances() []string {
	var out []string
	for _, n := range in.Sim.Cloud.Seed.Nodes {
		out = append(out, n.InstanceID)
	}
	return out
}

// normal adds a normal load balancer of an open controller, with a public address.
func (in *inherited) normal(name string, nameOf func(*corev1.Service) string, more func(lb string, svc *corev1.Service)) {
	svc, _ := in.service(name)
	lb := in.Sim.Cloud.AddBalancer(model.BLB, nameOf(svc), nil)
	in.Sim.Cloud.AddAddress(lb, nameOf(svc), nil)
	in.Sim.Cloud.AddBackends(lb, in.instances()...)
	for _, p := range svc.Spec.Ports {
		in.Sim.Cloud.AddNormalListener(lb, string(p.Protocol), int(p.Port), int(p.NodePort))
	}
	if more != nil {
		more(lb, svc)
	}
	in.reached(svc, lb)
	in.kept = append(in.kept, lb)
}

// inheritState adds a load balancer with every form of mark that Berth serves.
func inheritState(t testing.TB) *inherited {
	in := &inherited{podSubject: podSubject{onBaidu().Subject(t, withNodes(3))}}
	sim := in.Sim.Cloud
	lb, svc, mark := in.application("own", in.oneGroup)
	sim.AddAddress(lb, "own", map[string]string{model.TagCreated: mark})
	in.reached(svc, lb)

	lb, svc, _ = in.application("groups", in.groupEach)
	sim.AddAddress(lb, "groups", nil)
	in.reached(svc, lb)

	lb, svc, _ = in.application("pods", in.poolEach)
	sim.AddAddress(lb, "pods", nil)
	in.reached(svc, lb)

	lb, svc, _ = in.application("internal", in.oneGroup)
	svc.Annotations[lbKey("internal-vpc")] = "true"
	in.reached(svc, lb)

	lb, svc = in.existing("existing", "cce-berthdemo")
	sim.AddListener(lb, "TCP", 9000)
	beside, _ := in.service("beside")
	beside.Spec.Ports[0].Port, beside.Spec.Ports[1].Port, beside.Status = 8080, 8443, *svc.Status.DeepCopy()
	beside.Annotations[lbKey("id")] = lb
	in.listen(lb, beside)
	in.groupEach(lb, beside)
	in.existing("older", model.OwnerMark("cce-berthdemo", string(account.UID(len(in.served)))))

	in.normal("newest", func(svc *corev1.Service) string { return "CCE/SVC/cce-berthdemo/" + svc.Namespace + "/" + svc.Name }, nil)
	in.normal("newer", func(svc *corev1.Service) string { return "cce-berthdemo/" + svc.Namespace + "/" + svc.Name }, nil)
	in.normal("oldest", func(svc *corev1.Service) string { return ("a" + strings.ReplaceAll(string(svc.UID), "-", ""))[:32] }, nil)
	other := func(*corev1.Service) string { return "shop" }
	for _, key := range []string{"id", "exist-id", "cce-add-id"} {
		in.normal("by-"+key, other, func(lb string, svc *corev1.Service) { svc.Annotations[lbKey(key)] = lb })
	}
	in.normal("by-name", func(*corev1.Service) string { return "till" }, func(_ string, svc *corev1.Service) { svc.Annotations[lbKey("lb-name")] = "till" })
	return in
}

// TestTakeOver: no resource that a controller of Baidu has created is written. A load balancer without the tag
// stays when its Service is deleted, and so does an address without it.
func TestTakeOver(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		in := inheritState(t)
		before := in.Sim.Cloud.Forwards()
		writes, _ := props.TakeOver(t, in, in.served)
		for _, call := range writes {
			t.Errorf("%s %v", call.Operation, call.Request)
		}
		if want := 2 * len(in.served); len(before) != want { // the listener at 9000 has no backend
			t.Errorf("%d ports were forwarded before, want %d", len(before), want)
		}
		left := in.Sim.Cloud.Balancers()
		slices.Sort(left)
		slices.Sort(in.kept)
		if !slices.Equal(left, in.kept) {
			t.Errorf("load balancers %v are left, want %v", left, in.kept)
		}
		if n := in.Sim.Cloud.Forwards(); len(n) > 0 {
			t.Errorf("ports are left: %v", n)
		}
		if n := len(in.Sim.Cloud.Addresses()); n != 9 {
			t.Errorf("%d EIPs are left, want the 9 without a tag", n)
		}
		w := &world{TB: t, Subject: in.Subject}
		if listeners, groups := w.Objects("listeners"), w.Objects("server_groups"); len(listeners) != 1 || len(groups) > 0 {
			t.Errorf("listeners %v and groups %v are left, want the listener at 9000", listeners, groups)
		}
	})
}
