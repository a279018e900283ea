package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

// warnings collects the warnings of the API server, as kubectl shows them.
type warnings struct {
	mutex sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.texts = append(w.texts, text)
}

// take returns the warnings since the last call.
func (w *warnings) take() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	out := strings.Join(w.texts, "\n")
	w.texts = nil
	return out
}

// callServicesDirectly lets the API server call the webhook that judges Services without a
// network of pods.
func (r *release) callServicesDirectly() {
	r.w.t.Helper()
	all := r.w.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	r.w.eventually("the webhook is called on this machine", func() error {
		list, err := all.List(r.w.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + r.name})
		if err != nil || len(list.Items) != 1 {
			return fmt.Errorf("%d configurations, %w", len(list.Items), err)
		}
		for i := range list.Items[0].Webhooks {
			client := &list.Items[0].Webhooks[i].ClientConfig
			url := fmt.Sprintf("https://127.0.0.1:%d%s", r.hook, *client.Service.Path)
			client.Service, client.URL = nil, &url
		}
		_, err = all.Update(r.w.t.Context(), &list.Items[0], metav1.UpdateOptions{})
		return err
	})
}

const (
	validateLabel = "berth-lb.io/validate"
	interval      = "healthcheck-interval"
)

// TestWebhookJudgesServices: with the chart's webhook, a mistake is a warning in a namespace that
// asks for warnings, and denied in one that enforces. What a Service had before is no reason, nor
// is a Service that is being deleted; without the label, and while the webhook does not answer,
// Services are applied as ever. The same controller serves the page.
func TestWebhookJudgesServices(t *testing.T) {
	w := startWorld(t, 1)
	w.serveController()
	r := w.install("berth", map[string]any{
		"defaultClass": true, "loadBalancerClasses": []string{}, "extraArgs": []string{"--webhook-host=127.0.0.1"},
		"webhook": map[string]any{"validateServices": true}, "page": map[string]any{"enabled": true},
	})
	r.hook, r.page = freePort(w), freePort(w)
	r.callServicesDirectly()
	controller := r.pod()
	heard := &warnings{}
	conf, err := w.Cluster.RESTConfig("")
	w.must(err)
	conf.WarningHandler = heard
	user, err := kubernetes.NewForConfig(conf)
	w.must(err)
	services := user.CoreV1().Services(w.ns)
	apply := func(name string, changes ...change) (string, error) {
		svc := w.service(name, append([]change{useNetworkType}, changes...)...)
		_, err := services.Create(t.Context(), &svc, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return heard.take(), err
	}
	bad := setAnnotation(interval, "soon")
	if told, err := apply("web", bad); err != nil || told != "" {
		t.Errorf("without the label: %q, %v", told, err)
	}
	w.labelNamespace(validateLabel, "warn")
	w.eventually("a mistake is a warning", func() error {
		told, err := apply("web", bad)
		if err == nil && !strings.Contains(told, interval) {
			err = fmt.Errorf("warnings %q", told)
		}
		return err
	})
	if told, err := apply("web"); err != nil || told != "" {
		t.Errorf("a good Service: %q, %v", told, err)
	}
	old := w.service("old", useNetworkType, bad)
	_, err = services.Create(t.Context(), &old, metav1.CreateOptions{})
	w.must(err)
	w.create("live", useNetworkType)
	r.looksAtPage("live")
	w.labelNamespace(validateLabel, "enforce")
	w.eventually("a mistake is denied", func() error {
		_, err := apply("web", bad)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), interval) || !strings.Contains(err.Error(), "legal") {
			return fmt.Errorf("not denied with key and legal values: %w", err)
		}
		return nil
	})
	heard.take()
	w.changes(services, "old", setAnnotation("team.example.com/owner", "web"), "")
	w.changes(services, "live", setAnnotation("internal", "true"), status.AnnotationAllow)
	w.changes(services, "live", func(svc *corev1.Service) {
		setAnnotation("internal", "true")(svc)
		setAnnotation(status.AnnotationAllow, status.AllowReplace)(svc)
	}, "")
	heard.take() // the permitted change has a warning
	w.killed(controller, apply)
	second := r.pod()
	w.remove(*w.get("old"), *w.get("live"))
	w.must(second.Stop(limit))
	r.uninstall()
}

// changes updates a Service as a user does. The error contains the text; an empty text means that
// there is none.
func (w *world) changes(services corev1client.ServiceInterface, name string, c change, denied string) {
	w.t.Helper()
	w.eventually("the update of "+name, func() error {
		svc, err := services.Get(w.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c(svc)
		_, err = services.Update(w.t.Context(), svc, metav1.UpdateOptions{})
		switch {
		case apierrors.IsConflict(err):
			return err // the controller was faster
		case (err == nil) != (denied == "") || err != nil && !strings.Contains(err.Error(), denied):
			w.t.Errorf("%s: %v, want %q", name, err, denied)
		}
		return nil
	})
}

// killed ends the webhook: Services are applied as ever, and soon.
func (w *world) killed(controller *harness.Process, apply func(string, ...change) (string, error)) {
	w.t.Helper()
	controller.Kill()
	var took []time.Duration
	for range 3 {
		began := time.Now()
		if told, err := apply("web", setAnnotation(interval, "soon")); err != nil || told != "" {
			w.t.Errorf("while nothing answers: %q, %v", told, err)
		}
		took = append(took, time.Since(began))
	}
	if fastest := slices.Min(took); fastest > 2500*time.Millisecond {
		w.t.Errorf("while nothing answers, an apply takes %s", took)
	}
}
