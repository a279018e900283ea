package plugin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
)

// opened is a cloud that was opened for a cluster, with everything that a call needs.
type opened struct {
	*reconcile.Reconciler
	view      *view
	teller    *teller
	admission *service.Admission
	followed  followed
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
	bound, problems, err := c.entry.Open(ctx, file, providers.Env{Cluster: cluster, UserAgent: "berth", Now: time.Now, ClusterIDs: c.clusterIDs(), Notes: service.NewNotes(c.client), Pods: service.ListPods(c.client), Tokens: service.AccountTokens(c.client), Share: c.share})
	for _, p := range problems {
		klog.FromContext(ctx).Info("cloud configuration", "problem", p.String())
	}
	if err != nil {
		return nil, err
	}
	o := &opened{view: c.view, teller: c.teller}
	if o.admission, err = service.NewAdmission(c.options.PolicyConfig, c.options.AllowedNamespaces, bound); err != nil {
		return nil, err
	}
	o.admission.Beside(c.view.in)
	o.Reconciler = reconcile.New(bound, reconcile.Options{Admit: o.admission.Judge})
	if err := c.follow(cluster, o); err != nil {
		return nil, err
	}
	c.open[cluster] = o
	return o, nil
}
