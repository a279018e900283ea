package quay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// document is a load balancer as the API shows it.
type document struct {
	ID        string               `json:"id"`
	Name      string               `json:"name"`
	Mark      string               `json:"mark"`
	Internal  bool                 `json:"internal"`
	Listeners map[string]*Listener `json:"listeners"` // by slot
	Machines  []string             `json:"machines"`
}

// session is an open connection. It decides nothing: it reads, and does steps.
type session struct {
	config  Config
	cluster string
	client  *http.Client
}

func open(_ context.Context, c Config, env providers.Env) (providers.Session[struct{}], Config, error) {
	if c.Endpoint == "" {
		return nil, c, fmt.Errorf("endpoint: is empty; legal: the URL of the API")
	}
	s := &session{config: c, cluster: env.Cluster}
	s.client = &http.Client{Transport: meter.New(http.DefaultTransport, env.Calls, s.language())}
	return s, c, nil
}

// Read lists everything once, for as many Services as ask.
func (s *session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[struct{}] {
	var all struct {
		Balancers []document `json:"balancers"`
		Openings  []string   `json:"openings"`
	}
	err := s.faults().Fault(s.call(ctx, http.MethodGet, "/inventory", nil, &all), kit.Reading)
	out := make([]providers.Found[struct{}], len(scopes))
	for i, scope := range scopes {
		out[i].Err = err
		out[i].Have = &stack.Stack{Owner: scope.Owner}
		for _, d := range all.Balancers {
			if d.Mark == markOf(s.config, s.cluster, scope.Owner) {
				d.found(out[i].Have)
			}
		}
		for _, name := range all.Openings {
			if protocol, ours := strings.CutPrefix(name, openingOf(s.cluster, "")); ours {
				out[i].Have.Put(stack.Resource{Key: openingKey(protocol), ID: name, Ownership: stack.Shared, Proof: stack.Name, Spec: Opening{protocol}})
			}
		}
	}
	return out
}

// found adds the resources that the API shows to a stack, with the keys of the desired state.
// The mark proves that the load balancer is ours; its parts are ours because of it.
func (d document) found(have *stack.Stack) {
	have.Put(stack.Resource{Key: balancerKey(), ID: d.ID, Proof: stack.Tag, Spec: Balancer{Name: d.Name, Internal: d.Internal}})
	have.Put(stack.Resource{Key: machinesKey(), ID: d.ID, In: balancerKey(), Proof: stack.Derived, Spec: Machines{Names: slices.Sorted(slices.Values(d.Machines))}})
	for name, l := range d.Listeners {
		key := listenerKey(l.Protocol, l.Port)
		have.Put(stack.Resource{Key: key, ID: d.ID + "/listeners/" + name, In: balancerKey(), Slot: name, Proof: stack.Derived, Spec: *l})
	}
}

// change is a step at work.
type change = kit.Change[*session]

// Apply does steps, each with the call that the table has for it.
func (s *session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	return kit.Verbs[*session]{
		{Kind: kindBalancer, Action: plan.Create}: kit.With(createBalancer),
		{Kind: kindBalancer, Action: plan.Delete}: remove,
		{Kind: kindOpening, Action: plan.Create}:  kit.With(openFor),
		{Kind: kindOpening, Action: plan.Delete}:  shut,
		{Kind: kindMachines, Action: plan.Update}: kit.With(putMachines),
		{Kind: kindListener, Action: plan.Create}: kit.With(putListener),
		{Kind: kindListener, Action: plan.Update}: kit.With(putListener),
		{Kind: kindListener, Action: plan.Delete}: remove,
	}.Apply(ctx, s, b)
}

func createBalancer(c *change, b Balancer) plan.Outcome {
	d := document{Name: b.Name, Internal: b.Internal, Mark: markOf(c.Session.config, c.Session.cluster, c.Step.ID.Owner)}
	if err := c.Session.write(c.Ctx, http.MethodPost, "/balancers", d, &d); err != nil {
		return kit.Failed(err)
	}
	return c.Created(d.ID, stack.Tag, b)
}

func openFor(c *change, o Opening) plan.Outcome {
	name := openingOf(c.Session.cluster, o.Protocol)
	if err := c.Session.write(c.Ctx, http.MethodPut, "/openings/"+name, nil, nil); err != nil {
		return kit.Failed(err)
	}
	return c.Created(name, stack.Name, o)
}

// shut ends an opening, unless a Service has come to want it since the plan was made.
func shut(c *change) plan.Outcome {
	if len(c.Batch.Claims.Others(c.Step.ID.Owner, c.Step.Target)) > 0 {
		return plan.Outcome{Sent: plan.WasSent}
	}
	return kit.Deleted(c.Session.write(c.Ctx, http.MethodDelete, "/openings/"+c.ID(), nil, nil))
}

func putMachines(c *change, m Machines) plan.Outcome {
	return c.Updated(m, c.Session.write(c.Ctx, http.MethodPut, "/balancers/"+c.Parent()+"/machines", m.Names, nil))
}

// putListener makes a listener or changes it: the API does not tell the two apart.
func putListener(c *change, l Listener) plan.Outcome {
	id := c.Parent() + "/listeners/" + slot(l.Protocol, l.Port)
	if err := c.Session.write(c.Ctx, http.MethodPut, "/balancers/"+id, l, nil); err != nil {
		return kit.Failed(err)
	}
	return c.Created(id, stack.Derived, l)
}

func remove(c *change) plan.Outcome {
	return kit.Deleted(c.Session.write(c.Ctx, http.MethodDelete, "/balancers/"+c.ID(), nil, nil))
}

// refused is an answer that is no success.
type refused struct {
	Status int    `json:"-"`
	Code   string `json:"code"`
	Text   string `json:"message"`
}

// Error is the cloud's text.
func (r *refused) Error() string { return r.Code + ": " + r.Text }

// faults gives errors their meaning: the table of codes, and kit for all the rest.
func (s *session) faults() kit.Errors {
	return kit.Errors{
		Read: func(err error) (kit.Refusal, bool) {
			var r *refused
			if !errors.As(err, &r) {
				return kit.Refusal{}, false
			}
			return kit.Refusal{Code: r.Code, Status: r.Status, Text: r.Text}, true
		},
		Meaning: func(r kit.Refusal) (fault.Meaning, bool) {
			m, ok := map[string]fault.Meaning{"NameTaken": fault.Exists, "QuotaExceeded": fault.Quota}[r.Code]
			return m, ok
		},
		Conflict: fault.Conflict,
	}
}

// language is how requests and refusals are counted.
func (s *session) language() meter.Language {
	return meter.Language{
		Name: func(r *http.Request) providers.Call {
			path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
			return providers.Call{API: "quay", Operation: r.Method + " " + path[len(path)/3*2]}
		},
		Refusal: func(status int, _ http.Header, body []byte) providers.Answer {
			r := refusalIn(status, body)
			return s.faults().Answer(kit.Refusal{Code: r.Code, Status: status})
		},
		// Quay refuses with status 200 as well: the code says so.
		Inside: func(_ http.Header, body []byte) (providers.Answer, bool) {
			r := refusalIn(http.StatusOK, body)
			return s.faults().Answer(kit.Refusal{Code: r.Code}), r.Code != ""
		},
	}
}

// refusalIn reads an answer as a refusal; one without a code and with a status below 400 is a
// success.
func refusalIn(status int, body []byte) *refused {
	r := &refused{Status: status}
	if err := json.Unmarshal(body, r); err != nil && status >= http.StatusBadRequest {
		r.Text = string(body)
	}
	return r
}

// write makes a writing call and returns its fault, which records whether the call was sent.
func (s *session) write(ctx context.Context, method, path string, in, out any) error {
	progress, err := kit.Write(ctx, func(ctx context.Context) error { return s.call(ctx, method, path, in, out) })
	return s.faults().Fault(err, progress)
}

func (s *session) call(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, s.config.Endpoint+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if r := refusalIn(resp.StatusCode, answer); r.Code != "" || r.Status >= http.StatusBadRequest {
		return r
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
