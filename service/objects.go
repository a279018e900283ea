package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
)

// objectPatience is the time that a Service waits for the first answer of the API server
// about an object.
const objectPatience = 10 * time.Second

// objectView watches the objects that Services refer to, each by its name alone: nothing
// else is read, and the right to named objects is enough. Services and their endpoints are
// cached anyway. A nil view is empty.
type objectView struct {
	client kubernetes.Interface
	custom dynamic.Interface // for objects of other APIs
	wake   func(key string, why kit.Urgency)
	// cached completes an object with what is cached anyway: a Service, or EndpointSlices.
	cached func(ref providers.Reference, watched providers.Object) providers.Object

	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // watches live as long as the loop, not as a visit
	watched map[providers.Reference]*watchedObject
}

// watchedObject is one object with the Services that refer to it.
type watchedObject struct {
	informer cache.SharedIndexInformer // nil: it is a Service
	factory  interface{ Shutdown() }   // of the informer
	stop     context.CancelFunc
	services map[string]bool // keys

	mu      sync.Mutex
	refused error         // the reason why it cannot be read
	known   chan struct{} // closed after the first answer
}

func newObjectView(client kubernetes.Interface, custom dynamic.Interface, cached func(providers.Reference, providers.Object) providers.Object, wake func(string, kit.Urgency)) *objectView {
	return &objectView{client: client, custom: custom, cached: cached, wake: wake, watched: map[providers.Reference]*watchedObject{}}
}

// begin sets the context of watches.
func (v *objectView) begin(ctx context.Context) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ctx = ctx
}

// end waits until all watches have ended.
func (v *objectView) end() {
	if v == nil {
		return
	}
	v.mu.Lock()
	all := slices.Collect(maps.Values(v.watched))
	v.mu.Unlock()
	for _, w := range all {
		if w.stop(); w.factory != nil {
			w.factory.Shutdown() // its handlers take the lock
		}
	}
}

// objectsOf returns the objects that the Service of a key refers to. From now on these
// are watched for it, and no others.
func (v *objectView) objectsOf(ctx context.Context, key string, refers []providers.Reference) map[providers.Reference]providers.Object {
	if v == nil {
		return nil
	}
	watched := v.follow(key, refers)
	out := map[providers.Reference]providers.Object{}
	patience, done := context.WithTimeout(ctx, objectPatience)
	defer done()
	for ref, w := range watched {
		if w.informer == nil {
			out[ref] = v.cached(ref, providers.Object{})
			continue
		}
		select {
		case <-w.known:
		case <-patience.Done():
		}
		out[ref] = v.cached(ref, w.object(ref))
	}
	return out
}

// follow watches the objects that a Service refers to, and no others.
func (v *objectView) follow(key string, refers []providers.Reference) map[providers.Reference]*watchedObject {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := map[providers.Reference]*watchedObject{}
	for _, ref := range refers {
		w := v.watched[ref]
		if w == nil {
			w = v.watch(ref)
			v.watched[ref] = w
		}
		w.services[key] = true
		out[ref] = w
	}
	for ref, w := range v.watched {
		if out[ref] != nil || !w.services[key] {
			continue
		}
		if delete(w.services, key); len(w.services) == 0 {
			w.stop()
			delete(v.watched, ref)
		}
	}
	return out
}

// forget ends the watches of a Service.
func (v *objectView) forget(key string) {
	if v != nil {
		v.follow(key, nil)
	}
}

// watch starts to watch an object.
func (v *objectView) watch(ref providers.Reference) *watchedObject {
	if ref.Kind == providers.Service {
		return &watchedObject{stop: func() {}, services: map[string]bool{}}
	}
	ctx, stop := context.WithCancel(v.ctx)
	w := &watchedObject{stop: stop, services: map[string]bool{}, known: make(chan struct{})}
	start := v.selectByName(w, ref)
	// An informer that is not started accepts all handlers.
	_ = w.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		refused := apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err)
		if refused && w.resolve(err) {
			v.changed(ref, byUser)
		}
	})
	changed := func(any) {
		w.resolve(nil)
		v.changed(ref, byUser)
	}
	handler, _ := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: changed, DeleteFunc: changed, UpdateFunc: func(_, now any) { changed(now) }})
	start(ctx)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			w.resolve(nil)
			v.changed(ref, byUser)
		}
	}()
	return w
}

// selectByName gives a watched object an informer for its name alone, and returns what starts it.
func (v *objectView) selectByName(w *watchedObject, ref providers.Reference) (start func(context.Context)) {
	byName := func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, ref.Name).String()
	}
	if api, custom := customAPI(ref.Kind); custom {
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(v.custom, 0, ref.Namespace, byName)
		w.factory, w.informer = factory, factory.ForResource(api).Informer()
		return func(ctx context.Context) { factory.Start(ctx.Done()) }
	}
	factory := informers.NewSharedInformerFactoryWithOptions(v.client, 0, informers.WithNamespace(ref.Namespace), informers.WithTweakListOptions(byName))
	w.factory = factory
	switch core := factory.Core().V1(); ref.Kind {
	case providers.ConfigMap:
		w.informer = core.ConfigMaps().Informer()
	case providers.Endpoints:
		w.informer = core.Endpoints().Informer()
	case providers.Secret, providers.Service: // Services are not watched by name
		w.informer = core.Secrets().Informer()
	}
	return factory.StartWithContext
}

// resolve records the first answer about an object, or why it cannot be read. It reports whether that
// differs from the answer before.
func (w *watchedObject) resolve(refused error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.refused
	w.refused = refused
	select {
	case <-w.known:
		return fmt.Sprint(was) != fmt.Sprint(refused)
	default:
		close(w.known)
		return true
	}
}

// changed queues the Services that refer to an object.
func (v *objectView) changed(ref providers.Reference, why kit.Urgency) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if w := v.watched[ref]; w != nil {
		for key := range w.services {
			v.wake(key, why)
		}
	}
}

// object returns the watched object, as far as it is known.
func (w *watchedObject) object(ref providers.Reference) providers.Object {
	w.mu.Lock()
	refused := w.refused
	w.mu.Unlock()
	if refused != nil {
		return providers.Object{Why: unreadableReason(ref, refused)}
	}
	select {
	case <-w.known:
	default:
		return providers.Object{Why: "could not be read yet: the API server does not answer"}
	}
	found, _, err := w.informer.GetStore().GetByKey(ref.Namespace + "/" + ref.Name)
	if err != nil || found == nil {
		return providers.Object{Why: isAway}
	}
	if custom, ok := found.(*unstructured.Unstructured); ok {
		return customObject(custom)
	}
	if ref.Kind == providers.Endpoints {
		return providers.Object{Slices: slicesOf(found)}
	}
	return providers.Object{Data: objectData(found)}
}

// ReadObjects reads objects once, each by its name with the rights of the client, for
// callers that do not watch them.
func ReadObjects(ctx context.Context, client kubernetes.Interface, refers []providers.Reference) map[providers.Reference]providers.Object {
	out := map[providers.Reference]providers.Object{}
	for _, ref := range refers {
		object, err := readObject(ctx, client, ref)
		switch {
		case apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
			object = providers.Object{Why: unreadableReason(ref, err)}
		case apierrors.IsNotFound(err):
			object = providers.Object{Why: isAway}
		case err != nil:
			object = providers.Object{Why: "cannot be read: " + err.Error()}
		}
		out[ref] = object
	}
	return out
}

func readObject(ctx context.Context, client kubernetes.Interface, ref providers.Reference) (providers.Object, error) {
	if api, custom := customAPI(ref.Kind); custom {
		return readCustom(ctx, client, api, ref)
	}
	var found any
	var err error
	switch ref.Kind {
	case providers.Service:
		return readService(ctx, client, ref)
	case providers.Endpoints:
		return readEndpoints(ctx, client, ref)
	case providers.ConfigMap:
		found, err = client.CoreV1().ConfigMaps(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	case providers.Secret:
		found, err = client.CoreV1().Secrets(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	}
	return providers.Object{Data: objectData(found)}, err
}

// readService reads a Service with its EndpointSlices.
func readService(ctx context.Context, client kubernetes.Interface, ref providers.Reference) (out providers.Object, err error) {
	if out.Service, err = client.CoreV1().Services(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err != nil {
		return out, err
	}
	out.Slices, err = readSlices(ctx, client, ref)
	return out, err
}

// isAway returns the reason for an object that does not exist.
const isAway = "does not exist"

// objectData returns the contents of a Secret or ConfigMap; never nil.
func objectData(object any) map[string][]byte {
	out := map[string][]byte{}
	switch o := object.(type) {
	case *corev1.Secret:
		for key, value := range o.Data {
			out[key] = value
		}
	case *corev1.ConfigMap:
		for key, value := range o.BinaryData {
			out[key] = value
		}
		for key, value := range o.Data {
			out[key] = []byte(value)
		}
	}
	return out
}
