package explore

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
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
	// gone tells of Services that went, with what they were last.
	gone func(*corev1.Service)
}

func newKube(gone func(*corev1.Service)) *kube {
	return &kube{version: 100, services: map[string]*corev1.Service{}, nodes: map[string]*corev1.Node{}, streams: map[*stream]bool{}, gone: gone}
}

// change is one entry of a watch.
type change struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
	key    string
}

// stream is one watch under way.
type stream struct {
	resource string
	mu       sync.Mutex
	queue    []change
	woken    chan struct{}
}

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
	if !merged || c.Type == "ADDED" {
		return c, true
	}
	for i := len(s.queue) - 1; i >= 0; i-- {
		if later := s.queue[i]; later.key == c.key && later.Type == "MODIFIED" {
			s.queue = slices.DeleteFunc(s.queue, func(q change) bool { return q.key == c.key && q.Type == "MODIFIED" })
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
	return s.queue[0].Type + " " + s.queue[0].key, true
}

// put stores a Service as it is now and tells the watches. What is on its way out and
// has no finalizer any more goes. The lock is held.
func (k *kube) put(svc *corev1.Service) {
	key := svc.Namespace + "/" + svc.Name
	_, was := k.services[key]
	k.version++
	svc.ResourceVersion = strconv.Itoa(k.version)
	kind := "ADDED"
	switch {
	case svc.DeletionTimestamp != nil && len(svc.Finalizers) == 0:
		kind = "DELETED"
		delete(k.services, key)
	case was:
		kind = "MODIFIED"
		fallthrough
	default:
		k.services[key] = svc
	}
	k.tell("services", kind, key, svc)
	if kind == "DELETED" && k.gone != nil {
		k.gone(svc)
	}
}

func (k *kube) putNode(n *corev1.Node, kind string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.version++
	n.ResourceVersion = strconv.Itoa(k.version)
	if kind == "DELETED" {
		delete(k.nodes, n.Name)
	} else {
		k.nodes[n.Name] = n
	}
	k.tell("nodes", kind, n.Name, n)
}

func (k *kube) tell(resource, kind, key string, obj any) {
	body, err := json.Marshal(obj)
	if err != nil {
		return // objects of the API are made of JSON
	}
	for s := range k.streams {
		if s.resource == resource {
			s.add(change{Type: kind, Object: body, key: key})
		}
	}
}

// change makes a user's change of a Service; one that is not there is made first.
func (k *kube) change(namespace, name string, with func(*corev1.Service) *corev1.Service) {
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

// list answers a list of everything.
func (k *kube) list(resource string) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	meta := metav1.ListMeta{ResourceVersion: strconv.Itoa(k.version)}
	switch resource {
	case "services":
		out := corev1.ServiceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceList"}, ListMeta: meta}
		for _, s := range k.services {
			out.Items = append(out.Items, *s)
		}
		slices.SortFunc(out.Items, func(a, b corev1.Service) int { return strings.Compare(a.Name, b.Name) })
		return out
	case "nodes":
		out := corev1.NodeList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}, ListMeta: meta}
		for _, n := range k.nodes {
			out.Items = append(out.Items, *n)
		}
		slices.SortFunc(out.Items, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
		return out
	}
	return map[string]any{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSliceList", "metadata": meta, "items": []any{}}
}

// watch registers a watch from a version on; false if that is not the newest, so that
// whoever asks lists anew.
func (k *kube) watch(resource, version string) (*stream, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if version != strconv.Itoa(k.version) {
		return nil, false
	}
	s := &stream{resource: resource, woken: make(chan struct{}, 1)}
	k.streams[s] = true
	return s, true
}

func (k *kube) unwatch(s *stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.streams, s)
}

// patch changes a Service by a strategic merge patch. The status is the code of the
// answer.
func (k *kube) patch(key string, body []byte) (code int, answer any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was, ok := k.services[key]
	if !ok {
		return http.StatusNotFound, refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "no such Service")
	}
	var head struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
			UID             string `json:"uid"`
		} `json:"metadata"`
	}
	before, err := json.Marshal(was)
	if err == nil {
		err = json.Unmarshal(body, &head)
	}
	if err != nil {
		return http.StatusBadRequest, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	}
	if v := head.Metadata.ResourceVersion; v != "" && v != was.ResourceVersion {
		return http.StatusConflict, refusal(http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified")
	}
	if u := head.Metadata.UID; u != "" && u != string(was.UID) {
		return http.StatusConflict, refusal(http.StatusConflict, metav1.StatusReasonConflict, "the UID is another one")
	}
	merged, err := strategicpatch.StrategicMergePatch(before, body, corev1.Service{})
	now := &corev1.Service{}
	if err == nil {
		err = json.Unmarshal(merged, now)
	}
	if err != nil {
		return http.StatusBadRequest, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	}
	k.put(now)
	return http.StatusOK, now
}

func refusal(code int32, reason metav1.StatusReason, text string) metav1.Status {
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason, Message: text}
}

// kubeRequest is what a request to the API server asks for.
type kubeRequest struct {
	resource, key, version string
	watch                  bool
	body                   []byte
}

func readKube(r *http.Request) (kubeRequest, error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	out := kubeRequest{resource: parts[len(parts)-1], watch: r.URL.Query().Get("watch") != "", version: r.URL.Query().Get("resourceVersion")}
	if at := slices.Index(parts, "namespaces"); at >= 0 && len(parts) > at+3 {
		out.resource, out.key = parts[at+2], parts[at+1]+"/"+parts[at+3]
	}
	body, err := io.ReadAll(r.Body)
	out.body = body
	return out, err
}

// answer writes an object. A client that has gone away does not hear it.
func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
