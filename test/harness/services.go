package harness

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/berth-lb/berth/status"
)

// ReadServices reads the Services of a manifest.
func ReadServices(path string) ([]corev1.Service, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	services, err := decodeDocuments[corev1.Service](body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range services {
		if services[i].Namespace == "" {
			services[i].Namespace = metav1.NamespaceDefault
		}
	}
	return services, nil
}

// Create creates Services.
func (w *World) Create(ctx context.Context, services ...corev1.Service) error {
	for i := range services {
		svc := services[i].DeepCopy()
		err := onceReleased(func() error {
			_, err := w.Client.CoreV1().Services(svc.Namespace).Create(ctx, svc, metav1.CreateOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("service %s/%s: %w", svc.Namespace, svc.Name, err)
		}
	}
	return nil
}

// Change reads a Service, changes it and updates it. It retries on a conflict and when the
// API server is temporarily unavailable.
func (w *World) Change(ctx context.Context, namespace, name string, change func(*corev1.Service)) error {
	for {
		svc, err := w.Get(ctx, namespace, name)
		if err != nil {
			return err
		}
		change(svc)
		err = retryTransient(func() error {
			_, err := w.Client.CoreV1().Services(namespace).Update(ctx, svc, metav1.UpdateOptions{})
			return err
		})
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}

// Get reads a Service, again if the API server could not do it just now.
func (w *World) Get(ctx context.Context, namespace, name string) (svc *corev1.Service, err error) {
	err = retryTransient(func() error {
		svc, err = w.Client.CoreV1().Services(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return svc, err
}

// retryTransient repeats requests that the API server of a busy machine could not serve
// just now: requests that may be repeated, and whose failure does not concern the test.
func retryTransient(do func() error) error {
	hurried := func(err error) bool {
		return apierrors.IsInternalError(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
			apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err)
	}
	return retry.OnError(wait.Backoff{Steps: 6, Duration: 100 * time.Millisecond, Factor: 2}, hurried, do)
}

// onceReleased repeats a creation while a node port that it names is another Service's: the
// API server gives ports back a moment after the Service that had them cannot be seen
// any more. Source: k8s.io/kubernetes, pkg/registry/core/service/storage/storage.go (afterDelete).
func onceReleased(create func() error) error {
	held := func(err error) bool {
		return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "port is already allocated")
	}
	return retry.OnError(wait.Backoff{Steps: 8, Duration: 50 * time.Millisecond, Factor: 2}, held, create)
}

// Delete deletes Services; it does not wait for them to be gone.
func (w *World) Delete(ctx context.Context, services ...corev1.Service) error {
	for _, svc := range services {
		if err := w.Client.CoreV1().Services(svc.Namespace).Delete(ctx, svc.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// Eventually asks until the answer is nil, or returns the last answer when the
// time is over.
func Eventually(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	return pollUntil(ctx, limit, func(time.Duration) time.Duration { return often }, ask)
}

// EventuallySlow is Eventually for states that may take minutes: the pauses grow with the
// time that it has waited, to a twentieth of it and at most half a second.
func EventuallySlow(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	return pollUntil(ctx, limit, func(waited time.Duration) time.Duration {
		return min(max(waited/20, often), 10*often)
	}, ask)
}

// often is the pause between two questions.
const often = 50 * time.Millisecond

// pollUntil polls until ask returns nil, with pauses that depend on how long it has
// waited.
func pollUntil(ctx context.Context, limit time.Duration, pause func(waited time.Duration) time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error // what the answer was before the time was over
	for began := time.Now(); ; {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %w", limit, last)
		case <-time.After(pause(time.Since(began))):
		}
	}
}

// Programmed answers nil when every Service has its load balancer: addresses in
// the status, and the condition that the cloud matches the Service.
func (w *World) Programmed(services ...corev1.Service) func(context.Context) error {
	return w.addressed(services, func(svc *corev1.Service) bool {
		return Condition(svc, status.TypeProgrammed).Status == metav1.ConditionTrue
	})
}

// NotApplied answers nil when every Service has an address, and the condition that its load
// balancer cannot take over a value.
func (w *World) NotApplied(services ...corev1.Service) func(context.Context) error {
	return w.addressed(services, func(svc *corev1.Service) bool {
		return Condition(svc, status.TypeProgrammed).Reason == string(status.ReasonNotApplied)
	})
}

// addressed answers nil when every Service has addresses in the status, and the conditions.
func (w *World) addressed(services []corev1.Service, holds func(*corev1.Service) bool) func(context.Context) error {
	return w.each(services, func(at string, svc *corev1.Service) error {
		switch {
		case svc == nil:
			return fmt.Errorf("%s does not exist", at)
		case len(svc.Status.LoadBalancer.Ingress) == 0:
			return fmt.Errorf("%s has no address: %s", at, Conditions(svc))
		case !holds(svc):
			return fmt.Errorf("%s has other conditions: %s", at, Conditions(svc))
		}
		return nil
	})
}

// Gone answers nil when none of the Services exists any more.
func (w *World) Gone(services ...corev1.Service) func(context.Context) error {
	return w.each(services, func(at string, svc *corev1.Service) error {
		if svc != nil {
			return fmt.Errorf("%s still exists, with the finalizers %v: %s", at, svc.Finalizers, Conditions(svc))
		}
		return nil
	})
}

// seldom is the pause between two lists of all Services, while a watch reports that a question is still to be
// answered with an error.
const seldom = 2 * time.Second

// each answers nil when check does so for every Service; nil instead of a Service: it does not exist. The answer
// nil is that of a list. Others come from a watch, which costs the API server nothing, and every two seconds from a list.
func (w *World) each(services []corev1.Service, check func(at string, svc *corev1.Service) error) func(context.Context) error {
	all := func(find func(namespace, name string) *corev1.Service) error {
		for _, s := range services {
			if err := check(s.Namespace+"/"+s.Name, find(s.Namespace, s.Name)); err != nil {
				return err
			}
		}
		return nil
	}
	watched := func(namespace, name string) *corev1.Service {
		svc, _, _ := w.Cluster.WatchedService(namespace, name) // the list returns the error
		return svc
	}
	var listed time.Time
	return func(ctx context.Context) error {
		if time.Since(listed) < seldom {
			if err := all(watched); err != nil {
				return err
			}
		}
		listed = time.Now()
		there, err := w.list(ctx)
		if err != nil {
			return err
		}
		return all(func(namespace, name string) *corev1.Service { return there[namespace+"/"+name] })
	}
}

// Existing returns the Services that exist.
func (w *World) Existing(ctx context.Context, services ...corev1.Service) ([]corev1.Service, error) {
	there, err := w.list(ctx)
	if err != nil {
		return nil, err
	}
	var out []corev1.Service
	for _, s := range services {
		if _, ok := there[s.Namespace+"/"+s.Name]; ok {
			out = append(out, s)
		}
	}
	return out, nil
}

// list reads all Services of the cluster in one request, by namespace/name.
func (w *World) list(ctx context.Context) (map[string]*corev1.Service, error) {
	all, err := w.Client.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := make(map[string]*corev1.Service, len(all.Items))
	for i := range all.Items {
		svc := &all.Items[i]
		out[svc.Namespace+"/"+svc.Name] = svc
	}
	return out, nil
}

// Condition returns a condition of a Service, the zero value if it has none.
func Condition(svc *corev1.Service, conditionType string) metav1.Condition {
	for _, c := range svc.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return metav1.Condition{}
}

// Conditions says in one line what a Service's conditions are.
func Conditions(svc *corev1.Service) string {
	text := ""
	for _, c := range svc.Status.Conditions {
		text += fmt.Sprintf("[%s=%s %s %s]", c.Type, c.Status, c.Reason, c.Message)
	}
	if text == "" {
		return "no conditions"
	}
	return text
}
