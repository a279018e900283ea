package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

// shortDrift is the drift interval of the replays: the cloud is compared again within seconds.
const shortDrift = "--drift-interval=3s"

// fault is something that once opened a listener or took traffic away: a live Service gets a
// value or a state that OpenStack refuses or does not repair.
type fault struct {
	name   string
	replay func(*walker, context.Context) error
}

// faults returns the selected faults.
func (o options) faults() []fault {
	all := []fault{{"ranges", (*walker).replayRanges}, {"groups", (*walker).replayGroups}, {"error", (*walker).replayError}}
	return slices.DeleteFunc(all, func(f fault) bool { return !o.replays.MatchString(f.name) })
}

// replaying returns a function that replays faults, each with a new process, and verifies that
// nothing is left of it.
func (w *walker) replaying(faults []fault) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, f := range faults {
			began := time.Now()
			if err := w.StopControllers(); err != nil {
				return err
			}
			err := f.replay(w, ctx)
			if err == nil {
				err = w.nothingLeft(ctx)
			}
			if err != nil {
				return fmt.Errorf("replay: %s: %w", f.name, err)
			}
			fmt.Printf("replay: %s: as expected after %.1f s\n", f.name, time.Since(began).Seconds())
		}
		return nil
	}
}

// configure writes the configuration of Berth. The lines are added to its section
// LoadBalancer, and may begin sections of their own.
func (w *walker) configure(subnet string, lines ...string) error {
	conf := fmt.Sprintf("[Global]\nauth-url = %s\nusername = %s\npassword = %s\ntenant-name = %s\ndomain-name = Default\nregion = %s\n\n[LoadBalancer]\nfloating-network-id = %s\nsubnet-id = %s\n",
		w.real.Identity, userName, userPassword, projectName, region, w.cloud.known["public"], w.cloud.known[subnet])
	conf += strings.Join(lines, "\n") + "\n"
	return os.WriteFile(filepath.Join(w.Sim.Dir, "cloud.conf"), []byte(conf), 0o600)
}

// mark returns the number of calls so far.
func (w *walker) mark() int { return len(w.real.journal.since(0)) }

// unchanged returns an error for each write since the mark that the cloud has accepted.
func (w *walker) unchanged(mark int) error {
	var all error
	for _, c := range w.real.journal.since(mark) {
		if c.write() && c.status < http.StatusBadRequest {
			all = errors.Join(all, fmt.Errorf("%s %s: %d", c.method, c.path, c.status))
		}
	}
	return all
}

// compared waits until Berth has compared the cloud with the Services twice since the mark: one
// look may have begun before it.
func (w *walker) compared(ctx context.Context, mark int) error {
	return harness.Eventually(ctx, patience, func(context.Context) error {
		looks := 0
		for _, c := range w.real.journal.since(mark) {
			if c.method == http.MethodGet && strings.HasPrefix(c.path, balancerPath) {
				looks++
			}
		}
		if looks < 2 {
			return fmt.Errorf("%d reads of load balancers", looks)
		}
		return nil
	})
}

// reports waits until a Service is not reported as served and accepted, and its conditions
// contain all texts.
func (w *walker) reports(ctx context.Context, name string, texts ...string) error {
	return harness.Eventually(ctx, patience, func(ctx context.Context) error {
		svc, err := w.Get(ctx, metav1.NamespaceDefault, name)
		if err != nil {
			return err
		}
		said := harness.Conditions(svc)
		if harness.Condition(svc, status.TypeAccepted).Status == metav1.ConditionTrue && harness.Condition(svc, status.TypeProgrammed).Status == metav1.ConditionTrue {
			return fmt.Errorf("%s is reported as served: %s", name, said)
		}
		for _, text := range texts {
			if !strings.Contains(said, text) {
				return fmt.Errorf("%s does not report %q: %s", name, text, said)
			}
		}
		return nil
	})
}

// setAnnotation returns a change of an annotation; an empty value removes it.
func setAnnotation(key, value string) func(*corev1.Service) {
	return func(s *corev1.Service) {
		if value == "" {
			delete(s.Annotations, key)
			return
		}
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, key, value)
	}
}

// removeAll deletes Services and waits until they do not exist.
func (w *walker) removeAll(ctx context.Context, services ...corev1.Service) error {
	if err := w.Delete(ctx, services...); err != nil {
		return err
	}
	return harness.Eventually(ctx, patience, w.Gone(services...))
}
