package wire

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/oci/model"
)

// What a load balancer is to become.
const (
	created = "created"
	gone    = "gone"
	changed = "changed"
)

// awaited is a change that was accepted, and how a list of load balancers shows that it
// has been done. Those of lb do not show that they are being changed: a change of one is
// seen when what it has is as wanted, and else by the work request. Should it then be busy
// nevertheless, the next change is refused, and waits.
type awaited struct {
	to          string
	compartment string // empty: not known
	id, name    string // a new one of lb has only a name yet
	applied     func(balancerDoc) bool

	doc    balancerDoc // of the load balancer when the change was done
	missed int         // lists since the last request that have not shown the change
}

// awaits are the changes that are waited for, by work request.
type awaits struct {
	mu  sync.Mutex
	all map[string]*awaited
}

// patience is how many lists may fail to show a change before its work request is read,
// which alone reports a failure. sample is how many of them are read at once, longest
// missed first. The others are found by the next lists, or are sampled later.
const (
	patience = 2
	sample   = 2
)

// settled waits until a list shows that a change has been done, and returns a load balancer
// that was created as it is then. It is Ambiguous if the change failed.
func (s *Session) settled(ctx context.Context, p *product, header http.Header, a awaited) (balancerDoc, error) {
	work := header.Get(headerWork)
	if work == "" {
		return s.atOnce(ctx, p, a)
	}
	w := &p.awaits
	w.mu.Lock()
	if w.all == nil {
		w.all = map[string]*awaited{}
	}
	w.all[work] = &a
	w.mu.Unlock()
	text, err := p.listed.Wait(ctx, work)
	w.mu.Lock()
	doc := a.doc
	delete(w.all, work)
	w.mu.Unlock()
	if err != nil {
		return balancerDoc{}, err
	}
	id, err := resultOf(text)
	if err == nil && doc.ID == "" && a.to == created {
		_, err = s.get(ctx, p.api, p.path(cmp.Or(id, a.id)), &doc)
	}
	return doc, err
}

// atOnce is a load balancer whose change was done when the call was answered.
func (s *Session) atOnce(ctx context.Context, p *product, a awaited) (balancerDoc, error) {
	var doc balancerDoc
	if a.to != created || a.id == "" {
		return doc, nil
	}
	_, err := s.get(ctx, p.api, p.path(a.id), &doc)
	return doc, err
}

// shown says what became of work requests, by lists of load balancers: one for each
// compartment. Where those do not tell, the work request is asked for.
func (s *Session) shown(ctx context.Context, p *product, works []string) (map[string]string, error) {
	groups := map[string][]string{}
	p.awaits.mu.Lock()
	for _, work := range works {
		if a, ok := p.awaits.all[work]; ok {
			groups[a.compartment] = append(groups[a.compartment], work)
		}
	}
	p.awaits.mu.Unlock()
	out := map[string]string{}
	var unclear, silent []string
	for compartment, of := range groups {
		if p.asksAlone(of) {
			unclear = append(unclear, of...)
			continue
		}
		docs, err := s.lookFor(ctx, p, compartment, of)
		if err != nil {
			continue // asked for again
		}
		for _, work := range of {
			switch text, ok := p.awaits.judge(work, docs); {
			case ok:
				out[work] = text
			case p.isSilent(work):
				silent, out[work] = append(silent, work), inProgress
			default:
				unclear = append(unclear, work)
			}
		}
	}
	unclear = append(unclear, p.awaits.sampled(silent)...)
	told, err := s.outcomes(ctx, p, unclear)
	for work, text := range told {
		out[work] = text
	}
	return out, err
}

// asksAlone tells that one change alone is waited for of which only its work request can
// say that it is still being made.
func (p *product) asksAlone(works []string) bool { return len(works) == 1 && p.isSilent(works[0]) }

// isSilent tells that no list shows that a change is still being made.
func (p *product) isSilent(work string) bool {
	p.awaits.mu.Lock()
	defer p.awaits.mu.Unlock()
	a, waits := p.awaits.all[work]
	return p.Name == model.LB && waits && a.to == changed
}

// sampled are those of the changes whose work requests are to be asked for.
func (w *awaits) sampled(works []string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	works = slices.DeleteFunc(works, func(work string) bool { return w.all[work] == nil })
	for _, work := range works {
		w.all[work].missed++
	}
	slices.SortFunc(works, func(a, b string) int {
		return cmp.Or(cmp.Compare(w.all[b].missed, w.all[a].missed), strings.Compare(a, b))
	})
	var out []string
	for _, work := range works[:min(sample, len(works))] {
		if w.all[work].missed > patience {
			out = append(out, work)
			w.all[work].missed = 0
		}
	}
	return out
}

// lookFor reads the load balancers that are waited for: one alone by itself, several by
// the list of their compartment.
func (s *Session) lookFor(ctx context.Context, p *product, compartment string, works []string) ([]balancerDoc, error) {
	p.awaits.mu.Lock()
	alone := awaited{}
	if a, waits := p.awaits.all[works[0]]; waits {
		alone = *a
	}
	p.awaits.mu.Unlock()
	switch {
	case compartment != "" && len(works) > 1:
		return s.listBalancers(ctx, place{p.Balancer, compartment})
	case len(works) > 1:
		return s.eachOf(ctx, p, works)
	case alone.id == "":
		return listAll[balancerDoc](ctx, s, p.api, p.balancers, url.Values{"compartmentId": {compartment}, "displayName": {alone.name}}, p.Name == model.NLB)
	}
	var doc balancerDoc
	_, err := s.get(ctx, p.api, p.path(alone.id), &doc)
	if fault.Is(err, fault.NotFound) {
		return []balancerDoc{}, nil
	}
	return []balancerDoc{doc}, err
}

// eachOf reads load balancers one by one, whose compartment is not known.
func (s *Session) eachOf(ctx context.Context, p *product, works []string) ([]balancerDoc, error) {
	var out []balancerDoc
	for _, work := range works {
		found, err := s.lookFor(ctx, p, "", []string{work})
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// isOf reports whether an awaited change belongs to a listed load balancer. One that is
// being created has only a name; a load balancer of that name that is being deleted is
// another one.
func (a awaited) isOf(d balancerDoc) bool {
	if a.id != "" {
		return d.State != deleted && d.ID == a.id
	}
	return d.State != deleted && d.State != deleting && d.Name == a.name
}

// judge says what load balancers tell of a change; false if they do not.
func (w *awaits) judge(work string, docs []balancerDoc) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.all[work]
	if a == nil {
		return "", false
	}
	found := slices.DeleteFunc(slices.Clone(docs), func(d balancerDoc) bool { return !a.isOf(d) })
	done := func(d balancerDoc) (string, bool) {
		a.doc = d
		return strings.Join([]string{succeeded, d.ID, ""}, "\n"), true
	}
	switch {
	case len(found) == 0 && a.to == gone:
		return done(balancerDoc{ID: a.id})
	case len(found) != 1:
		return "", false
	}
	switch d := found[0]; {
	case d.State == creating || d.State == updating || a.to == gone && d.State == deleting:
		return inProgress, true
	case d.State == active && (a.to == created || a.to == changed && a.applied(d)):
		return done(d)
	}
	return "", false
}

// recordPlaces records the compartments of load balancers.
func (s *Session) recordPlaces(docs ...balancerDoc) {
	for _, d := range docs {
		if d.ID != "" && d.Compartment != "" {
			s.places.Set(d.ID, d.Compartment)
		}
	}
}
