package reconcile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// inputDigest returns a short hash of everything that a Service's stack follows
// from, given that of what the Service asks for: equal digests, equal stacks,
// nothing to do.
func inputDigest(asked string, req providers.Request) string {
	if asked == "" {
		return ""
	}
	parts := []string{asked, req.Backends.Digest()}
	for _, ref := range others(req.Objects) {
		parts = append(parts, ref.Name+"="+req.Objects[ref].Backends().Digest())
	}
	return shortHash(parts...)
}

// others are the Services among objects, in order.
func others(objects map[providers.Reference]providers.Object) []providers.Reference {
	var out []providers.Reference
	for ref, object := range objects {
		if object.Service != nil {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, func(a, b providers.Reference) int { return cmp.Compare(a.String(), b.String()) })
	return out
}

// askedDigest returns a short hash of what the Service itself asks for, without the
// nodes and pods behind it: it is recorded on the Service, and a write to every
// Service for every node that comes would reach every node of the cluster. The UID is
// part of it, because a copied manifest carries the old Service's annotations along.
// What we write on the Service ourselves is none: it follows from the stack.
func askedDigest(cloud providers.Bound, req providers.Request) string {
	svc := req.Service
	body, err := askedBy(svc)
	if err != nil {
		return "" // never equal to a recorded one: the Service is worked on
	}
	source := annotations.SourceOf(svc)
	source.Annotations = maps.Clone(source.Annotations)
	for _, key := range cloud.Outputs.Annotations {
		delete(source.Annotations, key)
	}
	source.Labels = maps.Clone(source.Labels)
	for _, key := range cloud.Outputs.Labels {
		delete(source.Labels, key)
	}
	parts := []string{string(svc.UID), req.Kind, cloud.Annotations.Digest(source), string(body)}
	parts = append(parts, labelsOf("service", inputLabels(cloud), svc.Labels)...)
	parts = append(parts, labelsOf("namespace", cloud.Labels.Namespace, req.NamespaceLabels)...)
	parts = append(parts, objectsOf(req.Objects)...)
	return shortHash(parts...)
}

// Asked returns the digest of what a Service asks for, as a clean run records it on the
// Service. It calls no cloud.
func (r *Reconciler) Asked(job Job) string {
	d := &Draft{Job: job, Owner: OwnerOf(job.Service), ended: func() error { return nil }}
	r.parse(d)
	return askedDigest(r.cloud, d.Request)
}

// inputLabels returns the keys of labels that decide on Services, without the labels that the
// provider writes itself.
func inputLabels(cloud providers.Bound) []string {
	return slices.DeleteFunc(slices.Clone(cloud.Labels.Service), func(key string) bool { return slices.Contains(cloud.Outputs.Labels, key) })
}

// objectsOf are the objects with hashes of what is in them.
func objectsOf(objects map[providers.Reference]providers.Object) []string {
	var out []string
	for ref, object := range objects {
		text := ref.String() + "=" + object.Digest()
		if object.Service != nil {
			body, _ := askedBy(object.Service) // a spec that was read can be written
			text += string(object.Service.UID) + body
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// askedBy is what the fields of a Service ask for.
func askedBy(svc *corev1.Service) (string, error) {
	spec := svc.Spec.DeepCopy()
	forget(spec)
	body, err := json.Marshal(spec)
	return string(body), err
}

// shortHash returns 64 bits of a hash in hex digits.
func shortHash(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = h.Write([]byte(part + "\x00")) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// labelsOf are those of the keys that are there.
func labelsOf(what string, keys []string, labels map[string]string) []string {
	var out []string
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			out = append(out, what+" "+key+"="+value)
		}
	}
	return out
}

// forget clears the fields that mean nothing to a load balancer.
func forget(spec *corev1.ServiceSpec) {
	spec.Selector = nil
	spec.InternalTrafficPolicy = nil
	spec.PublishNotReadyAddresses = false
	spec.ClusterIP, spec.ClusterIPs = "", nil
	spec.ExternalIPs = nil
}
