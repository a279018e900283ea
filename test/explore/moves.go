package explore

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

const namespace = "shop"

// Shape makes what a case asks for out of a plain Service.
type Shape func(*corev1.Service)

// newService returns a Service with two ports, as the API server completes it. Each name has
// node ports of its own.
func newService(name string, shape Shape) *corev1.Service {
	base := int32(30000)
	for _, c := range name {
		base += c % 50 * 7
	}
	svc := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{}, CreationTimestamp: metav1.Now().Rfc3339Copy()},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster, SessionAffinity: corev1.ServiceAffinityNone,
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, ClusterIP: "10.96.0.9",
			Ports: []corev1.ServicePort{
				{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: base},
				{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, NodePort: base + 1},
			},
		},
	}
	if shape != nil {
		shape(svc)
	}
	return svc
}

// Create makes a Service.
func Create(name string, shape Shape) Move {
	return Move{Name: "create " + name, Creates: name, shape: shape, Do: func(w *world) {
		w.kube.change(name, func(now *corev1.Service) *corev1.Service {
			if now != nil {
				return nil // one of that name is still on its way out, as the API server has it
			}
			svc := newService(name, shape)
			w.mu.Lock()
			w.made++
			svc.UID = types.UID(fmt.Sprintf("%08d-1f6e-4000-8000-00000000000a", w.made))
			w.mu.Unlock()
			return svc
		})
	}}
}

// Change changes an existing Service that is not being deleted.
func Change(name, what string, with Shape) Move {
	return Move{Name: what + " of " + name, Do: func(w *world) {
		w.kube.change(name, func(now *corev1.Service) *corev1.Service {
			if now == nil || now.DeletionTimestamp != nil {
				return nil
			}
			with(now)
			return now
		})
	}}
}

// Delete deletes a Service as a user does.
func Delete(name string) Move {
	return Move{Name: "delete " + name, Do: func(w *world) {
		w.kube.change(name, func(now *corev1.Service) *corev1.Service {
			if now == nil || now.DeletionTimestamp != nil {
				return nil
			}
			at := metav1.NewTime(time.Now())
			now.DeletionTimestamp = &at
			return now
		})
	}}
}

// RestartProcess ends the process, and starts another one.
func RestartProcess() Move { return Move{Name: "restart", Restart: true} }

// Settled has all come to rest, and be judged, before a move.
func Settled(m Move) Move {
	m.Settled = true
	return m
}

// NodeLeaves takes the last node away.
func NodeLeaves() Move {
	return Move{Name: "a node leaves", Do: func(w *world) {
		w.kube.mu.Lock()
		var names []string
		for name := range w.kube.nodes {
			names = append(names, name)
		}
		slices.Sort(names)
		last := w.kube.nodes[names[len(names)-1]]
		w.kube.mu.Unlock()
		w.kube.putNode(last.DeepCopy(), watch.Deleted)
	}}
}

// MorePorts adds a port, and moves a node port.
func MorePorts(svc *corev1.Service) {
	svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "admin", Protocol: svc.Spec.Ports[0].Protocol, Port: 8443, NodePort: svc.Spec.Ports[0].NodePort + 300})
}

// FewerPorts takes the second port away.
func FewerPorts(svc *corev1.Service) {
	svc.Spec.Ports = slices.Delete(slices.Clone(svc.Spec.Ports), 1, 2)
}

// Labelled is an edit of a label that has no meaning to Berth.
func Labelled(svc *corev1.Service) {
	if svc.Labels == nil {
		svc.Labels = map[string]string{}
	}
	svc.Labels["team"] = fmt.Sprint("shop", len(svc.Labels))
}

// ClusterIP changes the type to ClusterIP. The API server clears the dependent fields.
func ClusterIP(svc *corev1.Service) {
	svc.Spec.Type = corev1.ServiceTypeClusterIP
	svc.Spec.LoadBalancerClass, svc.Spec.ExternalTrafficPolicy = nil, ""
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].NodePort = 0
	}
}

// Again is a load balancer again.
func Again(shape Shape) Shape {
	return func(svc *corev1.Service) {
		fresh := newService(svc.Name, shape)
		fresh.ObjectMeta = *svc.ObjectMeta.DeepCopy()
		fresh.Status = svc.Status
		*svc = *fresh
	}
}

// Tale is a sequence of moves.
type Tale struct {
	Name  string
	Moves []Move
}

// Tales are what happens to Services of a shape, and of another one beside it.
func Tales(shape, other Shape) []Tale {
	return []Tale{
		{"one life", []Move{Create("web", shape), Change("web", "more ports", MorePorts), NodeLeaves(), Change("web", "a label", Labelled), Settled(Delete("web"))}},
		{"two at once", []Move{Create("web", shape), Create("api", other), Change("web", "fewer ports", FewerPorts), Settled(Delete("web")), Settled(Delete("api"))}},
		{"renamed", []Move{Create("web", shape), Delete("web"), Create("web-2", shape), Settled(Delete("web-2"))}},
		{"to and fro", []Move{Create("web", shape), Change("web", "type ClusterIP", ClusterIP), Change("web", "type LoadBalancer", Again(shape)), Settled(Delete("web"))}},
		{"another kind", []Move{Create("web", shape), Change("web", "another shape", func(svc *corev1.Service) {
			svc.Annotations["example.com/shape"] = "another"
			other(svc)
		}), Settled(Delete("web"))}},
		appliedAgain(shape),
	}
}

// appliedAgain is a Service whose finalizers a user removes, and that is applied again under
// its name: while it is served, and while its load balancer is being deleted.
func appliedAgain(shape Shape) Tale {
	during := Reapply("web", shape)
	during.Later = 20 * time.Millisecond
	return Tale{"applied again", []Move{
		Create("web", shape), Settled(Reapply("web", shape)), Settled(Delete("web")), during, Settled(Delete("web")),
	}}
}
