package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	discoveryclient "k8s.io/client-go/kubernetes/typed/discovery/v1"

	"github.com/berth-lb/berth/test/sim/virtual"
)

// client is how one process reaches the API server: without a connection and without
// JSON, which the loop under test does not see. It has what the loop asks for; anything
// else panics.
type client struct {
	kubernetes.Interface
	w *world
	p *process
}

// CoreV1 implements kubernetes.Interface.
func (c client) CoreV1() corev1client.CoreV1Interface { return core{client: c} }

// DiscoveryV1 implements kubernetes.Interface.
func (c client) DiscoveryV1() discoveryclient.DiscoveryV1Interface { return discovery{client: c} }

type core struct {
	corev1client.CoreV1Interface
	client client
}

// Services implements CoreV1Interface.
func (c core) Services(ns string) corev1client.ServiceInterface {
	return services{client: c.client, namespace: ns}
}

// Nodes implements CoreV1Interface.
func (c core) Nodes() corev1client.NodeInterface { return nodes{client: c.client} }

type services struct {
	corev1client.ServiceInterface
	client    client
	namespace string
}

// List implements ServiceInterface.
func (s services) List(context.Context, metav1.ListOptions) (*corev1.ServiceList, error) {
	return s.client.w.kube.listServices(), s.client.lives()
}

// Watch implements ServiceInterface.
func (s services) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return s.client.watch(ctx, "services", o.ResourceVersion)
}

// Patch implements ServiceInterface. It waits at the gate.
func (s services) Patch(ctx context.Context, name string, _ types.PatchType, body []byte, _ metav1.PatchOptions, _ ...string) (*corev1.Service, error) {
	if err := s.client.lives(); err != nil {
		return nil, err
	}
	w, p, key := s.client.w, s.client.p, s.namespace+"/"+name
	w.forbid(p, "patch "+key)
	at := w.gate.enter(Point{Process: p.id, Party: Kube, What: "patch " + key, Write: true})
	select {
	case d := <-at.answer:
		defer p.standStill()
		return w.patch(p, d, key, body)
	case <-ctx.Done():
		go func() { _, _ = w.patch(p, <-at.answer, key, body) }() // the client has disconnected
		return nil, ctx.Err()
	}
}

// patch changes a Service for a process in the way that the schedule has.
func (w *world) patch(p *process, as Deviation, key string, body []byte) (*corev1.Service, error) {
	d := p.effect(as)
	switch d.Kind {
	case Lost:
		return nil, virtual.CutError()
	case Refuse:
		return nil, apierrors.NewInternalError(fmt.Errorf("etcdserver: request timed out"))
	default: // it is done
	}
	if w.patched != nil {
		body = w.patched(body)
	}
	w.count(key)
	was := w.kube.versionOf(key)
	now, err := w.kube.patch(key, body)
	if w.answered != nil && err == nil {
		w.answered(now, was)
	}
	if err == nil && p.over() {
		w.noteLate(now)
	}
	if d.Kind == Unanswered {
		return nil, virtual.CutError()
	}
	return now, err
}

// noteLate notes the version of a Service that a process has written after its end.
func (w *world) noteLate(svc *corev1.Service) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late[string(svc.UID)] = svc.ResourceVersion
}

// wroteLate reports whether the current state of a Service was written by a process that had
// ended by then.
func (w *world) wroteLate(svc *corev1.Service) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.late[string(svc.UID)] == svc.ResourceVersion
}

// mostPatches bounds the writes of processes to one Service within a minute, under all
// deviations: a life takes about ten writes, and five processes may run a part of one each.
const mostPatches = 60

// count counts a patch of a Service.
func (w *world) count(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	recent := slices.DeleteFunc(w.patches[key], func(at time.Time) bool { return now.Sub(at) > time.Minute })
	if w.patches[key] = append(recent, now); len(w.patches[key]) > mostPatches {
		w.hurried = key
	}
}

type nodes struct {
	corev1client.NodeInterface
	client client
}

// List implements NodeInterface.
func (n nodes) List(context.Context, metav1.ListOptions) (*corev1.NodeList, error) {
	return n.client.w.kube.listNodes(), n.client.lives()
}

// Watch implements NodeInterface.
func (n nodes) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return n.client.watch(ctx, "nodes", o.ResourceVersion)
}

type discovery struct {
	discoveryclient.DiscoveryV1Interface
	client client
}

// EndpointSlices implements DiscoveryV1Interface.
func (d discovery) EndpointSlices(string) discoveryclient.EndpointSliceInterface {
	return slicesOf{client: d.client}
}

// slicesOf is a cluster without EndpointSlices.
type slicesOf struct {
	discoveryclient.EndpointSliceInterface
	client client
}

// List implements EndpointSliceInterface.
func (s slicesOf) List(context.Context, metav1.ListOptions) (*discoveryv1.EndpointSliceList, error) {
	return &discoveryv1.EndpointSliceList{ListMeta: s.client.w.kube.meta()}, s.client.lives()
}

// Watch implements EndpointSliceInterface.
func (s slicesOf) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return s.client.watch(ctx, "endpointslices", o.ResourceVersion)
}

// lives returns an error for a process that has ended: it must send no new requests.
func (c client) lives() error {
	if c.p.over() {
		return virtual.CutError()
	}
	return nil
}

// watch begins a watch.
func (c client) watch(ctx context.Context, resource, version string) (watch.Interface, error) {
	if err := c.lives(); err != nil {
		return nil, err
	}
	s, ok := c.w.kube.watch(resource, version)
	if !ok {
		return nil, apierrors.NewResourceExpired("too old resource version")
	}
	go c.w.show(ctx, s, c.p)
	return s, nil
}

// show shows changes one by one, each when the schedule lets it.
func (w *world) show(ctx context.Context, s *stream, p *process) {
	defer close(s.shown)
	defer w.kube.unwatch(s)
	for {
		what, ok := s.peek()
		if !ok {
			select {
			case <-s.woken:
				continue
			case <-s.stopped:
				return
			case <-ctx.Done():
				return
			}
		}
		d := p.effect(w.gate.pass(Point{Process: p.id, Party: Watch, What: what}))
		if d.Kind == Lost || d.Kind == Unanswered || d.Kind == Miss || ctx.Err() != nil {
			return
		}
		c, _ := s.first(d.Kind == Merge)
		select {
		case s.shown <- watch.Event{Type: c.kind, Object: c.object.DeepCopyObject()}:
		case <-s.stopped:
			return
		case <-ctx.Done():
			return
		}
	}
}
