package offline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack/plan"
)

// Browser reads cluster and cloud for a page that asks often. It keeps each answer for a while.
type Browser struct {
	in      Input
	judge   func() Judge
	fleet   recent[view.Fleet]
	reading recent[*Reading]
}

// NewBrowser returns a browser of the Services of an input. Judge returns the setup of the
// controller and the present time. An answer is kept for the time of cluster if only the cluster was read for it,
// else for the time of cloud.
func NewBrowser(in Input, judge func() Judge, cluster, cloud time.Duration) *Browser {
	return &Browser{in: in, judge: judge, fleet: recent[view.Fleet]{limit: cluster}, reading: recent[*Reading]{limit: cloud}}
}

// Fleet returns the state of every Service according to the cluster.
func (b *Browser) Fleet(ctx context.Context) (view.Fleet, error) {
	return b.fleet.get(b.judge, func(j Judge) (view.Fleet, error) { return ReadFleet(ctx, b.in, j) })
}

func (b *Browser) read(ctx context.Context) (*Reading, error) {
	return b.reading.get(b.judge, func(j Judge) (*Reading, error) { return Read(ctx, b.in, j) })
}

// Planned returns the same with the kind of each load balancer and the impact of each plan.
func (b *Browser) Planned(ctx context.Context) (view.Fleet, error) {
	r, err := b.read(ctx)
	if err != nil {
		return view.Fleet{}, err
	}
	return r.Fleet(), nil
}

// Service returns one Service with all details; without a cloud its state according to the cluster.
func (b *Browser) Service(ctx context.Context, namespace, name string) (view.Service, error) {
	r, err := b.read(ctx)
	if errors.Is(err, ErrNoCloud) {
		return b.inCluster(ctx, namespace, name)
	}
	if err != nil {
		return view.Service{}, err
	}
	return r.Service(ctx, namespace, name)
}

func (b *Browser) inCluster(ctx context.Context, namespace, name string) (view.Service, error) {
	fleet, err := b.Fleet(ctx)
	if err != nil {
		return view.Service{}, err
	}
	for _, one := range fleet.Services {
		if one.Owner.Namespace == namespace && one.Owner.Name == name {
			return one, nil
		}
	}
	return view.Service{}, fmt.Errorf("service %s/%s: %w", namespace, name, view.ErrNotFound)
}

// Plan returns the plan of all Services.
func (b *Browser) Plan(ctx context.Context) (plan.Document, error) {
	r, err := b.read(ctx)
	if err != nil {
		return plan.Document{}, err
	}
	return r.Plan(), nil
}

// Shared returns the resources that several Services may use.
func (b *Browser) Shared(ctx context.Context) (view.Shared, error) {
	r, err := b.read(ctx)
	if err != nil {
		return view.Shared{}, err
	}
	return r.Shared(), nil
}

// recent is a value that is read again when it is older than a limit. One caller reads at a time.
type recent[T any] struct {
	limit time.Duration
	lock  sync.Mutex
	value T
	at    time.Time
}

func (r *recent[T]) get(judge func() Judge, read func(Judge) (T, error)) (T, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	j := judge()
	if !r.at.IsZero() && j.Now.Sub(r.at) < r.limit {
		return r.value, nil
	}
	value, err := read(j)
	if err == nil {
		r.value, r.at = value, j.Now
	}
	return value, err
}
