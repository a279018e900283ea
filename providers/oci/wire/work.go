package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// product is an API of load balancers: where things are in it.
type product struct {
	model.Product
	api       *service
	balancers string        // path of the collection
	works     string        // path of work requests
	settling  *kit.Settling // of work requests, each asked for alone
	listed    *kit.Settling // of load balancers, which one list shows
	awaits    awaits
}

// breath is the least pause between two lists that are asked for changes under way, which take
// some ten seconds.
const breath = 500 * time.Millisecond

// products are both, by name.
func (s *Session) products() map[string]*product {
	lb := &product{Product: model.Products()[0], api: s.lb, balancers: "/loadBalancers", works: "/loadBalancerWorkRequests"}
	nlb := &product{Product: model.Products()[1], api: s.nlb, balancers: "/networkLoadBalancers", works: "/workRequests"}
	for _, p := range []*product{lb, nlb} {
		p.settling = kit.NewSettling(func(ctx context.Context, ids []string) (map[string]string, error) { return s.outcomes(ctx, p, ids) }, isOpen).OneByOne()
		p.listed = kit.NewSettling(func(ctx context.Context, ids []string) (map[string]string, error) { return s.shown(ctx, p, ids) }, isOpen).Resting(breath)
	}
	return map[string]*product{model.LB: lb, model.NLB: nlb}
}

// path is that of a load balancer, or of something in it.
func (p *product) path(id string, more ...string) string {
	return strings.Join(append([]string{p.balancers, id}, more...), "/")
}

// workDoc is a work request of either API.
// Sources: WorkRequest of both API references.
type workDoc struct {
	ID        string        `json:"id"`
	State     string        `json:"lifecycleState"` // of lb
	Status    string        `json:"status"`         // of nlb
	Balancer  string        `json:"loadBalancerId"` // of lb
	Message   string        `json:"message"`        // of lb
	Errors    []workError   `json:"errorDetails"`   // of lb
	Resources []workSubject `json:"resources"`      // of nlb
}

type workError struct {
	Code    string `json:"errorCode"`
	Text    string `json:"message"`
	NetCode string `json:"code"`
}

type workSubject struct {
	Type string `json:"entityType"`
	ID   string `json:"identifier"`
}

// States of work requests.
const (
	accepted   = "ACCEPTED"
	inProgress = "IN_PROGRESS"
	canceling  = "CANCELING"
	succeeded  = "SUCCEEDED"
)

func (w workDoc) state() string { return cmp.Or(w.State, w.Status) }

func (w workDoc) balancer() string {
	for _, r := range w.Resources {
		if strings.EqualFold(r.Type, "NetworkLoadBalancer") {
			return r.ID
		}
	}
	return w.Balancer
}

// isOpen reports whether an outcome is not yet final.
func isOpen(text string) bool {
	state, _, _ := strings.Cut(text, "\n")
	return state == accepted || state == inProgress || state == canceling
}

// outcomes asks what became of work requests: state, load balancer and reason, each on a
// line.
func (s *Session) outcomes(ctx context.Context, p *product, ids []string) (map[string]string, error) {
	out := map[string]string{}
	var failed error
	var mu sync.Mutex
	kit.ForEach(ids, func(id string) {
		text, err := s.outcome(ctx, p, id)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed = err
			return
		}
		out[id] = text
	})
	return out, failed
}

func (s *Session) outcome(ctx context.Context, p *product, id string) (string, error) {
	var w workDoc
	_, err := s.get(ctx, p.api, p.works+"/"+id, &w)
	if fault.Is(err, fault.NotFound) {
		return "GONE\n\nthe work request is not known any more", nil
	}
	if err != nil {
		return "", err
	}
	reason := w.Message
	if w.state() != succeeded && !isOpen(w.state()) {
		reason = cmp.Or(s.reasonOf(ctx, p, w), reason)
	}
	return strings.Join([]string{w.state(), w.balancer(), reason}, "\n"), nil
}

// reasonOf says why a work request failed.
func (s *Session) reasonOf(ctx context.Context, p *product, w workDoc) string {
	errs := w.Errors
	if p.Name == model.NLB {
		var said struct {
			Items []workError `json:"items"`
		}
		if _, err := s.get(ctx, p.api, p.works+"/"+w.ID+"/errors", &said); err == nil { // the failure is reported in any case
			errs = said.Items
		}
	}
	var out []string
	for _, e := range errs {
		out = append(out, strings.TrimSpace(cmp.Or(e.Code, e.NetCode)+" "+e.Text))
	}
	return strings.Join(out, "; ")
}

// wait waits until a work request has ended, and returns its load balancer. A failure is
// Ambiguous: the observed state must be read again.
func (s *Session) wait(ctx context.Context, p *product, header http.Header) (string, error) {
	id := header.Get(headerWork)
	if id == "" {
		return "", nil // it was done at once
	}
	text, err := p.settling.Wait(ctx, id)
	if err != nil {
		return "", err
	}
	return resultOf(text)
}

// resultOf returns the load balancer of an outcome; the error is Ambiguous if that is a
// failure.
func resultOf(text string) (string, error) {
	lines := strings.SplitN(text, "\n", 3)
	if lines[0] != succeeded {
		return lines[1], &fault.Fault{Meaning: fault.Ambiguous, Code: lines[0], Text: "the cloud has accepted the change and then failed at it: " + cmp.Or(lines[2], "it does not say why")}
	}
	return lines[1], nil
}

// change makes a writing call about a load balancer, one at a time for each, and waits
// until it has been done.
func (s *Session) change(c *change, p *product, balancer string, r request, a awaited) error {
	var header http.Header
	return s.locks.Change(c.Ctx, balancer,
		func() (err error) {
			header, err = s.post(c, p.api, r, nil)
			return err
		},
		func(refusal error) error {
			if !fault.Is(refusal, fault.Pending) || s.quiet(c.Ctx, p, balancer) != nil {
				return refusal
			}
			return nil
		},
		func() error {
			a.id = balancer
			a.compartment, _ = s.places.Get(balancer, 0) // empty: not read yet
			if a.to == changed && a.applied == nil {
				_, err := s.wait(c.Ctx, p, header)
				return err
			}
			_, err := s.settled(c.Ctx, p, header, a)
			return err
		})
}

// post makes the writing call of a step, with a retry token where something is made.
func (s *Session) post(c *change, api *service, r request, out any) (http.Header, error) {
	if r.method != http.MethodPost {
		return s.write(c.Ctx, api, r, out)
	}
	body, err := json.Marshal(r.body)
	if err != nil {
		return nil, err
	}
	step := c.Step.ID.String() + " " + r.path
	if c.Step.Target.In != (stack.Key{}) {
		// A part may be created, deleted and created again while its load balancer lives, and the
		// cloud would repeat the first answer to the next process. Its name is unique there.
		step += " " + s.process
	}
	var header http.Header
	err = s.tokens.Send(c.Step.ID.Owner, step, body, func(token string) (err error) {
		r.header = withHeader(r.header, headerToken, token)
		header, err = s.write(c.Ctx, api, r, out)
		return err
	})
	return header, err
}

// withHeader returns headers with one more.
func withHeader(header map[string]string, name, value string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, header)
	out[name] = value
	return out
}

// quiet waits for what others change of a load balancer.
func (s *Session) quiet(ctx context.Context, p *product, balancer string) error {
	list, err := s.works(ctx, p, balancer)
	if err != nil {
		return err
	}
	for _, w := range list {
		if !isOpen(w.state()) {
			continue
		}
		if _, err := p.settling.Wait(ctx, w.ID); err != nil {
			return err
		}
	}
	return nil
}

// works are the work requests of a load balancer.
func (s *Session) works(ctx context.Context, p *product, balancer string) ([]workDoc, error) {
	if p.Name == model.LB {
		return listAll[workDoc](ctx, s, p.api, p.path(balancer, "workRequests"), url.Values{}, false)
	}
	all, err := listAll[workDoc](ctx, s, p.api, p.works, url.Values{"compartmentId": {s.config.Compartment}}, true)
	var out []workDoc
	for _, w := range all {
		if w.balancer() == balancer {
			out = append(out, w)
		}
	}
	return out, err
}
