package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// inputDigest returns a short hash of everything that a Service's stack follows from, given the
// digest of its request. Equal digests mean equal stacks.
func inputDigest(asked string, req providers.Request) string {
	if asked == "" {
		return ""
	}
	parts := []string{asked, req.Backends.Digest()}
	for _, ref := range referencedServices(req.Objects) {
		parts = append(parts, ref.Name+"="+req.Objects[ref].Backends().Digest())
	}
	return shortHash(parts...)
}

// askedDigest returns a short hash of the Service's request, without its nodes and pods. It is
// recorded on the Service, and a write to every Service for every new node would be sent to every
// node of the cluster. The UID is part of it, because a copied manifest has the annotations of the
// old Service. Annotations and labels that Berth writes are left out: they follow from the stack.
func askedDigest(cloud providers.Bound, req providers.Request) string {
	svc := req.Service
	body, err := askedBy(svc)
	if err != nil {
		return "" // never equal to a recorded one, so that the Service is reconciled
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

// Asked returns the digest of a Service's request, as a clean run records it on the Service. It
// calls no cloud.
func (r *Reconciler) Asked(job Job) string {
	p := r.parse(job, r.lastSnapshot(OwnerOf(job.Service)))
	return askedDigest(r.cloud, p.Request)
}

// inputLabels returns the keys of labels that decide on Services, without the labels that the
// provider writes itself.
func inputLabels(cloud providers.Bound) []string {
	return slices.DeleteFunc(slices.Clone(cloud.Labels.Service), func(key string) bool { return slices.Contains(cloud.Outputs.Labels, key) })
}

// objectsOf returns the names of objects with hashes of their content.
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

// askedBy returns the fields of a Service that matter to a load balancer.
func askedBy(svc *corev1.Service) (string, error) {
	spec := svc.Spec.DeepCopy()
	clearIrrelevant(spec)
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

// labelsOf returns the labels of these keys.
func labelsOf(what string, keys []string, labels map[string]string) []string {
	var out []string
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			out = append(out, what+" "+key+"="+value)
		}
	}
	return out
}

// clearIrrelevant clears the fields that do not matter to a load balancer.
func clearIrrelevant(spec *corev1.ServiceSpec) {
	spec.Selector = nil
	spec.InternalTrafficPolicy = nil
	spec.PublishNotReadyAddresses = false
	spec.ClusterIP, spec.ClusterIPs = "", nil
	spec.ExternalIPs = nil
}
