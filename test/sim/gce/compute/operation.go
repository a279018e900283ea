package compute

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// keptOperations bounds how many operations are remembered.
const keptOperations = 20000

// operation is one change on its way. It is not changed once it is kept.
type operation struct {
	ref      wire.Ref
	doc      wire.Object
	begin    time.Time
	duration time.Duration
	failure  *wire.Error
}

type operations struct {
	byPath map[string]*operation
	order  []string
	// byRequest finds the operation of an earlier call with the same request id.
	byRequest map[string]*operation
}

func newOperations() operations {
	return operations{byPath: map[string]*operation{}, byRequest: map[string]*operation{}}
}

func (o *operations) keep(op *operation, request string) {
	path := op.ref.Path()
	o.byPath[path] = op
	o.order = append(o.order, path)
	if request != "" {
		o.byRequest[request] = op
	}
	if len(o.order) > keptOperations {
		delete(o.byPath, o.order[0])
		o.order = o.order[1:]
	}
}

// mutate applies a change and returns its operation. A call with a known request id gets the
// operation of the first one.
func (c *call) mutate() *wire.Answer {
	request := ""
	if id := c.Query.Get("requestId"); id != "" {
		if parsed, err := uuid.Parse(id); err != nil || parsed == uuid.Nil {
			return wire.Refuse(wire.Invalid("requestId", id, "Must be a valid UUID, and not the zero one."))
		}
		request = c.project() + " " + id
		if op := c.api.ops.byRequest[request]; op != nil {
			return wire.OK(op.at(c.Now))
		}
	}
	var failure *wire.Error
	if c.FailLate != nil {
		failure = c.FailLate
		if err := c.showUntilFailure(); err != nil {
			return wire.Refuse(err)
		}
	} else if err := c.api.changes[c.ID](c); err != nil {
		failure = wire.AsError(err)
		if !failure.Late || !c.api.opt.LateFailures {
			return wire.Refuse(err)
		}
	}
	op := c.newOperation(failure)
	c.api.ops.keep(op, request)
	answer := wire.OK(op.at(op.begin))
	// A change never returns a finished operation.
	answer.Body["status"] = "PENDING"
	if op.duration == 0 {
		answer.Body["status"] = "RUNNING"
	}
	for _, name := range []string{"endTime", "error", "httpErrorStatusCode", "httpErrorMessage"} {
		delete(answer.Body, name)
	}
	answer.Body["progress"] = float64(0)
	return answer
}

// showUntilFailure makes what an insertion asks for, and takes it away when the
// operation ends: lists show a resource while its insertion is under way.
// Source: hashicorp/terraform-provider-google:google/services/compute (state is dropped when the wait for a creation fails).
func (c *call) showUntilFailure() error {
	if c.takes() == 0 || !strings.HasSuffix(c.ID, ".insert") {
		return nil
	}
	if err := c.api.changes[c.ID](c); err != nil {
		return err
	}
	if e := c.st.get(c.targetRef()); e != nil {
		leaving := *e
		leaving.gone = true
		c.st.put(&leaving)
	}
	return nil
}

func (c *call) newOperation(failure *wire.Error) *operation {
	id := c.api.newID(c.ID)
	name := fmt.Sprintf("operation-%d-%013x-%08x-%08x", c.Now.UnixMilli(), c.api.seq, uint32(c.api.seq*2246822519), uint32(c.api.seq*3266489917))
	ref := wire.Ref{Project: c.project(), Scope: c.scope(), Collection: "operations", Name: name}
	target := c.targetRef()
	doc := wire.Object{
		"kind": "compute#operation", "id": id, "name": name, "selfLink": ref.URL(), "user": c.User,
		"operationType": c.ID[strings.LastIndex(c.ID, ".")+1:], "targetLink": target.URL(),
		"insertTime": formatTime(c.Now), "startTime": formatTime(c.Now),
	}
	if e := c.st.get(target); e != nil {
		doc["targetId"] = e.doc.Text("id")
	}
	if key, _, _ := strings.Cut(ref.Scope, "s/"); key != "global" {
		doc[key] = wire.SelfBase + "projects/" + ref.Project + "/" + ref.Scope
	}
	return &operation{ref: ref, doc: doc, begin: c.Now, duration: c.takes(), failure: failure}
}

// takes is how long the operation of this call takes: the same every time for the
// same call in the same course of events.
func (c *call) takes() time.Duration {
	if c.duration == nil {
		d := c.api.opt.OperationDelay
		if spread := c.api.opt.OperationSpread; spread > 0 {
			h := fnv.New32a()
			fmt.Fprint(h, c.ID, c.api.seq, c.Body.Text("name"))
			d += spread * time.Duration(h.Sum32()%1000) / 1000
		}
		c.duration = &d
	}
	return *c.duration
}

// targetRef is the resource that a change is about, from its path or its body.
func (c *call) targetRef() wire.Ref {
	_, path, _ := strings.Cut(strings.Join(c.Segments, "/"), c.scope()+"/")
	parts := strings.Split(path, "/")
	ref := wire.Ref{Project: c.project(), Scope: c.scope(), Collection: parts[0], Name: c.Body.Text("name")}
	if len(parts) > 1 {
		ref.Name = parts[1]
	}
	return ref
}

// at is the operation as it looks at a time.
func (o *operation) at(now time.Time) wire.Object {
	doc := o.doc.Clone()
	age := now.Sub(o.begin)
	switch {
	case age >= o.duration:
		doc["status"], doc["progress"], doc["endTime"] = "DONE", float64(100), formatTime(o.begin.Add(o.duration))
	case age >= o.duration/4:
		doc["status"], doc["progress"] = "RUNNING", float64(0)
	default:
		doc["status"], doc["progress"] = "PENDING", float64(0)
	}
	if doc["status"] == "DONE" && o.failure != nil {
		doc["error"] = wire.Object{"errors": []any{wire.Object{"code": o.failure.Code, "message": o.failure.Message}}}
		doc["httpErrorStatusCode"] = float64(o.failure.Status)
		doc["httpErrorMessage"] = strings.ToUpper(http.StatusText(o.failure.Status))
	}
	return doc
}

func (a *API) serveOperations() {
	for _, scope := range []string{"global", "region", "zone"} {
		base := scopePath(scope) + "operations"
		id := scope + "Operations"
		a.serve(id+".get", http.MethodGet, base+"/{operation}", (*call).operation)
		a.serve(id+".wait", http.MethodPost, base+"/{operation}/wait", (*call).operation)
	}
}

func (c *call) operationRef() wire.Ref {
	return wire.Ref{Project: c.project(), Scope: c.scope(), Collection: "operations", Name: c.Path["operation"]}
}

func (c *call) operation() (wire.Object, error) {
	op := c.api.ops.byPath[c.operationRef().Path()]
	if op == nil {
		return nil, wire.NotFound(c.operationRef().Path())
	}
	return op.at(c.Now), nil
}

// await returns when the operation is done, when the longest wait is over, or when the caller
// has disconnected. A clock that is not the real one is polled often.
func (a *API) await(ctx context.Context, req *wire.Request) {
	ctx, cancel := context.WithTimeout(ctx, a.opt.WaitLimit)
	defer cancel()
	for {
		a.mu.RLock()
		op := a.ops.byPath[(&call{Request: req}).operationRef().Path()]
		a.mu.RUnlock()
		now := a.opt.Clock.Now().UTC()
		req.Now = now
		if op == nil {
			return
		}
		left := op.begin.Add(op.duration).Sub(now)
		if left <= 0 {
			return
		}
		timer := time.NewTimer(min(left, 20*time.Millisecond))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}
