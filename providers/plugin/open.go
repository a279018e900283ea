package plugin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
)

// opened is a cloud that was opened for a cluster, with all that a call needs.
type opened struct {
	*reconcile.Reconciler
	view      *view
	teller    *teller
	admission *admission
	endpoints *endpoints
	// namespaces are looked at where their labels decide.
	namespaces *namespaces
}

// opened opens the cloud for a cluster, once.
func (c *Cloud) opened(ctx context.Context, cluster string) (*opened, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view == nil || c.client == nil {
		return nil, fmt.Errorf("%s: the program has not initialized the cloud, or has not given its informers", c.entry.Name)
	}
	if o, ok := c.open[cluster]; ok {
		return o, nil
	}
	var file io.Reader
	if c.config != nil {
		file = bytes.NewReader(c.config)
	}
	bound, problems, err := c.entry.Open(ctx, file, providers.Env{Cluster: cluster, UserAgent: "berth", Now: time.Now, ClusterIDs: c.clusterIDs(), Notes: service.NewNotes(c.client), Pods: service.ListPods(c.client), Share: c.share})
	for _, p := range problems {
		klog.FromContext(ctx).Info("cloud configuration", "problem", p.String())
	}
	if err != nil {
		return nil, err
	}
	o := &opened{view: c.view, teller: c.teller}
	if o.admission, err = newAdmission(c.options, bound, c.view); err != nil {
		return nil, err
	}
	o.Reconciler = reconcile.New(bound, reconcile.Options{Admit: o.admission.judge})
	if err := c.follow(cluster, o); err != nil {
		return nil, err
	}
	c.open[cluster] = o
	return o, nil
}

// follow watches what the cloud looks at and the stock loop does not.
func (c *Cloud) follow(cluster string, o *opened) (err error) {
	if !o.WantsEndpoints() && !o.WantsNamespaceLabels() {
		return nil
	}
	f := c.view.startFollower(c.stop, func(ctx context.Context, svc *corev1.Service) error {
		return c.balancers.UpdateLoadBalancer(ctx, cluster, svc, nil)
	})
	if o.WantsEndpoints() {
		if o.endpoints, err = c.view.watchEndpoints(c.stop, f); err != nil {
			return err
		}
		if c.options.OwnPods {
			if o.endpoints.pods, err = watchPods(c.client, c.stop, o.endpoints.wakeAt); err != nil {
				return err
			}
		}
	}
	if o.WantsNamespaceLabels() {
		o.namespaces, err = c.view.watchNamespaces(c.stop, f)
	}
	return err
}

// admission says what Services may ask for. The stock loop gives no time at which
// to look at the policy file, so it is looked at when a Service is.
type admission struct {
	options Options
	cloud   providers.Bound
	view    *view

	mu      sync.Mutex
	body    []byte
	current *service.Admission
}

func newAdmission(o Options, cloud providers.Bound, v *view) (*admission, error) {
	a := &admission{options: o, cloud: cloud, view: v}
	if err := a.renew(); err != nil {
		return nil, err
	}
	return a, nil
}

// renew takes the policy file over if it has changed. A file that cannot be read
// or understood leaves what was in force before.
func (a *admission) renew() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var body []byte
	if a.options.PolicyConfig != "" {
		var err error
		if body, err = os.ReadFile(a.options.PolicyConfig); err != nil {
			return fmt.Errorf("policy: %w", err)
		}
	}
	if a.current != nil && bytes.Equal(body, a.body) {
		return nil
	}
	a.body = body // also of a bad file, which is told once
	next, err := service.NewAdmission(a.options.PolicyConfig, a.options.AllowedNamespaces, a.cloud)
	if err != nil {
		return err
	}
	next.Beside(a.view.in)
	a.current = next
	return nil
}

func (a *admission) judge(svc *corev1.Service, reach providers.Reach) annotations.Problems {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current.Judge(svc, reach)
}
