package status

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The request that a patch is made for.
//
// It is a strategic merge patch, because of lists that others write too. A JSON
// merge patch replaces a list as a whole: a finalizer or a condition that was
// added since we read the Service would be lost, unless the patch had a
// resourceVersion, and then every foreign change would cause a conflict. A
// strategic one adds and removes single finalizers, and merges conditions by type.
// Server-side apply would also work, but it owns fields by manager name, and the
// stock controller, which we replace, leaves none.
//
// It is sent to the status subresource because that accepts metadata as well, so
// finalizer, annotations and status are one write, and the controller needs only
// the right to patch services/status.
const (
	PatchType   = types.StrategicMergePatchType
	Subresource = "status"
)

// AnnotationApplied holds the digest of the last input that was applied without
// any problem, so that a restart detects unchanged Services.
const AnnotationApplied = Prefix + "applied"

// AnnotationPodGates lists the pod conditions of the load balancer, separated by commas,
// for the webhook that adds them to new pods: pods of the Service, or of the one that
// follows a condition after an equals sign.
const AnnotationPodGates = Prefix + "pod-gates"

// OwnAnnotations are the annotations that the controller itself writes on every cloud.
func OwnAnnotations() []string { return []string{AnnotationApplied, AnnotationPodGates} }

// AnnotationLookAgain makes the controller read the cloud, regardless of its caches,
// each time its value changes; `berth sync` writes it.
const AnnotationLookAgain = Prefix + "look-again"

// AnnotationAllow permits, with the value AllowReplace, a change that a live load balancer cannot
// take in place, where a webhook would refuse it.
const (
	AnnotationAllow = Prefix + "allow"
	AllowReplace    = "replace"
)

// maxMessage is the longest message of a condition. It keeps the status of a Service
// with many problems readable.
const maxMessage = 4096

// Want is the desired metadata and status of a Service after a sync. Other fields
// stay as they are; the zero Want changes nothing.
type Want struct {
	// Now is the time of the sync; conditions that change get it, in seconds.
	Now time.Time
	// LoadBalancer replaces the addresses; nil keeps them, because a failed
	// sync must not remove addresses, and an empty one clears them.
	LoadBalancer *corev1.LoadBalancerStatus
	// Generation is the generation of the Service that the conditions are about; zero
	// if the API server counts none for Services, as Kubernetes 1.37 and older.
	Generation int64
	// Conditions are added or changed, each by its type. Types that are not ours
	// are not written.
	Conditions []Condition
	// DropConditions names types of ours that are removed.
	DropConditions []string
	// AddFinalizers are added. A Service that is being deleted accepts no new ones, so
	// they are left out then.
	AddFinalizers []string
	// DropFinalizers are removed.
	DropFinalizers []string
	// Annotations are set, or removed if the value is empty. Keys without
	// Prefix are not written.
	Annotations map[string]string
	// Outputs are the provider's own annotations, under the prefixes of the official
	// controllers; written like Annotations.
	Outputs map[string]string
	// Labels are the provider's own labels, written like Outputs.
	Labels map[string]string
}

// Released is the Want of a Service without resources in the cloud: it removes
// everything of ours.
func Released(now time.Time, finalizers ...string) Want {
	return Want{
		Now:            now,
		LoadBalancer:   &corev1.LoadBalancerStatus{},
		DropConditions: Types(),
		DropFinalizers: finalizers,
		Annotations:    map[string]string{AnnotationApplied: "", AnnotationPodGates: ""},
	}
}

// With adds the result of a provider.
func (w Want) With(r Result) Want {
	w.LoadBalancer = &corev1.LoadBalancerStatus{Ingress: r.Ingress}
	w.Conditions = append(slices.Clip(w.Conditions), r.Conditions...)
	w.Outputs, w.Labels = r.Annotations, r.Labels
	w.AddFinalizers = append(slices.Clip(w.AddFinalizers), r.Finalizers...)
	return w
}

// Patch compares a Service as last read with the desired one. The result is
// false if nothing differs; else the body of the one request to send, of
// PatchType to Subresource. Same arguments, same bytes. Addresses that the API
// server would refuse are left out: Clean reports them.
//
// The patch names the uid, so that the status is not written to a Service that was
// created again under the same name: the API server refuses it as Invalid, field
// metadata.uid. It also answers Invalid if the Service changed its type or its
// deletion began since it was read. In all three cases, read it again.
func Patch(old *corev1.Service, want Want) ([]byte, bool) {
	meta, status := map[string]any{}, map[string]any{}
	patchFinalizers(meta, old, want)
	patchAnnotations(meta, old, want)
	patchLabels(meta, old, want)
	patchIngress(status, old, want)
	patchConditions(status, old, want)
	body := map[string]any{}
	if len(status) > 0 {
		body["status"] = status
	}
	if len(meta) > 0 {
		body["metadata"] = meta
	}
	if len(body) == 0 {
		return nil, false
	}
	if old.UID != "" {
		meta["uid"] = old.UID
		body["metadata"] = meta
	}
	out, err := json.Marshal(body)
	if err != nil {
		// Maps of strings and API types, whose texts are made valid before,
		// always have a JSON form.
		return nil, false
	}
	return out, true
}

// Addressed reports whether a patch writes the addresses of a Service.
func Addressed(patch []byte) bool {
	var body struct {
		Status struct {
			LoadBalancer json.RawMessage `json:"loadBalancer"`
		} `json:"status"`
	}
	return json.Unmarshal(patch, &body) == nil && body.Status.LoadBalancer != nil
}

func patchFinalizers(meta map[string]any, old *corev1.Service, want Want) {
	var add, drop []string
	for _, f := range want.DropFinalizers {
		if slices.Contains(old.Finalizers, f) {
			drop = append(drop, f)
		}
	}
	for _, f := range want.AddFinalizers {
		if old.DeletionTimestamp == nil && !slices.Contains(old.Finalizers, f) && !slices.Contains(want.DropFinalizers, f) {
			add = append(add, f)
		}
	}
	if len(add) > 0 {
		slices.Sort(add)
		meta["finalizers"] = slices.Compact(add)
	}
	if len(drop) > 0 {
		slices.Sort(drop)
		meta["$deleteFromPrimitiveList/finalizers"] = slices.Compact(drop)
	}
}

func patchAnnotations(meta map[string]any, old *corev1.Service, want Want) {
	changes := map[string]any{}
	noteChanges(changes, old.Annotations, want.Outputs)
	for key, value := range want.Annotations {
		if strings.HasPrefix(key, Prefix) {
			noteChanges(changes, old.Annotations, map[string]string{key: value})
		}
	}
	if len(changes) > 0 {
		meta["annotations"] = changes
	}
}

// patchLabels writes the labels of want. One that the API server would refuse is left out,
// because it would take down the whole patch.
func patchLabels(meta map[string]any, old *corev1.Service, want Want) {
	clean, _ := Result{Labels: want.Labels}.Clean()
	changes := map[string]any{}
	noteChanges(changes, old.Labels, clean.Labels)
	if len(changes) > 0 {
		meta["labels"] = changes
	}
}

// noteChanges adds the changes that turn the present values of keys into the desired ones.
func noteChanges(changes map[string]any, now, want map[string]string) {
	for key, value := range want {
		switch was, exists := now[key]; {
		case value == "" && exists:
			changes[key] = nil
		case value != "" && was != value:
			changes[key] = value
		}
	}
}

// patchIngress replaces the list as a whole, because the API treats it as atomic.
func patchIngress(status map[string]any, old *corev1.Service, want Want) {
	if want.LoadBalancer == nil {
		return
	}
	clean, _ := Result{Ingress: want.LoadBalancer.Ingress}.Clean()
	next := clean.Ingress
	if old.Spec.Type != corev1.ServiceTypeLoadBalancer {
		// The API server accepts addresses for load balancers only, and would
		// refuse the whole patch, including the finalizer.
		next = nil
	}
	if equality.Semantic.DeepEqual(withDefaults(old.Status.LoadBalancer.Ingress), withDefaults(next)) {
		return
	}
	if len(next) == 0 {
		status["loadBalancer"] = map[string]any{"ingress": nil}
		return
	}
	status["loadBalancer"] = map[string]any{"ingress": next}
}

// withDefaults sets the defaults of the API server, so that an entry of a copy that did
// not pass it equals a stored one, and normalizes addresses: IPv6 has several
// spellings. Source: kubernetes/kubernetes:pkg/apis/core/v1/defaults.go.
func withDefaults(list []corev1.LoadBalancerIngress) []corev1.LoadBalancerIngress {
	out := make([]corev1.LoadBalancerIngress, 0, len(list))
	for _, in := range list {
		if in.IP != "" && in.IPMode == nil {
			vip := corev1.LoadBalancerIPModeVIP
			in.IPMode = &vip
		}
		if ip, err := netip.ParseAddr(in.IP); err == nil {
			in.IP = ip.String()
		}
		out = append(out, in)
	}
	return out
}

func patchConditions(status map[string]any, old *corev1.Service, want Want) {
	var changes []any
	for _, t := range Types() {
		was := findCondition(old.Status.Conditions, t)
		next, wanted := lastCondition(want.Conditions, t)
		switch {
		case wanted:
			if change := conditionChange(was, next, want); change != nil {
				changes = append(changes, change)
			}
		case was != nil && slices.Contains(want.DropConditions, t):
			changes = append(changes, map[string]any{"$patch": "delete", "type": t})
		}
	}
	if len(changes) > 0 {
		status["conditions"] = changes
	}
}

// conditionChange returns the entry that turns one condition into the other, nil if
// they are equal. The entry is always complete, so that it does not mix with a
// concurrent write of another client under our type.
func conditionChange(was *metav1.Condition, next Condition, want Want) map[string]any {
	next.Message = shortenText(next.Message, maxMessage)
	since := metav1.NewTime(want.Now) // written in UTC, in seconds
	entry := map[string]any{"type": next.Type, "status": next.Status, "reason": next.Reason, "message": next.Message}
	if want.Generation != 0 {
		entry["observedGeneration"] = want.Generation
	}
	if was != nil {
		// Some controllers have written a null time, which breaks clients: use the
		// present time.
		if was.Status == next.Status && !was.LastTransitionTime.IsZero() {
			since = was.LastTransitionTime
			if was.Reason == string(next.Reason) && was.Message == next.Message && was.ObservedGeneration == want.Generation {
				return nil
			}
		}
		if was.ObservedGeneration != 0 && want.Generation == 0 {
			entry["observedGeneration"] = nil
		}
	}
	entry["lastTransitionTime"] = since
	return entry
}

func findCondition(list []metav1.Condition, t string) *metav1.Condition {
	for i := range list {
		if list[i].Type == t {
			return &list[i]
		}
	}
	return nil
}

// lastCondition returns the condition of a type; of several the last one, so that later
// additions override earlier ones.
func lastCondition(list []Condition, t string) (Condition, bool) {
	for _, c := range slices.Backward(list) {
		if c.Type == t {
			return c, true
		}
	}
	return Condition{}, false
}
