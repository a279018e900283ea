package arm

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxOperations is how many operations can still be polled.
const maxOperations = 20000

const inProgress = "InProgress"

// Operation is one long running write.
type Operation struct {
	ID  string
	Key string
	// Status is InProgress until the operation is over.
	Status string
	Err    *Error

	number         int
	started, due   time.Time
	planned        *Error
	done           func(*Error)
	target         ID
	path, provider string
	location       string
	isDelete       bool
	// isAction operations have no resource to answer in the end.
	isAction bool
	// answer is what a question is answered in the end; nil for what is no question.
	answer func() Doc
}

// overlap decides about a write to a resource that is still being written.
func (s *Service) overlap(w *Write) *Error {
	op := s.busy[w.ID.Key()]
	if op == nil {
		return nil
	}
	if s.Overlap != OverlapSupersede || op.isDelete {
		return &Error{
			Status: http.StatusConflict, Code: "AnotherOperationInProgress", RetryAfter: 1,
			Message: "Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: " + op.path + ".",
		}
	}
	op.Status = Canceled
	op.Err = Conflictf("CanceledAndSupersededDueToAnotherOperation", "Operation %s was canceled and superseded by another operation.", op.ID)
	delete(s.busy, op.Key)
	return nil
}

// commit stores the new document.
func (s *Service) commit(w *Write, state string) {
	s.State.put(&Resource{ID: w.ID, Doc: w.Doc, Etag: s.newEtag(), Provisioning: state})
	w.stored()
}

// finish commits a PUT or PATCH and answers it.
func (c *Call) finish(w *Write, body func(*Resource) Doc) *Response {
	s := c.Svc
	status := http.StatusOK
	if w.Old == nil {
		status = http.StatusCreated
	}
	if w.Kind.Sync || (s.Async == AsyncNone && s.latency(w) == 0 && c.AsyncError == nil) {
		s.commit(w, Succeeded)
		return Reply(status, body(s.State.Get(w.ID)))
	}
	s.commit(w, Updating)
	out := Reply(status, body(s.State.Get(w.ID)))
	op := s.track(c, w, s.settler(w))
	s.poll(c, out, op)
	return out
}

// settler ends the state Updating. The etag changes once more with it.
func (s *Service) settler(w *Write) func(*Error) {
	return func(err *Error) {
		r := s.State.Get(w.ID)
		if r == nil {
			return
		}
		next := *r
		next.Provisioning, next.Etag = Succeeded, s.newEtag()
		if err != nil {
			next.Provisioning = Failed
		}
		s.State.put(&next)
	}
}

func (c *Call) finishDelete(w *Write) *Response {
	s := c.Svc
	if s.latency(w) > 0 {
		next := *w.Old
		next.Provisioning, next.Etag = Deleting, s.newEtag()
		s.State.put(&next)
	}
	op := s.track(c, w, func(err *Error) {
		if err != nil {
			s.settler(w)(err)
			return
		}
		s.State.remove(w.ID)
		w.stored()
	})
	return c.accept(w, op)
}

// accept answers a DELETE that is under way.
func (c *Call) accept(w *Write, op *Operation) *Response {
	out := Reply(http.StatusAccepted, nil)
	switch {
	case w.Kind.Sync && len(w.ID.Types) > 0, c.Svc.Async == AsyncNone && op.Status == Succeeded:
		out.Status = http.StatusOK
		return out
	case len(w.ID.Types) == 0:
		out.Header.Set("Location", c.Base+op.path+"&t=results")
	default:
		c.Svc.poll(c, out, op)
		if c.Svc.Async != AsyncLocation {
			out.Header.Set("Location", c.Base+op.resultPath(c.Request))
		}
	}
	c.Svc.retryAfter(out, op)
	return out
}

func (s *Service) latency(w *Write) time.Duration {
	if d, ok := s.LatencyOf[w.Kind.Type]; ok {
		return d
	}
	return s.Latency
}

// track registers an operation and, without latency, ends it.
func (s *Service) track(c *Call, w *Write, done func(*Error)) *Operation {
	op := &Operation{
		ID: s.guid("operation"), Key: w.ID.Key(), Status: inProgress, number: s.guids, started: c.Now, due: c.Now.Add(s.latency(w)),
		planned: c.AsyncError, done: done, target: c.ID, provider: w.ID.Provider, location: cmp.Or(Text(w.Doc, "location"), Text(w.OldDoc(), "location"), s.Location),
		isDelete: c.Method == http.MethodDelete, isAction: c.Method == http.MethodPost,
	}
	op.path = op.url(c.Request, "operations")
	if len(s.operations) >= maxOperations {
		maps.DeleteFunc(s.operations, func(_ string, op *Operation) bool { return op.Status != inProgress })
	}
	s.operations[op.ID] = op
	s.busy[op.Key] = op
	if !op.due.After(c.Now) {
		s.end(op)
	}
	return op
}

func (op *Operation) url(r *Request, kind string) string {
	provider := cmp.Or(op.provider, "Microsoft.Resources")
	return "/subscriptions/" + op.target.Subscription + "/providers/" + provider + "/locations/" + op.location + "/" + kind + "/" + op.ID + "?api-version=" + r.Query.Get("api-version")
}

func (op *Operation) resultPath(r *Request) string { return op.url(r, "operationResults") }

func (s *Service) poll(c *Call, out *Response, op *Operation) {
	switch s.Async {
	case AsyncLocation:
		out.Header.Set("Location", c.Base+op.resultPath(c.Request))
	case AsyncNone:
	default:
		out.Header.Set("Azure-AsyncOperation", c.Base+op.path)
	}
	s.retryAfter(out, op)
}

// retryAfter tells the client when to ask again, unless it need not wait.
func (s *Service) retryAfter(out *Response, op *Operation) {
	if op.Status != inProgress {
		return
	}
	out.Header.Set("Retry-After", strconv.Itoa(int((s.PollAfter+time.Second-1)/time.Second)))
	if s.WholeSeconds {
		return
	}
	out.Header.Set("X-Ms-Retry-After-Ms", strconv.Itoa(max(1, int(s.PollAfter/time.Millisecond))))
}

func (s *Service) end(op *Operation) {
	op.Status, op.Err = Succeeded, op.planned
	if op.Err != nil {
		op.Status = Failed
		if strings.HasPrefix(op.Err.Code, Canceled) {
			op.Status = Canceled
		}
	}
	delete(s.busy, op.Key)
	op.done(op.Err)
}

// Due reports whether Settle has something to do.
func (s *Service) Due(now time.Time) bool {
	for _, op := range s.busy {
		if !op.due.After(now) {
			return true
		}
	}
	return false
}

// Settle ends the operations whose time has come, in the order they fall due.
func (s *Service) Settle(now time.Time) {
	var due []*Operation
	for _, op := range s.busy {
		if !op.due.After(now) {
			due = append(due, op)
		}
	}
	slices.SortFunc(due, func(a, b *Operation) int { return cmp.Or(a.due.Compare(b.due), a.number-b.number) })
	for _, op := range due {
		s.end(op)
	}
}

func pollOperation(c *Call) *Response {
	op := c.Svc.operations[LastName(strings.TrimRight(c.Path, "/"))]
	if op == nil {
		return Refuse(Failf(http.StatusNotFound, "OperationNotFound", "The operation '%s' was not found.", c.Path))
	}
	if strings.Contains(strings.ToLower(c.Path), "/operationresults/") || c.Query.Get("t") == "results" {
		return pollResult(c, op)
	}
	body := Doc{"status": op.Status, "name": op.ID, "startTime": op.started.UTC().Format(time.RFC3339Nano)}
	if op.Err != nil {
		body["error"] = op.Err.Body()["error"]
	}
	out := Reply(http.StatusOK, body)
	c.Svc.retryAfter(out, op)
	return out
}

// pollResult answers a Location: 202 until it is over, then the resource.
func pollResult(c *Call, op *Operation) *Response {
	if op.Status == inProgress && (op.answer == nil || op.due.After(c.Now)) {
		out := Reply(http.StatusAccepted, nil)
		out.Header.Set("Location", c.Base+c.Path+"?"+c.Query.Encode())
		c.Svc.retryAfter(out, op)
		return out
	}
	if op.Err != nil {
		return Refuse(op.Err)
	}
	if op.answer != nil {
		return Reply(http.StatusOK, op.answer())
	}
	if op.isDelete || op.isAction {
		return Reply(http.StatusOK, nil)
	}
	again := *c
	target := c.Svc.Find(&Request{Method: http.MethodGet, Path: op.target.String(), Query: c.Query, Header: c.Header, Base: c.Base, Now: c.Now})
	again.kind, again.part, again.ID = target.kind, target.part, target.ID
	return target.run(&again)
}
