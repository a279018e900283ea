package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Other is the party of controllers that are not Berth's and write to Services.
const Other Party = "other"

// othersAddress is the address that controllers which are not Berth's write.
const othersAddress = "192.0.2.7"

// leftTo is the annotation by which a Service asks for another controller, where the
// cloud of a tale knows it.
const leftTo = "example.com/controller"

// Contested has another controller write its own address into the status of a Service
// whenever it sees Berth's there, for some time.
func Contested(name string, during time.Duration) Move {
	return Move{Name: fmt.Sprintf("another controller writes its address into the status of %s for %v", name, during), Do: func(w *world) {
		w.contest(namespace+"/"+name, during)
	}}
}

// contest is the other controller. It waits at the gate, as all writers do.
func (w *world) contest(key string, during time.Duration) {
	changes := w.kube.follow("services")
	ctx, end := context.WithTimeout(context.Background(), during)
	w.mu.Lock()
	w.enders = append(w.enders, end)
	w.mu.Unlock()
	w.running.Go(func() {
		defer end()
		defer w.kube.unwatch(changes)
		for {
			if w.kube.reachedThroughBerth(key) {
				w.gate.pass(Point{Party: Other, What: "write the address of " + key, Write: true})
				if ctx.Err() == nil {
					w.writeAddress(key)
				}
			}
			select {
			case <-changes.woken:
			case <-ctx.Done():
				return
			}
		}
	})
}

// reachedThroughBerth reports whether a Service has an address which is not the other
// controller's.
func (k *kube) reachedThroughBerth(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	svc, ok := k.services[key]
	return ok && svc.Spec.Type == corev1.ServiceTypeLoadBalancer && svc.DeletionTimestamp == nil &&
		addressOf(svc) != "" && !reachedElsewhere(svc)
}

// reachedElsewhere reports whether a Service has the other controller's address.
func reachedElsewhere(svc *corev1.Service) bool {
	return slices.ContainsFunc(svc.Status.LoadBalancer.Ingress, func(in corev1.LoadBalancerIngress) bool { return in.IP == othersAddress })
}

// writeAddress puts the other controller's address in the place of any other.
func (w *world) writeAddress(key string) {
	_, name, _ := strings.Cut(key, "/")
	w.kube.change(name, func(now *corev1.Service) *corev1.Service {
		if now == nil || now.DeletionTimestamp != nil || now.Spec.Type != corev1.ServiceTypeLoadBalancer {
			return nil
		}
		now.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: othersAddress}}
		if w.unlikeStatus {
			metav1.SetMetaDataLabel(&now.ObjectMeta, "seen", now.ResourceVersion)
		}
		return now
	})
}

// acquainted is after what time a process has seen all Services.
const acquainted = 2 * time.Minute

// Strip removes the finalizers of a Service and deletes it, as a user tired of waiting does.
func Strip(name string) Move {
	return Move{Name: "take the finalizers off " + name + " and delete it", Do: func(w *world) {
		w.kube.change(name, func(now *corev1.Service) *corev1.Service {
			if now == nil || now.DeletionTimestamp != nil {
				return nil
			}
			w.strip(now)
			return now
		})
		Delete(name).Do(w)
	}}
}

// Reapply removes the finalizers of a Service, deletes it, and applies the same manifest again.
func Reapply(name string, shape Shape) Move {
	return Move{Name: "take the finalizers off " + name + ", delete it and apply it again", Do: func(w *world) {
		w.kube.change(name, func(now *corev1.Service) *corev1.Service {
			if now == nil {
				return nil
			}
			w.strip(now)
			at := metav1.NewTime(time.Now())
			now.DeletionTimestamp = &at
			return now
		})
		Create(name, shape).Do(w)
		w.kube.change(name, func(now *corev1.Service) *corev1.Service {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.reapplied[now.UID] = true
			return nil
		})
	}}
}

// strip removes the finalizers of a Service. Only the running process can have its resources in
// memory then.
func (w *world) strip(svc *corev1.Service) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stripped[svc.UID] = true
	newest := w.processes[len(w.processes)-1]
	w.forgotten = w.forgotten || newest.id > 1 && time.Since(newest.began) < acquainted
	svc.Finalizers = nil
}

// hasForgotten reports whether no process remembers a Service whose finalizers were removed.
// Its resources stay in the cloud, for "berth orphans", and may block the deletion of a later
// Service of the same name.
func (w *world) hasForgotten() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.forgotten
}

// wasStripped reports whether a user has removed the finalizers of a Service, or has applied it
// again under the name of such a Service.
func (w *world) wasStripped(svc *corev1.Service) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stripped[svc.UID] || w.reapplied[svc.UID]
}

// HandOver has a Service ask for another controller.
func HandOver(name string) Move {
	return Change(name, "another controller", func(svc *corev1.Service) { svc.Annotations[leftTo] = "other" })
}

// HandBack has a Service ask for Berth again.
func HandBack(name string) Move {
	return Change(name, "this controller again", func(svc *corev1.Service) { delete(svc.Annotations, leftTo) })
}

// ServedElsewhere has the other controller serve a Service that asks for it.
func ServedElsewhere(name string) Move {
	return Move{Name: "the other controller serves " + name, Do: func(w *world) { w.writeAddress(namespace + "/" + name) }}
}

// handedOver reports whether a Service asks for another controller.
func handedOver(svc *corev1.Service) bool { return svc.Annotations[leftTo] != "" }
