package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/api"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// patience is how long a call waits for the cloud before it asks to be called
// again: the stock loop gives every waiting Service a worker.
const patience = 20 * time.Second

// balancers implements cloudprovider.LoadBalancer.
type balancers struct {
	cloud *Cloud

	mu    sync.Mutex
	locks map[string]*sync.Mutex // by UID: the stock loop may update and ensure one Service at the same time
}

func (b *balancers) lock(svc *corev1.Service) func() {
	b.mu.Lock()
	l, ok := b.locks[string(svc.UID)]
	if !ok {
		l = &sync.Mutex{}
		b.locks[string(svc.UID)] = l
	}
	b.mu.Unlock()
	l.Lock()
	return l.Unlock
}

func (b *balancers) forget(svc *corev1.Service) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.locks, string(svc.UID))
}

// GetLoadBalancerName implements cloudprovider.LoadBalancer.
func (*balancers) GetLoadBalancerName(_ context.Context, _ string, svc *corev1.Service) string {
	return cloudprovider.DefaultLoadBalancerName(svc)
}

// GetLoadBalancer implements cloudprovider.LoadBalancer. It exists as long as
// any part is left, since the stock loop does not delete what does not exist.
func (b *balancers) GetLoadBalancer(ctx context.Context, cluster string, svc *corev1.Service) (*corev1.LoadBalancerStatus, bool, error) {
	r, err := b.cloud.reconciler(ctx, cluster)
	if err != nil {
		return nil, false, err
	}
	exists, err := r.Exists(ctx, reconcile.OwnerOf(svc))
	return svc.Status.LoadBalancer.DeepCopy(), exists, err
}

// EnsureLoadBalancer implements cloudprovider.LoadBalancer. The nodes of the
// call are not looked at: those of the informer are newer.
func (b *balancers) EnsureLoadBalancer(ctx context.Context, cluster string, svc *corev1.Service, _ []*corev1.Node) (*corev1.LoadBalancerStatus, error) {
	r, err := b.prepare(ctx, cluster)
	if err != nil {
		return nil, err
	}
	svc, _ = b.cloud.view.newest(svc)
	if r.Choose(svc).Elsewhere != "" {
		return nil, cloudprovider.ImplementedElsewhere // compared by ==, so it is never wrapped
	}
	defer b.lock(svc)()
	res, err := b.drive(ctx, r, reconcile.Job{Service: svc})
	if err != nil {
		return nil, err
	}
	if !res.Clean {
		return nil, api.NewRetryError("the cloud is still busy with the load balancer", max(res.Wait, time.Second))
	}
	clean, err := res.Status.Clean()
	return &corev1.LoadBalancerStatus{Ingress: clean.Ingress}, err
}

// UpdateLoadBalancer implements cloudprovider.LoadBalancer: the same work, for
// the Service as it is now. One that is gone, or on its way out, is not made anew.
func (b *balancers) UpdateLoadBalancer(ctx context.Context, cluster string, svc *corev1.Service, _ []*corev1.Node) error {
	r, err := b.prepare(ctx, cluster)
	if err != nil {
		return err
	}
	defer b.lock(svc)()
	now, there := b.cloud.view.newest(svc)
	if !there || now.DeletionTimestamp != nil || now.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return nil
	}
	if r.Choose(now).Elsewhere != "" {
		return cloudprovider.ImplementedElsewhere
	}
	_, err = b.drive(ctx, r, reconcile.Job{Service: now})
	return err
}

// EnsureLoadBalancerDeleted implements cloudprovider.LoadBalancer.
func (b *balancers) EnsureLoadBalancerDeleted(ctx context.Context, cluster string, svc *corev1.Service) error {
	r, err := b.prepare(ctx, cluster)
	if err != nil {
		return err
	}
	defer b.lock(svc)()
	res, err := b.drive(ctx, r, reconcile.Job{Service: svc, Release: true})
	if err != nil {
		return err
	}
	if !res.Released {
		return errors.New("the cloud has not let everything go yet")
	}
	b.forget(svc)
	return nil
}

func (b *balancers) prepare(ctx context.Context, cluster string) (*reconcile.Reconciler, error) {
	r, err := b.cloud.reconciler(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return r, b.cloud.view.freshen(r)
}

// drive works on a Service until it is as wanted, something fails, or the
// patience is over.
func (b *balancers) drive(ctx context.Context, r *reconcile.Reconciler, job reconcile.Job) (reconcile.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for try := 0; ; try++ {
		draft, err := r.Draft(ctx, job)
		if err != nil {
			return reconcile.Result{}, err
		}
		if err := b.known(r, job.Service); err != nil {
			return reconcile.Result{}, err
		}
		res := r.Run(ctx, draft, openGates)
		if err := problem(res); err != nil {
			return res, err
		}
		if res.Clean || res.Released || !rest(ctx, res, try) {
			return res, nil
		}
	}
}

// known lets shared things go once every Service has been planned.
func (b *balancers) known(r *reconcile.Reconciler, svc *corev1.Service) error {
	all, err := b.cloud.view.planned(svc)
	if err == nil && all {
		r.AllKnown()
	}
	return err
}

// openGates: under the stock loop nobody could say when the switch was seen.
func openGates(plan.Gate) time.Duration { return 0 }

// problem is what the stock loop is to tell the user.
func problem(res reconcile.Result) error {
	switch {
	case res.Err != nil:
		return res.Err
	case res.Draft.Problems.Errors():
		return res.Draft.Problems.Err()
	case len(res.Draft.Plan.Held) > 0 && !res.Waits:
		var text []string
		for _, h := range res.Draft.Plan.Held {
			text = append(text, h.Step.ID.String()+": "+h.Why)
		}
		return fmt.Errorf("held: %s", status.EventMessage(strings.Join(text, "; ")))
	}
	return nil
}

// rest waits before the next look; false when the patience is over before.
func rest(ctx context.Context, res reconcile.Result, try int) bool {
	wait := res.Wait
	if res.Again || wait <= 0 {
		wait = min(10*time.Millisecond<<min(try, 10), 5*time.Second)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
