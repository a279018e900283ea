package service

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/metrics"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
)

// Options say how the controller runs.
type Options struct {
	Classes Classes
	// Workers is how many Services are worked on at a time; default 512. They are
	// light: what limits the calls is the cloud's own rate, not this number, and
	// Services that are worked on together share their reads.
	Workers int
	// Admission is watched for changes; nil: nothing is refused. The reconciler asks
	// it.
	Admission *Admission
	Watchers  Watchers
	Clock     clock.WithTicker // default: the real one
}

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
	endpoints  *endpointView
	namespaces *namespaceView
	seen       *memory
	start      startup
	nodeStore  corelisters.NodeLister
}

// New makes a controller on a shared informer factory that is not started yet.
func New(client kubernetes.Interface, factory informers.SharedInformerFactory, r *reconcile.Reconciler, recorder record.EventRecorder, o Options) (*Controller, error) {
	if o.Workers <= 0 {
		o.Workers = 512
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	c := &Controller{
		options: o, client: client, reconciler: r, recorder: recorder,
		services: factory.Core().V1().Services().Lister(), nodeStore: factory.Core().V1().Nodes().Lister(),
		queue: newQueue(o.Clock, o.Watchers.Metrics.Waited), seen: newMemory(),
	}
	c.nodes = newNodeView(o.Clock, c.nodesChanged)
	if err := c.watch(factory); err != nil {
		return nil, err
	}
	if r.WantsEndpoints() {
		if err := c.watchEndpoints(factory); err != nil {
			return nil, err
		}
	}
	if r.WantsNamespaceLabels() {
		if err := c.watchNamespaces(factory); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// watch registers the handlers. Informers keep only what the loop looks at.
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
			if !initial { // those of the start are queued together, see Run
				c.enqueue(obj)
			}
		},
		UpdateFunc: func(_, obj any) { c.enqueue(obj) },
		DeleteFunc: func(obj any) { c.enqueue(obj) },
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
	defer c.queue.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return fmt.Errorf("caches: %w", context.Cause(ctx))
	}
	c.options.Watchers.Health.Synced(c.queue.order.oldest)
	c.options.Watchers.Metrics.Watch(metrics.Sources{Queue: c.queue.order.depth, Services: c.watched})
	c.reconciler.SetNodes(c.nodes.all())
	first, err := c.begin()
	if err != nil {
		return err
	}
	log.Info("service loop is running", logkey.Workers, c.options.Workers)
	var workers sync.WaitGroup
	for range c.options.Workers {
		workers.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	for range first - c.options.Workers { // so that what the start looks at is looked up together
		workers.Go(func() { c.next(ctx) })
	}
	workers.Go(func() { c.options.Admission.watch(ctx, c.options.Clock, c.policyChanged) })
	<-ctx.Done()
	c.queue.ShutDown()
	workers.Wait()
	log.Info("service loop has stopped")
	return nil
}

// begin queues every Service that is there, and says how many are served.
func (c *Controller) begin() (int, error) {
	all, err := c.services.List(everything)
	if err != nil {
		return 0, fmt.Errorf("services: %w", err)
	}
	var keys []string
	for _, svc := range all {
		switch c.options.Classes.Claim(svc) {
		case Served:
			keys = append(keys, svc.Namespace+"/"+svc.Name)
		case Disowned: // its load balancer stays, with all that is shared
			c.reconciler.Shadow(reconcile.OwnerOf(svc))
		case Ignored, Released: // want nothing from us
		}
		c.queue.AddBy(svc.Namespace+"/"+svc.Name, byDrift)
	}
	if c.start.expect(keys) {
		c.allKnown()
	}
	return len(keys), nil
}

// allKnown lets shared entries be removed: what every Service wants is known.
func (c *Controller) allKnown() {
	c.reconciler.AllKnown()
	c.options.Watchers.Health.Primed()
}

func (c *Controller) next(ctx context.Context) bool {
	key, quit := c.queue.Get()
	if quit {
		return false
	}
	defer c.queue.Done(key)
	defer c.options.Watchers.Health.Begin(key)()
	c.handle(ctx, key)
	return true
}

func (c *Controller) enqueue(obj any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		c.queue.AddBy(key, byUser)
	}
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

// nodesChanged looks at every Service; those whose backends are as before cost
// a comparison of digests and nothing else.
func (c *Controller) nodesChanged(nodes []nodeports.Node) {
	c.reconciler.SetNodes(nodes)
	for _, key := range c.seen.keys() {
		c.queue.AddBy(key, byNodes)
	}
}

// startup counts the Services of the start until each has been planned once.
type startup struct {
	mu   sync.Mutex
	left map[string]bool
	done bool
}

// expect sets whom to wait for; true if that is nobody.
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

// planned ticks off one Service; true exactly once, when it was the last.
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

// memory is what the loop remembers of each Service besides its snapshot.
type memory struct {
	mu  sync.Mutex
	all map[string]remembered
}

type remembered struct {
	owner stack.Owner
	said  map[string]bool // events that were told and still hold
	waits int             // how often in a row it waited
	since time.Time       // of the first of these
}

func newMemory() *memory { return &memory{all: map[string]remembered{}} }

func (m *memory) get(key string) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[key]
}

func (m *memory) put(key string, r remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[key] = r
}

func (m *memory) knows(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.all[key]
	return ok
}

func (m *memory) drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}

func (m *memory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]string, 0, len(m.all))
	for k := range m.all {
		out = append(out, k)
	}
	return out
}
