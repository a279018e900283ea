package plugin

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/service/inputs"
)

// followed is what the cloud watches besides Services and nodes. The stock loop does not
// watch it, so a change of it is a call of our own. For a cloud that needs nothing else
// it is empty, and nothing is watched.
type followed struct {
	endpoints  *inputs.Endpoints
	namespaces *inputs.Namespaces
}

// follow watches what the cloud looks at and the stock loop does not. Pods have an informer
// of their own: of each it keeps less than the rest of the program may need.
func (c *Cloud) follow(cluster string, o *opened) (err error) {
	if !o.WantsEndpoints() && !o.WantsNamespaceLabels() {
		return nil
	}
	from := inputs.Sources{Factory: c.view.factory, Pods: informers.NewSharedInformerFactory(c.client, 0), Whole: true}
	f := c.view.startFollower(c.stop, func(ctx context.Context, svc *corev1.Service) error {
		return c.balancers.UpdateLoadBalancer(ctx, cluster, svc, nil)
	})
	if o.WantsEndpoints() {
		changed := func(key string) {
			f.wake(key)
			f.wakeReferring(o, key)
		}
		if o.followed.endpoints, err = inputs.WatchEndpoints(from, inputs.Watch{Changed: changed, OwnPods: c.options.OwnPods}); err != nil {
			return err
		}
		if err := f.watchServices(o); err != nil {
			return err
		}
	}
	if o.WantsNamespaceLabels() {
		if o.followed.namespaces, err = inputs.WatchNamespaces(from, f.wakeAll); err != nil {
			return err
		}
	}
	from.Factory.Start(c.stop)
	from.Pods.Start(c.stop)
	return nil
}

// around is what a Service's load balancer follows from besides the Service.
type around struct {
	slices    []*discoveryv1.EndpointSlice
	unmatched []netip.Addr
	labels    map[string]string
}

// around returns what there is now. It waits for the first lists: without them a Service
// would seem to have no pods, or its namespace no labels. It fails when the patience is
// over before, and for a namespace that is not known.
func (o *opened) around(ctx context.Context, svc *corev1.Service) (around, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), append(o.followed.endpoints.Synced(), o.followed.namespaces.Synced()...)...) {
		return around{}, fmt.Errorf("endpoint slices and namespaces: %w", ctx.Err())
	}
	var out around
	var err error
	out.slices, out.unmatched = o.followed.endpoints.Of(svc)
	out.labels, err = o.followed.namespaces.Of(svc)
	return out, err
}

// wakeAll looks at the Services of a namespace soon.
func (f *follower) wakeAll(namespace string) {
	all, _ := f.view.services.Services(namespace).List(labels.Everything()) // a lister of a running informer does not fail
	for _, svc := range all {
		f.wake(svc.Namespace + "/" + svc.Name)
	}
}
