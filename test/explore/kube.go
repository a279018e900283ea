package explore

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/watch"
)

// kube is as much of an API server as the loop asks for: lists and watches of Services
// and Nodes, and patches of Services. It gives versions, refuses patches of an older
// one, and keeps what has finalizers.
type kube struct {
	mu       sync.Mutex
	version  int
	services map[string]*corev1.Service
	nodes    map[string]*corev1.Node
	streams  map[*stream]bool
	// gone receives each deleted Service in its last state.
	gone func(*corev1.Service)
	// stirs has every patch change a label, too; see TestKnownFaults.
	stirs bool
}

func newKube(gone func(*corev1.Service)) *kube {
	return &kube{version: 100, services: map[string]*corev1.Service{}, nodes: map[string]*corev1.Node{}, streams: map[*stream]bool{}, gone: gone}
}

// change is one entry of a watch.
type change struct {
	kind   watch.EventType
	object runtime.Object
	key    string
}

// stream is one watch under way. It implements watch.Interface.
type stream struct {
	resource string
	mu       sync.Mutex
	queue    []change
	woken    chan struct{}
	shown    chan watch.Event
	stopped  chan struct{}
	stop     sync.Once
}

// Stop implements watch.Interface.
func (s *stream) Stop() { s.stop.Do(func() { close(s.stopped) }) }

// ResultChan implements watch.Interface.
func (s *stream) ResultChan() <-chan watch.Event { return s.shown }

func (s *stream) add(c change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, c)
	s.wake()
}

func (s *stream) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// first is the next change; merged leaves out what a later one of the same object in
// the queue makes old.
func (s *stream) first(merged bool) (change, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return change{}, false
	}
	c := s.queue[0]
	s.queue = s.queue[1:]
	if !merged || c.kind == watch.Added {
		return c, true
	}
	for i := len(s.queue) - 1; i >= 0; i-- {
		if later := s.queue[i]; later.key == c.key && later.kind == watch.Modified {
			s.queue = slices.DeleteFunc(s.queue, func(q change) bool { return q.key == c.key && q.kind == watch.Modified })
			return later, true
		}
	}
	return c, true
}

func (s *stream) peek() (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return "", false
	}
	return string(s.queue[0].kind) + " " + s.queue[0].key, true
}

// put stores a Service in its current state and notifies the watches. A Service that is being
// deleted and has no finalizer left is removed. The lock is held.
func (k *kube) put(svc *corev1.Service) {
	key := svc.Namespace + "/" + svc.Name
	_, was := k.services[key]
	k.version++
	svc.ResourceVersion = strconv.Itoa(k.version)
	kind := watch.Added
	switch {
	case svc.DeletionTimestamp != nil && len(svc.Finalizers) == 0:
		kind = watch.Deleted
		delete(k.services, key)
	case was:
		kind = watch.Modified
		fallthrough
	default:
		k.services[key] = svc
	}
	k.tell("services", kind, key, svc)
	if kind == watch.Deleted && k.gone != nil {
		k.gone(svc)
	}
}

func (k *kube) putNode(n *corev1.Node, kind watch.EventType) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.version++
	n.ResourceVersion = strconv.Itoa(k.version)
	if kind == watch.Deleted {
		delete(k.nodes, n.Name)
	} else {
		k.nodes[n.Name] = n
	}
	k.tell("nodes", kind, n.Name, n)
}

// tell adds a change to the watches. The object is not changed any more.
func (k *kube) tell(resource string, kind watch.EventType, key string, obj runtime.Object) {
	for s := range k.streams {
		if s.resource == resource {
			s.add(change{kind: kind, object: obj, key: key})
		}
	}
}

// change applies a user's change to a Service; one that does not exist is created first.
func (k *kube) change(name string, with func(*corev1.Service) *corev1.Service) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var now *corev1.Service
	if was, ok := k.services[namespace+"/"+name]; ok {
		now = was.DeepCopy()
	}
	if next := with(now); next != nil {
		k.put(next)
	}
}

func (k *kube) all() []*corev1.Service {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*corev1.Service
	for _, s := range k.services {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *corev1.Service) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// listMeta says of which version a list is. The lock is held.
func (k *kube) listMeta() metav1.ListMeta {
	return metav1.ListMeta{ResourceVersion: strconv.Itoa(k.version)}
}

func (k *kube) meta() metav1.ListMeta {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.listMeta()
}

func (k *kube) listServices() *corev1.ServiceList {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := &corev1.ServiceList{ListMeta: k.listMeta()}
	for _, key := range slices.Sorted(maps.Keys(k.services)) {
		out.Items = append(out.Items, *k.services[key].DeepCopy())
	}
	return out
}

func (k *kube) listNodes() *corev1.NodeList {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := &corev1.NodeList{ListMeta: k.listMeta()}
	for _, name := range slices.Sorted(maps.Keys(k.nodes)) {
		out.Items = append(out.Items, *k.nodes[name].DeepCopy())
	}
	return out
}

// watch registers a watch from a version on; false if that is not the newest, so that the
// caller lists again.
func (k *kube) watch(resource, version string) (*stream, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if version != strconv.Itoa(k.version) {
		return nil, false
	}
	s := &stream{resource: resource, woken: make(chan struct{}, 1), shown: make(chan watch.Event), stopped: make(chan struct{})}
	k.streams[s] = true
	return s, true
}

// follow registers a watch from now on.
func (k *kube) follow(resource string) *stream {
	s, _ := k.watch(resource, k.meta().ResourceVersion) // nothing changes between the two
	return s
}

func (k *kube) unwatch(s *stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.streams, s)
}

// patch changes a Service by a strategic merge patch and returns it as it is then.
func (k *kube) patch(key string, body []byte) (*corev1.Service, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kind := schema.GroupResource{Resource: "services"}
	was, ok := k.services[key]
	if !ok {
		return nil, apierrors.NewNotFound(kind, key)
	}
	var head struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
			UID             string `json:"uid"`
		} `json:"metadata"`
	}
	// Objects are merged as trees, as the API server does it, and not as texts.
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(was)
	change := map[string]any{}
	if err == nil {
		err = errors.Join(json.Unmarshal(body, &head), utiljson.Unmarshal(body, &change))
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if v := head.Metadata.ResourceVersion; v != "" && v != was.ResourceVersion {
		return nil, apierrors.NewConflict(kind, key, errors.New("the object has been modified"))
	}
	if u := head.Metadata.UID; u != "" && u != string(was.UID) {
		return nil, apierrors.NewConflict(kind, key, errors.New("the UID is another one"))
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(before, change, corev1.Service{})
	now := &corev1.Service{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(merged, now)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if equality.Semantic.DeepEqual(was, now) {
		return now, nil // no new version, and no watch is notified
	}
	if k.stirs {
		metav1.SetMetaDataLabel(&now.ObjectMeta, "stirred", strconv.Itoa(k.version))
	}
	k.put(now)
	return now.DeepCopy(), nil
}

// versionOf returns the version of a Service; empty if it does not exist.
func (k *kube) versionOf(key string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if svc, ok := k.services[key]; ok {
		return svc.ResourceVersion
	}
	return ""
}
