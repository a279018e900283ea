package explore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
)

// process is one life of the controller.
type process struct {
	id     int
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	ended bool
	late  bool // what it had under way when it ended takes effect all the same

	// sleep, while the process sleeps; closed when it wakes.
	sleep   chan struct{}
	slept   time.Time // when it fell asleep last
	deposed bool      // its Lease is over, and another process leads
}

func (p *process) label() string { return "p" + strconv.Itoa(p.id) }

// over reports whether the process has ended, so that it sends no new requests.
func (p *process) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// effect is what becomes of a request of a process that may have ended meanwhile.
func (p *process) effect(d Deviation) Deviation {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case d.Kind == Late:
		return Deviation{Kind: Unanswered}
	case p.ended && p.late && (d.Kind == Usual || d.Kind == Slow || d.Kind == Last):
		return Deviation{Kind: Unanswered}
	case p.ended:
		return Deviation{Kind: Lost}
	}
	return d
}

// end ends the process: nothing of it takes effect any more.
func (p *process) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.wake()
	p.cancel()
}

// depose ends the process but for what it has under way.
func (p *process) depose() {
	p.mu.Lock()
	p.late = true
	p.mu.Unlock()
	p.end()
}

// begin starts a process.
func (w *world) begin(ctx context.Context) {
	w.mu.Lock()
	p := &process{id: len(w.processes) + 1, began: time.Now(), done: make(chan struct{})}
	w.processes = append(w.processes, p)
	w.mu.Unlock()
	ctx, p.cancel = context.WithCancel(klog.NewContext(ctx, w.log))
	client, url := client{w: w, p: p}, fmt.Sprintf("http://%s-cloud.%s", p.label(), w.name)
	go func() {
		defer close(p.done)
		w.live(ctx, client, url)
	}()
}

// restart is how long it takes until a process that could not begin begins again.
const restart = 5 * time.Second

// live runs the controller until the context ends.
func (w *world) live(ctx context.Context, client client, url string) {
	fence := fence{client.p, ctx}
	o := reconcile.Options{Now: time.Now, Policies: w.policies, Lateness: reconcile.LeaderLateness, Fence: fence}
	if w.noLateWait {
		o.Lateness = 0
	}
	if w.unfenced {
		o.Fence = nil
	}
	for ctx.Err() == nil {
		bound, err := w.subject.Open(ctx, url)
		if err != nil {
			select {
			case <-time.After(restart):
			case <-ctx.Done():
			}
			continue
		}
		factory := informers.NewSharedInformerFactory(client, 0)
		of := service.Options{Classes: service.Classes{Default: true, Names: w.subject.Classes}, Fence: o.Fence}
		if w.settings != nil {
			w.settings(bound, &o, &of)
		}
		loop, err := service.New(client, factory, reconcile.New(bound, o), w.recorder, of)
		if err != nil {
			panic(err) // the informers are this function's
		}
		factory.Start(ctx.Done())
		if err := loop.Run(ctx); err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
			panic(err)
		}
		factory.Shutdown()
	}
}
