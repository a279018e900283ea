package plugin

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service"
)

// balancers implements cloudprovider.LoadBalancer.
type balancers struct {
	cloud *Cloud

	mu    sync.Mutex
	locks map[string]*lock // by UID: the stock loop may update and ensure one Service at the same time
}

// lock serializes the work on one Service. It exists as long as a caller holds it or
// waits for it.
type lock struct {
	sync.Mutex
	users int // under the mutex of the balancers
}

// lock waits until no other call works on the Service, and returns the unlock function.
func (b *balancers) lock(svc *corev1.Service) func() {
	uid := string(svc.UID)
	b.mu.Lock()
	l, ok := b.locks[uid]
	if !ok {
		l = &lock{}
		b.locks[uid] = l
	}
	l.users++
	b.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		b.mu.Lock()
		defer b.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(b.locks, uid)
		}
	}
}

// GetLoadBalancerName implements cloudprovider.LoadBalancer.
func (*balancers) GetLoadBalancerName(_ context.Context, _ string, svc *corev1.Service) string {
	return cloudprovider.DefaultLoadBalancerName(svc)
}

// GetLoadBalancer implements cloudprovider.LoadBalancer. It exists as long as
// any part is left, in the cloud or on the Service, since the stock loop does not
// delete what does not exist.
func (b *balancers) GetLoadBalancer(ctx context.Context, cluster string, svc *corev1.Service) (*corev1.LoadBalancerStatus, bool, error) {
	o, err := b.cloud.opened(ctx, cluster)
	if err != nil {
		return nil, false, err
	}
	now, _ := o.view.newest(svc)
	if leftOn(now, o.Outputs()) {
		return svc.Status.LoadBalancer.DeepCopy(), true, nil
	}
	exists, err := o.Exists(ctx, svc)
	return svc.Status.LoadBalancer.DeepCopy(), exists, err
}

// EnsureLoadBalancer implements cloudprovider.LoadBalancer. The nodes of the
// call are not looked at: those of the informer are newer.
func (b *balancers) EnsureLoadBalancer(ctx context.Context, cluster string, svc *corev1.Service, _ []*corev1.Node) (*corev1.LoadBalancerStatus, error) {
	o, err := b.prepare(ctx, cluster)
	if err != nil {
		return nil, err
	}
	defer b.lock(svc)()
	svc, there := o.view.newest(svc)
	if there && !isServed(svc) {
		// It has become another type meanwhile, or is being deleted, and the stock loop is
		// about to receive the event. This result makes it do nothing until then.
		return nil, cloudprovider.ImplementedElsewhere
	}
	ctx = kit.WithTurn(ctx, kit.Turn{Urgency: kit.User})
	if err := o.leave(ctx, svc); err != nil {
		return nil, err
	}
	res, err := o.serve(ctx, svc)
	if err != nil {
		return nil, err
	}
	clean, err := res.Status.Clean()
	return &corev1.LoadBalancerStatus{Ingress: clean.Ingress}, err
}

// UpdateLoadBalancer implements cloudprovider.LoadBalancer: the same work, for
// the present Service. Nothing is recreated for a deleted or terminating Service.
func (b *balancers) UpdateLoadBalancer(ctx context.Context, cluster string, svc *corev1.Service, _ []*corev1.Node) error {
	o, err := b.prepare(ctx, cluster)
	if err != nil {
		return err
	}
	defer b.lock(svc)()
	now, there := o.view.newest(svc)
	if !there || !isServed(now) {
		return nil
	}
	ctx = kit.WithTurn(ctx, kit.Turn{Urgency: kit.Nodes})
	if err := o.leave(ctx, now); err != nil {
		return err
	}
	_, err = o.serve(ctx, now)
	return err
}

// EnsureLoadBalancerDeleted implements cloudprovider.LoadBalancer.
func (b *balancers) EnsureLoadBalancerDeleted(ctx context.Context, cluster string, svc *corev1.Service) error {
	o, err := b.prepare(ctx, cluster)
	if err != nil {
		return err
	}
	defer b.lock(svc)()
	return o.release(kit.WithTurn(ctx, kit.Turn{Urgency: kit.User}), svc)
}

func (b *balancers) prepare(ctx context.Context, cluster string) (*opened, error) {
	o, err := b.cloud.opened(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if _, err := o.admission.Renew(); err != nil {
		klog.FromContext(ctx).Error(err, "the policy before stays in force")
	}
	return o, o.view.freshen(o.Reconciler)
}

// leave returns ImplementedElsewhere for a Service of another controller, and nil for
// ours. If the user has moved it from us, its resources are deleted first.
func (o *opened) leave(ctx context.Context, svc *corev1.Service) error {
	why := o.Choose(svc).Elsewhere
	if why == "" {
		return nil
	}
	if _, ours := service.RecordOf(svc); ours {
		if err := o.release(ctx, svc); err != nil {
			return fmt.Errorf("leave it to another controller: %w", err)
		}
	}
	o.teller.elsewhere(svc, why)
	return cloudprovider.ImplementedElsewhere // compared by ==, so it is never wrapped
}
