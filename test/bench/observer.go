package main

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// observer watches what happens to the Services of a cluster.
type observer struct {
	client kubernetes.Interface

	mu sync.Mutex
	// last are the conditions of each Service, by type.
	last map[types.UID]map[string]metav1.ConditionStatus
	// fallen has the Services that a user changed, with the conditions that have fallen
	// since, as they do once while the change is worked on.
	fallen        map[types.UID]map[string]bool
	flips, writes int
}

func newObserver(client kubernetes.Interface) *observer {
	return &observer{client: client, last: map[types.UID]map[string]metav1.ConditionStatus{}, fallen: map[types.UID]map[string]bool{}}
}

// changes notes that a user is about to change a Service: of each of its conditions the
// next fall is the user's.
func (o *observer) changes(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fallen[uid] = map[string]bool{}
}

// startObserver starts to watch until the context ends; wait then returns when it has.
func startObserver(ctx context.Context, client kubernetes.Interface) (o *observer, wait func(), err error) {
	o = newObserver(client)
	w, err := client.CoreV1().Services(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for w != nil {
			o.follow(ctx, w)
			if w, err = client.CoreV1().Services(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{}); err != nil {
				return // the context has ended, or the cluster
			}
		}
	}()
	return o, func() { <-done }, nil
}

// follow sees events until the API server ends the watch, as it does now and then.
func (o *observer) follow(ctx context.Context, w watch.Interface) {
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-w.ResultChan():
			if !open {
				return
			}
			if svc, ok := event.Object.(*corev1.Service); ok {
				o.see(event.Type, svc)
			}
		}
	}
}

func (o *observer) see(what watch.EventType, svc *corev1.Service) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if what == watch.Deleted || svc.DeletionTimestamp != nil {
		delete(o.last, svc.UID)
		return
	}
	if what == watch.Modified {
		o.writes++
	}
	now := map[string]metav1.ConditionStatus{}
	for _, c := range svc.Status.Conditions {
		now[c.Type] = c.Status
		if o.last[svc.UID][c.Type] == metav1.ConditionTrue && c.Status != metav1.ConditionTrue {
			o.fall(svc.UID, c.Type)
		}
	}
	o.last[svc.UID] = now
}

// fall counts a condition that was True and is not, unless a user's change has made it so.
func (o *observer) fall(uid types.UID, condition string) {
	if once, changed := o.fallen[uid]; changed && !once[condition] {
		once[condition] = true
		return
	}
	o.flips++
}

// tally is what has happened so far.
type tally struct {
	flips    int            // conditions that were True and are not
	writes   int            // of Service objects
	warnings map[string]int // events, by what they say
}

func (t tally) since(before tally) tally {
	warnings := map[string]int{}
	for said, n := range t.warnings {
		if more := n - before.warnings[said]; more > 0 {
			warnings[said] = more
		}
	}
	return tally{t.flips - before.flips, t.writes - before.writes, warnings}
}

// addressRepair is the part of the API server that looks for cluster addresses which are in use and not
// taken; where many Services are made at once it warns of some that it has seen half made.
const addressRepair = "ipallocator-repair-controller"

func (o *observer) tally(ctx context.Context) (tally, error) {
	events, err := o.client.CoreV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "type=" + corev1.EventTypeWarning})
	if err != nil {
		return tally{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t := tally{flips: o.flips, writes: o.writes, warnings: map[string]int{}}
	for _, e := range events.Items {
		if e.Source.Component == addressRepair || e.ReportingController == addressRepair {
			continue
		}
		times := max(1, int(e.Count))
		if e.Series != nil {
			times = max(times, int(e.Series.Count))
		}
		t.warnings[e.InvolvedObject.Name+": "+e.Reason+": "+e.Message] += times
	}
	return t, nil
}
