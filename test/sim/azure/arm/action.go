package arm

import (
	"net/http"
	"strings"
)

// Holder finds the resource that a call below it is about: the path of the call
// without its last segment, such as …/serviceGateways/{name}/updateServices.
func (c *Call) Holder() (*Resource, *Error) {
	path := strings.TrimRight(c.Path, "/")
	id, _ := ParseID(path[:strings.LastIndex(path, "/")])
	c.ID, c.kind = id, c.Svc.kinds[strings.ToLower(id.Type())]
	if err := c.locate(); err != nil {
		return nil, err
	}
	r := c.Svc.State.Get(id)
	if r == nil {
		return nil, notFound(id)
	}
	return r, nil
}

// Plan checks a request against the state as it is, and gives what it changes.
type Plan func(*Write) (commit func(), err *Error)

// Act responds to a POST that changes objects below a resource. It is done within the
// response, 200, unless writes take time, or the caller of Act wants them late: then the
// response is 202, the plan is computed again when the operation ends, and a change that has
// become impossible meanwhile fails there.
func (c *Call) Act(late bool, plan Plan) *Response {
	r, err := c.Holder()
	if err != nil {
		return Refuse(err)
	}
	w, err := c.begin(r.ID)
	if err != nil {
		return Refuse(err)
	}
	commit, err := plan(w)
	if err != nil {
		return Refuse(err)
	}
	s := c.Svc
	out := Reply(http.StatusOK, nil)
	if late || s.latency(w) > 0 || c.AsyncError != nil {
		out.Status = http.StatusAccepted
	}
	var op *Operation
	op = s.track(c, w, func(failed *Error) {
		switch {
		case failed != nil:
		case op == nil: // It ends at once, and the plan is as good as it was.
			commit()
			w.Touch(w.ID)
		default:
			if err := s.carryOut(w, plan); err != nil {
				op.Status, op.Err = Failed, err
			}
		}
	})
	s.poll(c, out, op)
	out.Header.Set("Location", c.Base+op.resultPath(c.Request))
	return out
}

// carryOut does what was planned, against the state as it is by now.
func (s *Service) carryOut(w *Write, plan Plan) *Error {
	if w.Old = s.State.Get(w.ID); w.Old == nil {
		return notFound(w.ID)
	}
	commit, err := plan(w)
	if err != nil {
		return err
	}
	commit()
	w.Touch(w.ID)
	return nil
}

// Ask responds to a POST that only reads: 202 with the location of the result, which is
// available at once unless writes take time. It changes nothing.
// Source: Azure REST API reference, Load Balancer Load Balancing Rules - Health.
func (c *Call) Ask(answer func() Doc) *Response {
	s := c.Svc
	op := &Operation{
		ID: s.guid("operation"), Status: inProgress, number: s.guids, started: c.Now, due: c.Now.Add(s.Latency), provider: c.ID.Provider,
		target: c.ID, location: s.Location, isAction: true, answer: answer,
	}
	s.operations[op.ID] = op
	out := Reply(http.StatusAccepted, nil)
	out.Header.Set("Location", c.Base+op.resultPath(c.Request))
	s.retryAfter(out, op)
	return out
}
