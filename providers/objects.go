package providers

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// ObjectKind is a kind of objects of Kubernetes that Services may refer to.
type ObjectKind string

// The kinds of objects that can be referred to.
const (
	Secret    ObjectKind = "Secret"
	ConfigMap ObjectKind = "ConfigMap"
)

// Reference names an object of Kubernetes that a Service refers to.
type Reference struct {
	Kind            ObjectKind
	Namespace, Name string
}

// String returns kind, namespace and name, for messages.
func (r Reference) String() string { return string(r.Kind) + " " + r.Namespace + "/" + r.Name }

// Object is what is known of an object that a Service refers to. Its contents are never
// shown: String says that there are some.
type Object struct {
	Data map[string][]byte // nil: it is not known
	// Why says, for the user, why the object is not known; empty where it is.
	Why string
}

// String returns no contents.
func (o Object) String() string {
	if o.Data == nil {
		return "(" + o.Why + ")"
	}
	return "(contents)"
}

// GoString returns no contents.
func (o Object) GoString() string { return o.String() }

// MarshalText returns no contents.
func (o Object) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Digest returns a hash of the contents in hex digits: equal digests, equal contents. An
// object that is not known has that of its reason.
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
	return hex.EncodeToString(h.Sum(nil))
}
