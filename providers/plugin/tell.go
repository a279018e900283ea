package plugin

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/status"
)

// teller tells users what the stock loop has no words for: warnings as events,
// and conditions. Errors it leaves to the stock loop, which tells them as events.
type teller struct {
	client   kubernetes.Interface
	recorder record.EventRecorder

	mu   sync.Mutex
	said map[string]map[string]bool // by UID: events that were recorded and still hold
}

// newTeller makes one that tells until the program stops.
func newTeller(client kubernetes.Interface, stop <-chan struct{}) *teller {
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	go func() {
		<-stop
		broadcaster.Shutdown()
	}()
	return &teller{
		client: client, said: map[string]map[string]bool{},
		recorder: broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "berth"}),
	}
}

// message is one event.
type message struct {
	reason status.EventReason
	text   string
}

// say records events that were not recorded before. An event that does not hold any more
// is forgotten, so that it is recorded when it returns.
func (t *teller) say(svc *corev1.Service, all ...message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := map[string]bool{}
	for _, m := range all {
		text := status.EventMessage(m.text)
		id := string(m.reason) + "\x00" + text
		if !now[id] && !t.said[string(svc.UID)][id] {
			t.recorder.Event(svc, m.reason.Type(), string(m.reason), text)
		}
		now[id] = true
	}
	t.said[string(svc.UID)] = now
}

func (t *teller) forget(svc *corev1.Service) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.said, string(svc.UID))
}

// elsewhere tells why a Service is left alone.
func (t *teller) elsewhere(svc *corev1.Service, why string) {
	t.say(svc, message{status.EventServedElsewhere, why})
}

// reportUnread writes on a Service that could not be planned why it has no load balancer
// yet, or, if it has changed, why the change has no effect yet.
func (t *teller) reportUnread(ctx context.Context, svc *corev1.Service, changed bool, cause error) {
	cond, news := conditions.Unread(svc, changed, cause)
	if !news {
		return
	}
	if err := t.patch(ctx, svc, status.Want{Generation: svc.Generation, Conditions: []status.Condition{cond}}); err != nil {
		klog.FromContext(ctx).Error(err, "status")
	}
}

// released removes everything that we wrote from a Service. The stock loop removes
// addresses and the stock finalizer.
func (t *teller) released(ctx context.Context, svc *corev1.Service, outputs providers.Outputs) error {
	if err := t.patch(ctx, svc, releasedMarks(outputs)); err != nil {
		return err
	}
	t.forget(svc)
	return nil
}

// patch writes on a Service, to the subresource that the stock loop may write to.
// A Service that has changed too much since it was read is enqueued again by its update.
func (t *teller) patch(ctx context.Context, svc *corev1.Service, want status.Want) error {
	want.Now = time.Now()
	body, differs := status.Patch(svc, want)
	if !differs {
		return nil
	}
	_, err := t.client.CoreV1().Services(svc.Namespace).Patch(ctx, svc.Name, status.PatchType, body, metav1.PatchOptions{}, status.Subresource)
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return nil
	}
	return err
}
