package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/service/graph"
	"github.com/berth-lb/berth/service/page"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// Memory is what a replica that leads knows of the cloud without reading it.
type Memory interface {
	// Remembered returns the existing resources of a Service; nil: they are not known.
	Remembered(owner stack.Owner) *stack.Stack
	// FlowsOf returns what they let through.
	FlowsOf(owner stack.Owner, have *stack.Stack) []traffic.Flow
	// Others returns the other Services that use a shared resource.
	Others(of stack.Owner, res stack.Resource) []stack.Owner
	// LastHealth returns the health of members as last read, and when; the zero time: it was not read.
	LastHealth(owner stack.Owner) ([]view.Member, time.Time)
}

// Sources are where a page takes its documents from.
type Sources struct {
	Provider string
	// Services returns all Services of the cluster from a cache; false: it is not complete yet.
	Services func() ([]*corev1.Service, bool)
	// State returns the state of Services by their objects alone.
	State func(context.Context, []*corev1.Service) (view.Fleet, error)
	// Problems returns what is wrong with the fields and annotations of a Service.
	Problems func(*corev1.Service) []plan.Problem
	// Memory returns nil while another replica leads.
	Memory func() Memory
}

// fresh is how long the state of all Services is used.
const fresh = 2 * time.Second

// Page answers the requests of many users.
type Page struct {
	sources Sources
	access  *Access
	clock   clock.PassiveClock

	lock   sync.Mutex
	fleet  view.Fleet
	judged map[*corev1.Service]view.Service // the state of each object in the cache, which never changes
	at     time.Time
}

// New returns a page.
func New(s Sources, access *Access, c clock.PassiveClock) *Page {
	return &Page{sources: s, access: access, clock: c}
}

// Handler returns the page and its documents.
func (p *Page) Handler() http.Handler { return page.NewForUsers(p.admit) }

// admit returns the documents that the user of a request may read.
func (p *Page) admit(r *http.Request) (page.Source, error) {
	u, err := p.access.identify(r.Context(), page.Bearer(r))
	if err != nil {
		return nil, err
	}
	return &reader{page: p, user: u}, nil
}

// state returns the state of all Services. One caller computes it at a time.
func (p *Page) state(ctx context.Context) (view.Fleet, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.at.IsZero() && p.clock.Since(p.at) < fresh {
		return p.fleet, nil
	}
	services, complete := p.sources.Services()
	if !complete {
		return view.Fleet{}, errCaches
	}
	fleet, judged, err := p.judgeChanged(ctx, services)
	if err == nil {
		p.fleet, p.judged, p.at = fleet, judged, p.clock.Now()
	}
	return fleet, err
}

// judgeChanged computes the state of Services that have changed since the last call. It takes a fifth of a
// millisecond for each. The state of a Service follows from its object and the flags alone.
func (p *Page) judgeChanged(ctx context.Context, services []*corev1.Service) (view.Fleet, map[*corev1.Service]view.Service, error) {
	var changed []*corev1.Service
	for _, svc := range services {
		if _, found := p.judged[svc]; !found {
			changed = append(changed, svc)
		}
	}
	fleet, err := p.sources.State(ctx, changed)
	if err != nil {
		return view.Fleet{}, nil, err
	}
	found := map[stack.Owner]view.Service{}
	for _, s := range fleet.Services {
		found[s.Owner] = s
	}
	judged := map[*corev1.Service]view.Service{}
	fleet.Services = make([]view.Service, 0, len(services))
	for _, svc := range services {
		s, known := p.judged[svc]
		if !known {
			if s, known = found[reconcile.OwnerOf(svc)]; !known {
				continue // it is of another type
			}
		}
		judged[svc] = s
		fleet.Services = append(fleet.Services, s)
	}
	slices.SortFunc(fleet.Services, func(a, b view.Service) int { return a.Owner.Compare(b.Owner) })
	fleet.Total = len(fleet.Services)
	return fleet, judged, nil
}

// reader reads the documents for one user.
type reader struct {
	page *Page
	user *user
}

// Fleet returns the Services that the user may list.
func (r *reader) Fleet(ctx context.Context) (view.Fleet, error) {
	out, _, err := r.visible(ctx)
	return out, err
}

// visible returns the Services that the user may list, and a function that reports whether the
// user may list those of a namespace.
func (r *reader) visible(ctx context.Context) (view.Fleet, func(string) bool, error) {
	all, err := r.page.state(ctx)
	if err != nil {
		return view.Fleet{}, nil, err
	}
	var namespaces []string
	for _, s := range all.Services { // by namespace
		if len(namespaces) == 0 || namespaces[len(namespaces)-1] != s.Owner.Namespace {
			namespaces = append(namespaces, s.Owner.Namespace)
		}
	}
	listable, err := r.page.access.listable(ctx, r.user, namespaces)
	if err != nil {
		return view.Fleet{}, nil, err
	}
	all.Services = slices.DeleteFunc(slices.Clone(all.Services), func(s view.Service) bool { return !listable(s.Owner.Namespace) })
	all.Total = len(all.Services)
	return all, listable, nil
}

// Texts in place of what the page of the controller does not show.
const (
	unplanned = "the page of the controller shows no plans, because these read the cloud: use berth ui"
	standby   = "this replica does not lead, so it does not know the resources in the cloud: read again, or use berth ui"
	// The controller reads the health of members for readiness gates alone.
	unreadHealth = "the controller has not read their health, which it does only while a pod waits at a readiness gate of the load balancer: use berth ui"
	agedHealth   = "The health of members is that of %s, when a pod last waited at a readiness gate of the load balancer. berth ui reads it now."
)

// Planned refuses: a plan reads the cloud.
func (r *reader) Planned(context.Context) (view.Fleet, error) {
	return view.Fleet{}, &page.RefusalError{Status: http.StatusNotFound, Text: unplanned}
}

// Plan refuses as well.
func (r *reader) Plan(context.Context) (plan.Document, error) {
	return plan.Document{}, &page.RefusalError{Status: http.StatusNotFound, Text: unplanned}
}

// Service returns one Service. Only a user with the right learns whether it exists.
func (r *reader) Service(ctx context.Context, namespace, name string) (view.Service, error) {
	fleet, listable, err := r.visible(ctx)
	if err != nil {
		return view.Service{}, err
	}
	if !listable(namespace) {
		return view.Service{}, refuseUser()
	}
	i := slices.IndexFunc(fleet.Services, func(s view.Service) bool { return s.Owner.Namespace == namespace && s.Owner.Name == name })
	if i < 0 {
		return view.Service{}, fmt.Errorf("service %s/%s: %w", namespace, name, view.ErrNotFound)
	}
	out := fleet.Services[i]
	detail := r.page.detailOf(out, listable)
	r.page.addHealth(&out, &detail)
	out.Detail = &detail
	return out, nil
}

// addHealth adds the health of members as the controller has last read it, or the reason why none is shown. The page
// causes no read of the cloud.
func (p *Page) addHealth(s *view.Service, detail *view.Detail) {
	memory := p.sources.Memory()
	switch {
	case s.Verdict == view.LeftAlone:
		return
	case memory == nil:
		s.Unseen = standby
		return
	}
	members, at := memory.LastHealth(s.Owner)
	if at.IsZero() {
		s.Unseen = unreadHealth
		return
	}
	s.Balancers = nil // a new list, as the cached Service is shared by requests
	for _, m := range members {
		i := slices.IndexFunc(s.Balancers, func(b view.Branch) bool { return b.Key == m.Of })
		if i < 0 {
			i, s.Balancers = len(s.Balancers), append(s.Balancers, view.Branch{Key: m.Of, Label: m.Of.String()})
		}
		s.Balancers[i].Take(m)
	}
	detail.Notes = append(detail.Notes, fmt.Sprintf(agedHealth, at.UTC().Format(time.RFC3339)))
}

// detailOf returns what the caches of this replica know of a Service.
func (p *Page) detailOf(s view.Service, listable func(string) bool) view.Detail {
	out := view.Detail{Provider: p.sources.Provider, Unplanned: unplanned}
	services, _ := p.sources.Services()
	i := slices.IndexFunc(services, func(svc *corev1.Service) bool { return reconcile.OwnerOf(svc) == s.Owner })
	if i < 0 {
		return out // it was deleted since
	}
	if s.Verdict != view.LeftAlone {
		out.Problems = p.sources.Problems(services[i])
	}
	memory := p.sources.Memory()
	if memory == nil {
		out.Notes = []string{standby}
		return out
	}
	have := memory.Remembered(s.Owner)
	if have == nil {
		return out
	}
	topology := graph.Build(graph.Source{
		Service: services[i], Have: have, Flows: memory.FlowsOf(s.Owner, have),
		Others: func(res stack.Resource) []stack.Owner { return memory.Others(s.Owner, res) },
	})
	topology = view.HideInGraph(topology, listable)
	out.Graph, out.Have = &topology, describeOwned(have)
	return out
}

// describeOwned returns the resources of one Service alone: the fields of a shared one can name other
// Services.
func describeOwned(have *stack.Stack) []plan.ResourceDoc {
	var out []plan.ResourceDoc
	for _, res := range have.Resources {
		if res.Ownership == stack.Owned && res.Proof != stack.None {
			out = append(out, plan.Describe(res))
		}
	}
	return out
}

// Shared returns the resources that the user's Services share with others.
func (r *reader) Shared(ctx context.Context) (view.Shared, error) {
	out := view.Shared{FormatVersion: plan.FormatVersion, Provider: r.page.sources.Provider}
	_, listable, err := r.visible(ctx)
	if err != nil {
		return out, err
	}
	memory := r.page.sources.Memory()
	if memory == nil {
		return out, &page.RefusalError{Status: http.StatusServiceUnavailable, Text: standby}
	}
	all, err := r.page.state(ctx)
	if err != nil {
		return out, err
	}
	var holdings []view.Holding
	for _, s := range all.Services {
		if have := memory.Remembered(s.Owner); have != nil {
			holdings = append(holdings, view.Holding{Owner: s.Owner, Have: have})
		}
	}
	out.Resources = view.HideShared(view.Share(holdings), listable)
	return out, nil
}
