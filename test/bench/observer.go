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
	last          map[types.UID]map[string]metav1.ConditionStatus
	flips, writes int
}

// observe starts to watch until the context ends; wait then returns when it has.
func observe(ctx context.Context, client kubernetes.Interface) (o *observer, wait func(), err error) {
	o = &observer{client: client, last: map[types.UID]map[string]metav1.ConditionStatus{}}
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
			o.flips++
		}
	}
	o.last[svc.UID] = now
}

// tally is what has happened so far.
type tally struct {
	flips    int // conditions that were True and are not
	writes   int // of Service objects
	warnings int // events
}

func (t tally) since(before tally) tally {
	return tally{t.flips - before.flips, t.writes - before.writes, t.warnings - before.warnings}
}

func (o *observer) tally(ctx context.Context) (tally, error) {
	events, err := o.client.CoreV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "type=" + corev1.EventTypeWarning})
	if err != nil {
		return tally{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t := tally{flips: o.flips, writes: o.writes}
	for _, e := range events.Items {
		times := max(1, int(e.Count))
		if e.Series != nil {
			times = max(times, int(e.Series.Count))
		}
		t.warnings += times
	}
	return t, nil
}
