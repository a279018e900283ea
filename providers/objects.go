package providers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/nodeports"
)

// ObjectKind is a kind of Kubernetes objects that Services can refer to: one of the core, or one of
// another API as KindOf writes it.
type ObjectKind string

// KindOf returns the kind of objects of an API, by the name of its resource in the plural.
func KindOf(group, version, resource string) ObjectKind {
	return ObjectKind(resource + "." + version + "." + group)
}

// API returns the API of a kind; false: it is one of the core.
func (k ObjectKind) API() (group, version, resource string, custom bool) {
	resource, rest, _ := strings.Cut(string(k), ".")
	version, group, custom = strings.Cut(rest, ".")
	return group, version, resource, custom
}

// String returns the kind without a version, for messages.
func (k ObjectKind) String() string {
	if group, _, resource, custom := k.API(); custom {
		return resource + "." + group
	}
	return string(k)
}

// The kinds of objects of the core that can be referred to.
const (
	Secret    ObjectKind = "Secret"
	ConfigMap ObjectKind = "ConfigMap"
	Service   ObjectKind = "Service"
	// Endpoints are the EndpointSlices of a name, whether a Service has it or not, or the Endpoints of the
	// name if there are none.
	Endpoints ObjectKind = "Endpoints"
)

// Reference names an object of Kubernetes that a Service refers to.
type Reference struct {
	Kind            ObjectKind
	Namespace, Name string
}

// String returns kind, namespace and name, for messages.
func (r Reference) String() string { return r.Kind.String() + " " + r.Namespace + "/" + r.Name }

// Object is an object that a Service refers to, as far as it is known. Its contents are
// never shown: String only reports that there are some.
type Object struct {
	Data map[string][]byte // of a Secret or ConfigMap; nil: unknown
	// Service is one that another Service refers to, with its EndpointSlices if the cloud
	// needs endpoints; nil: unknown.
	Service *corev1.Service
	Slices  []*discoveryv1.EndpointSlice // of a Service, or of Endpoints; nil: unknown
	// Spec is that of an object of another API; nil: unknown.
	Spec map[string]any
	// Why explains to the user why the object is unknown; empty if it is known.
	Why string
}

// String returns no contents.
func (o Object) String() string {
	if o.Data == nil && o.Service == nil && o.Spec == nil && o.Slices == nil {
		return "(" + o.Why + ")"
	}
	return "(contents)"
}

// GoString returns no contents.
func (o Object) GoString() string { return o.String() }

// MarshalText returns no contents.
func (o Object) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Backends returns the backends of a Service or of Endpoints, without the nodes; empty if they are unknown. The ports of
// Endpoints are their own.
func (o Object) Backends() nodeports.Backends {
	if o.Service == nil {
		return nodeports.BackendsIn(o.Slices)
	}
	return nodeports.BackendsOf(o.Service, nodeports.NodeSet{}, o.Slices, nodeports.FallbackOf(o.Service))
}

// Digest returns a hash of the contents in hex digits: equal digests, equal contents. An
// unknown object has the digest of its reason. The spec of a Service and its backends are
// no part of it.
func (o Object) Digest() string {
	h := sha256.New()
	add := func(b []byte) {
		sum := sha256.Sum256(b)
		_, _ = h.Write(sum[:]) // never fails
	}
	add([]byte(o.Why))
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		add([]byte(key))
		add(o.Data[key])
	}
	if o.Spec != nil {
		text, _ := json.Marshal(o.Spec) // was decoded from JSON
		add(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
