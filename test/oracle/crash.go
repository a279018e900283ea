package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/harness"
)

const (
	crashServices = 24
	// crashQueued is how many creations are queued when Berth is killed.
	crashQueued = 20
	// slowCreation is how long the slow API takes for each of them.
	slowCreation = 300 * time.Millisecond
	// succession is how long after the end of a process its successor starts.
	succession = 3 * time.Second
	// settled is how long the result must stay.
	settled      = 5 * time.Second
	crashPrefix  = "crash-"
	balancerPath = "/v2.0/lbaas/loadbalancers"
)

// replayCrash kills Berth while creations are queued in a slow API, which performs them
// nevertheless, and starts a successor. Afterwards every Service has one load balancer, and
// nothing is left once all are deleted.
func (w *walker) replayCrash(ctx context.Context) error {
	began := time.Now()
	if err := w.StopControllers(); err != nil {
		return err
	}
	slow := filepath.Join(w.real.Dir, "slow")
	if err := os.WriteFile(slow, fmt.Append(nil, slowCreation.Seconds()), 0o600); err != nil {
		return err
	}
	defer func() { _ = os.Remove(slow) }() // the folder is deleted as well
	queued, err := w.killQueued(ctx)
	if err != nil {
		return fmt.Errorf("crash: creations are queued: %w", err)
	}
	select {
	case <-time.After(succession):
	case <-ctx.Done():
		return ctx.Err()
	}
	if _, err := w.Controller("successor"); err != nil {
		return err
	}
	most, err := w.awaitOneEach(ctx)
	if err != nil {
		return fmt.Errorf("crash: one load balancer for each Service, %d at most: %w", most, err)
	}
	fmt.Printf("crash: %d creations were queued; at most %d load balancers, one for each of %d Services after %.1f s\n", queued, most, crashServices, time.Since(began).Seconds())
	services := listCrashed()
	if err := w.removeAll(ctx, services...); err != nil {
		return fmt.Errorf("crash: deletion: %w", err)
	}
	fmt.Printf("crash: everything is deleted after %.1f s\n", time.Since(began).Seconds())
	return w.nothingLeft(ctx)
}

// killQueued lets Berth create load balancers and kills it when enough creations are queued.
// It returns their number.
func (w *walker) killQueued(ctx context.Context) (queued int, err error) {
	p, err := w.Controller("killed")
	if err != nil {
		return 0, err
	}
	if err := w.Create(ctx, listCrashed()...); err != nil {
		return 0, err
	}
	err = harness.Eventually(ctx, patience, func(context.Context) error {
		if queued = w.real.journal.countWaiting(http.MethodPost, balancerPath); queued < crashQueued {
			return fmt.Errorf("%d are", queued)
		}
		return nil
	})
	p.Kill()
	return queued, err
}

// awaitOneEach waits until every Service of the crash is served and has had one load balancer
// for a while. It returns the largest number of load balancers that it saw.
func (w *walker) awaitOneEach(ctx context.Context) (most int, err error) {
	services, since := listCrashed(), time.Now()
	err = harness.Eventually(ctx, patience, func(ctx context.Context) error {
		count, sum, err := w.countByName(ctx)
		most = max(most, sum)
		if err := errors.Join(err, judgeCounts(count), w.Programmed(services...)(ctx)); err != nil {
			since = time.Now()
			return err
		}
		if stable := time.Since(since); stable < settled {
			return fmt.Errorf("stable for %s", stable)
		}
		return nil
	})
	return most, err
}

// listCrashed returns the Services of the crash.
func listCrashed() []corev1.Service {
	var out []corev1.Service
	for i := range crashServices {
		out = append(out, newService(fmt.Sprintf("%s%d", crashPrefix, i), map[string]string{internal: "true"}, nil, newPort(corev1.ProtocolTCP, 80)))
	}
	return out
}

// countByName counts the load balancers of each name, and all of them.
func (w *walker) countByName(ctx context.Context) (count map[string]int, sum int, err error) {
	found, err := w.cloud.list(ctx, "load-balancer", "/lbaas/loadbalancers", "loadbalancers")
	count = map[string]int{}
	for _, lb := range found {
		count[fmt.Sprint(valueAt(lb, "name"))]++
	}
	return count, len(found), err
}

// judgeCounts returns an error unless every Service of the crash has one load balancer.
func judgeCounts(count map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if count[name] > 1 {
			return fmt.Errorf("%d load balancers %s", count[name], name)
		}
	}
	if len(count) != crashServices {
		return fmt.Errorf("%d of %d Services have a load balancer", len(count), crashServices)
	}
	return nil
}
