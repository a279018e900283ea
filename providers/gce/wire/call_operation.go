package wire

import (
	"context"
	"strings"
	"sync"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/uuid"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

const (
	// waitLimit bounds one call that waits for an operation. The cloud answers it
	// after two minutes at the latest, done or not.
	// Source: Compute Engine API reference, regionOperations.wait.
	waitLimit = 150 * time.Second
	// operationLimit is how long an operation is waited for at all.
	// Source: GoogleCloudPlatform/k8s-cloud-provider:pkg/cloud/gce_projects.go (deadline of a call).
	operationLimit = time.Hour
	// unfinishedDelay is when to check again what became of an operation that was not waited
	// for to its end.
	unfinishedDelay = 5 * time.Second
	// notReadyLimit is how long a call is repeated that is refused because another
	// operation works on what it needs, which is not one of this process. After that
	// the whole step is tried again later.
	notReadyLimit = 30 * time.Second
)

// handle is where an operation is found.
type handle struct{ project, region, zone, name string }

// isLocal returns whether the operation is in a region or a zone.
func (h handle) isLocal() bool { return h.zone != "" || h.region != "" }

// writes is a writing method of any of the library's clients.
type writes[R any] func(context.Context, *R, ...gax.CallOption) (*compute.Operation, error)

// message is a request of the library.
type message[R any] interface {
	*R
	proto.Message
}

// writeAndWait sends a write call and waits until its operation has ended, however long
// that takes. Errors are faults; Ambiguous if the call may have taken effect without an
// answer, and *unfinished if ctx ended before its operation did.
func writeAndWait[R any, M message[R]](ctx context.Context, s *Session, call writes[R], request M) error {
	err := s.send(ctx, func(ctx context.Context) (*computepb.Operation, error) {
		s.place(request)
		// A request that arrives twice is one for the cloud.
		r := request.ProtoReflect()
		r.Set(r.Descriptor().Fields().ByName("request_id"), protoreflect.ValueOfString(uuid.NewString()))
		op, err := call(ctx, request, gax.WithTimeout(0)) // the limits bound it
		if err != nil {
			return nil, err
		}
		return op.Proto(), nil
	})
	if strings.HasPrefix(string(request.ProtoReflect().Descriptor().Name()), "Insert") {
		return ofCreation(err)
	}
	return err
}

// send sends a call of any library and waits for its operation. What is refused because
// something it needs is not ready had no effect, and is sent again.
func (s *Session) send(ctx context.Context, call func(context.Context) (*computepb.Operation, error)) error {
	waitCtx, cancel := context.WithTimeout(ctx, notReadyLimit)
	defer cancel()
	pause := gax.Backoff{Initial: notReadyDelay, Max: 4 * notReadyDelay, Multiplier: 2}
	for {
		var op *computepb.Operation
		way, err := kit.Write(ctx, func(ctx context.Context) (err error) {
			op, err = call(ctx)
			return err
		})
		if err = faultOf(err, way); err == nil {
			err = s.await(ctx, op)
		}
		if !fault.Is(err, fault.Pending) || gax.Sleep(waitCtx, pause.Pause()) != nil {
			return err
		}
	}
}

// await waits on an operation, which costs the cloud less than asking it again
// and again. A wait that ends early, or without an answer, is repeated. Where waits
// have used up their rate, which in regions and zones they share with all heavy reads,
// the operation is asked for its state once, at the rate of its own group: many have
// ended by then.
func (s *Session) await(ctx context.Context, op *computepb.Operation) error {
	if op.GetStatus() == computepb.Operation_DONE {
		return faultOfOperation(op)
	}
	at := handleOf(op, s.config.Project)
	end := s.open.begin(model.ProjectPathOf(op.GetTargetLink()))
	defer end()
	wait := kit.Wait{First: 50 * time.Millisecond, Longest: 10 * time.Second, Patience: operationLimit, Now: s.now}
	asked := false
	err := wait.Until(ctx, "operation "+at.name, func(ctx context.Context) (kit.State, error) {
		look := s.waitOn
		if !asked && at.isLocal() && !s.waits.Free(ctx, groupHeavy) {
			look = s.stateOf
		}
		asked = true
		now, err := look(ctx, at)
		if err == nil {
			op = now
		}
		return kit.State{Done: op.GetStatus() == computepb.Operation_DONE}, err
	})
	switch {
	case err == nil:
		return faultOfOperation(op)
	case kit.IsOver(err):
		return &kit.UnendedError{What: "operation " + at.name, Again: unfinishedDelay}
	}
	// The operation is somewhere; what became of it only a read can tell.
	return &fault.Fault{Meaning: fault.Ambiguous, Text: "operation " + at.name + ": its end cannot be read", Err: err}
}

func (s *Session) waitOn(ctx context.Context, at handle) (*computepb.Operation, error) {
	switch {
	case at.zone != "":
		return askOnce(ctx, s.operationAPI.zone.Wait, &computepb.WaitZoneOperationRequest{Project: at.project, Zone: at.zone, Operation: at.name})
	case at.region != "":
		return askOnce(ctx, s.operationAPI.region.Wait, &computepb.WaitRegionOperationRequest{Project: at.project, Region: at.region, Operation: at.name})
	default:
		return askOnce(ctx, s.operationAPI.global.Wait, &computepb.WaitGlobalOperationRequest{Project: at.project, Operation: at.name})
	}
}

// stateOf returns an operation in a region or a zone as it is now.
func (s *Session) stateOf(ctx context.Context, at handle) (*computepb.Operation, error) {
	if at.zone != "" {
		return askOnce(ctx, s.operationAPI.zone.Get, &computepb.GetZoneOperationRequest{Project: at.project, Zone: at.zone, Operation: at.name})
	}
	return askOnce(ctx, s.operationAPI.region.Get, &computepb.GetRegionOperationRequest{Project: at.project, Region: at.region, Operation: at.name})
}

// askOnce sends a call without retries, for waits that are repeated anyway.
func askOnce[R, A any](ctx context.Context, call method[R, A], request *R) (*A, error) {
	out, err := call(ctx, request, gax.WithTimeout(0))
	return out, faultOf(err, kit.Reading)
}

// handleOf reads project and scope out of an operation's own link.
func handleOf(op *computepb.Operation, project string) handle {
	at := handle{project: project, name: op.GetName(), region: model.LastOf(op.GetRegion()), zone: model.LastOf(op.GetZone())}
	if own := projectOf(op.GetSelfLink()); own != "" {
		at.project = own
	}
	return at
}

// openOperations are those of this process that have not ended, by the path of
// what they change, with its project. It is safe for concurrent use.
type openOperations struct {
	mu sync.Mutex
	on map[string]map[chan struct{}]bool
}

func newOpenOperations() *openOperations {
	return &openOperations{on: map[string]map[chan struct{}]bool{}}
}

// begin notes an operation until end is called.
func (o *openOperations) begin(path string) (end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	done := make(chan struct{})
	if o.on[path] == nil {
		o.on[path] = map[chan struct{}]bool{}
	}
	o.on[path][done] = true
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		close(done)
		delete(o.on[path], done)
		if len(o.on[path]) == 0 {
			delete(o.on, path)
		}
	}
}

// waitFor returns when no operation on the paths is open that was when it was
// called, or when ctx ends.
func (o *openOperations) waitFor(ctx context.Context, paths []string) {
	o.mu.Lock()
	var all []chan struct{}
	for _, p := range paths {
		for done := range o.on[p] {
			all = append(all, done)
		}
	}
	o.mu.Unlock()
	for _, done := range all {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// awaitNeeds waits for the operations on what the change writes and refers to.
// Others may have begun them, and what they make is seen in lists before it can be
// used.
func (c *change) awaitNeeds() {
	var paths []string
	add := func(id string) {
		if id != "" {
			paths = append(paths, model.ProjectPathOf(c.urlOf(id)))
		}
	}
	for _, i := range c.Same {
		step := c.Batch.Steps[i]
		add(step.Target.ID)
		add(c.Batch.ID(step, stack.RefTo(step.Target.Key)))
		if step.ID.Action == plan.Delete {
			continue
		}
		for _, ref := range stack.Refs(step.Target.Spec) {
			add(c.Batch.ID(step, ref))
		}
	}
	c.open.waitFor(c.Ctx, paths)
}
