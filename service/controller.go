package service

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/inputs"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/metrics"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
)

// Options configure the controller.
type Options struct {
	Classes Classes
	// Workers is the maximum number of concurrent reconciles; default 4096. Most of them
	// wait for the cloud and cost only memory: calls are limited by the rates of the
	// cloud, in the order of priority.
	Workers int
	// DryRun means that the policies block every step: then only conditions are written on
	// Services, so that none is bound to a controller that does nothing for it.
	DryRun bool
	// OwnPods compares the addresses of EndpointSlices with the Pods of their namespace.
	OwnPods bool
	// PodGates sets the readiness gates of pods that wait until they are healthy behind
	// their load balancers.
	PodGates bool
	// Custom watches objects of other APIs than the core that Services refer to; nil: the cloud has none.
	Custom dynamic.Interface
	// Admission is watched for changes; nil: nothing is refused. The reconciler calls
	// it.
	Admission *Admission
	Watchers  Watchers
	Clock     Clock // default: the real one
	// Fence reports whether the process may write; nil: always. While it is closed no
	// Service is handled.
	Fence engine.Fence
}

// Clock is the clock that the loop needs.
type Clock = clock.WithTickerAndDelayedExecution

// Controller is the loop over all Services of a cluster.
type Controller struct {
	options    Options
	client     kubernetes.Interface
	reconciler *reconcile.Reconciler
	services   corelisters.ServiceLister
	synced     []cache.InformerSynced
	recorder   record.EventRecorder
	queue      *queue
	nodes      *nodeView
	endpoints  *inputs.Endpoints
	namespaces *inputs.Namespaces
	objects    *objectView
	seen       *memory
	writes     *writes
	start      startup
	nodeStore  corelisters.NodeLister
}

// New returns a controller on a shared informer factory that is not started yet.
func New(client kubernetes.Interface, factory informers.SharedInformerFactory, r *reconcile.Reconciler, recorder record.EventRecorder, o Options) (*Controller, error) {
	if o.Workers <= 0 {
		o.Workers = 4096
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Classes.Official = r.Outputs().ClassFinalizers
	c := &Controller{
		options: o, client: client, reconciler: r, recorder: fencedRecorder{recorder, o.Fence},
		services: factory.Core().V1().Services().Lister(), nodeStore: factory.Core().V1().Nodes().Lister(),
		queue: newQueue(o.Clock, o.Watchers.Metrics.Waited, quietShare(o.Workers)), seen: newMemory(), writes: newWrites(),
	}
	o.Admission.Beside(c.neighbours)
	c.nodes = newNodeView(o.Clock, c.nodesChanged)
	if err := c.watch(factory); err != nil {
		return nil, err
	}
	if err := c.watchInputs(factory); err != nil {
		return nil, err
	}
	if r.WantsObjects() {
		c.objects = newObjectView(client, o.Custom, c.completeObject, c.queue.Add)
	}
	return c, nil
}

// neighbours returns the Services of a namespace that are, or will be, served here.
func (c *Controller) neighbours(namespace string) []*corev1.Service {
	all, _ := c.services.Services(namespace).List(everything) // a lister of a running informer does not fail
	return slices.DeleteFunc(all, func(svc *corev1.Service) bool {
		claim := c.options.Classes.Claim(svc)
		return claim != Served && claim != Released
	})
}

// watch registers the handlers. Informers keep only fields that the loop uses.
func (c *Controller) watch(factory informers.SharedInformerFactory) error {
	services, nodes := factory.Core().V1().Services().Informer(), factory.Core().V1().Nodes().Informer()
	if err := nodes.SetTransform(slimNode); err != nil {
		return fmt.Errorf("node informer: %w", err)
	}
	if err := services.SetTransform(slimService); err != nil {
		return fmt.Errorf("service informer: %w", err)
	}
	onService, err := services.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if !initial { // Services of the start are queued together, see Run
				c.serviceSeen(obj)
			}
		},
		UpdateFunc: func(old, obj any) {
			before, _ := old.(*corev1.Service)
			if now, ok := obj.(*corev1.Service); ok && before != nil {
				c.serviceChanged(before, now)
			}
		},
		DeleteFunc: c.serviceSeen,
	})
	if err != nil {
		return fmt.Errorf("service informer: %w", err)
	}
	onNode, err := nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { c.nodeSeen(obj) },
		UpdateFunc: func(_, obj any) { c.nodeSeen(obj) },
		DeleteFunc: func(obj any) { c.nodeGone(obj) },
	})
	if err != nil {
		return fmt.Errorf("node informer: %w", err)
	}
	c.synced = []cache.InformerSynced{onService.HasSynced, onNode.HasSynced}
	return nil
}

// Run works until ctx ends, then lets the calls in flight finish. Services that
// exist at the start are entered into the ledger before anything shared is
// removed.
func (c *Controller) Run(ctx context.Context) error {
	log := klog.FromContext(ctx)
	defer c.queue.Close()
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return fmt.Errorf("caches: %w", context.Cause(ctx))
	}
	c.options.Watchers.Health.Synced(c.queue.oldest)
	c.options.Watchers.Metrics.Watch(metrics.Sources{Queue: c.queue.depth, Services: c.watched})
	c.nodes.publish(c.reconciler.SetNodes)
	c.objects.begin(ctx)
	defer c.objects.end()
	if err := c.begin(); err != nil {
		return err
	}
	log.Info("service loop is running", logkey.Workers, c.options.Workers)
	var watching sync.WaitGroup
	watching.Go(func() { c.options.Admission.watch(ctx, c.options.Clock, c.policyChanged) })
	c.work(ctx)
	watching.Wait()
	log.Info("service loop has stopped")
	return nil
}

// quietShare is the share of workers for work without a waiting user, so that there is
// always one for a user's change.
func quietShare(workers int) int { return max(workers*3/4, 1) }

// work takes one key after the other until ctx ends, each into a goroutine of its own.
func (c *Controller) work(ctx context.Context) {
	defer context.AfterFunc(ctx, c.queue.Close)()
	var working sync.WaitGroup
	defer working.Wait()
	places := make(chan struct{}, c.options.Workers)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		key, turn, ok := c.queue.Get()
		if !ok {
			return
		}
		working.Go(func() {
			defer func() { <-places }()
			c.take(ctx, key, turn)
		})
	}
}

// begin queues every existing Service. Services that no controller has served, or that
// are being deleted, have the priority of a user's change.
func (c *Controller) begin() error {
	all, err := c.services.List(everything)
	if err != nil {
		return fmt.Errorf("services: %w", err)
	}
	var keys []string
	for _, svc := range all {
		key, cause := svc.Namespace+"/"+svc.Name, byDrift
		switch c.options.Classes.Claim(svc) {
		case Served:
			keys = append(keys, key)
			if isUnmarked(svc, c.reconciler.Outputs()) {
				cause = byUser
			}
		case Disowned: // its load balancer stays, with its shared resources
			c.reconciler.EnterUnknown(reconcile.OwnerOf(svc))
		case Released:
			cause = byUser
		case Ignored: // needs nothing from us
		}
		c.queue.Add(key, cause)
	}
	if c.start.expect(keys) {
		c.allKnown()
	}
	return nil
}

// allKnown permits deletions of shared resources: the desired state of every Service is
// known. Services that have waited for that are queued.
func (c *Controller) allKnown() {
	c.reconciler.AllKnown()
	c.options.Watchers.Health.Primed()
	c.wakeStalled("")
}

// wakeStalled queues the Services that are blocked by others, except the one that has
// just been reconciled.
func (c *Controller) wakeStalled(besides string) {
	for _, key := range c.seen.stalled() {
		if key != besides {
			c.queue.Add(key, byRetry)
		}
	}
}

// take handles a key, and returns it to the queue.
func (c *Controller) take(ctx context.Context, key string, turn kit.Turn) {
	defer c.queue.Done(key)
	defer c.options.Watchers.Health.Begin(key)()
	ctx = kit.WithTurn(ctx, turn)
	c.queue.Raisable(key, func(since time.Time) { kit.Raise(ctx, kit.Turn{Urgency: byUser, Since: since}) })
	c.handle(ctx, key, turn)
}

func (c *Controller) nodeSeen(obj any) {
	if n, ok := obj.(*corev1.Node); ok {
		c.nodes.set(n)
	}
}

func (c *Controller) nodeGone(obj any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		c.nodes.remove(key)
	}
}

// nodesChanged queues every Service; a Service with unchanged backends costs only a
// comparison of digests.
func (c *Controller) nodesChanged(nodes []nodeports.Node) {
	c.reconciler.SetNodes(nodes)
	for _, key := range c.seen.keys() {
		c.queue.Add(key, byNodes)
	}
}

// startup counts the Services of the start until each has been planned once.
type startup struct {
	mu   sync.Mutex
	left map[string]bool
	done bool
}

// expect sets the Services to wait for; true if there are none.
func (s *startup) expect(keys []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = map[string]bool{}
	for _, k := range keys {
		s.left[k] = true
	}
	s.done = len(keys) == 0
	return s.done
}

// planned marks one Service; true exactly once, when it was the last.
func (s *startup) planned(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.left, key)
	if s.done || len(s.left) > 0 {
		return false
	}
	s.done = true
	return true
}
