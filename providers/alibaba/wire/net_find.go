package wire

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Names of the lists of network load balancers and their parts, in errors.
const (
	listNets           = "list of network load balancers"
	listServerGroups   = "list of server groups"
	listSecurityGroups = "list of security groups"
)

// How many items a page of the NLB API has, and how many ids a call takes.
// Source: API of NLB, ListLoadBalancers and ListListeners.
const (
	pageNet = 100
	idsNet  = 20
)

// netLists is what lists show of network load balancers.
type netLists struct {
	balancers []netDoc
	groups    []netGroupDoc
	security  []securityDoc

	mu        sync.Mutex // of what follows
	listeners map[string][]netListenerDoc
	servers   map[string][]netServerDoc
	rules     map[string][]securityRuleDoc
	more      map[string][]string // additional certificates, by listener
}

// listOf returns the list that shows the resources of a kind.
func listOf(k stack.Kind) string {
	return map[stack.Kind]string{model.KindNetBalancer: listNets, model.KindServerGroup: listServerGroups, model.KindSecurityGroup: listSecurityGroups}[k]
}

// lists returns the lists that scopes need. One that is denied is empty, unless a Service of the kind is served:
// an account without the right has created none.
func (n *netLists) lists(ctx context.Context, s *Session, scopes []providers.Scope) []kit.List {
	var named []string
	needs, served := map[stack.Kind]bool{}, false
	for _, sc := range scopes {
		asks := listsFor(sc)
		for _, l := range sc.Own {
			needs[l.Kind] = needs[l.Kind] || asks[listOf(l.Kind)]
			served = served || l.Kind == model.KindNetBalancer && l.By == model.ByServed && l.Value == model.NLB
			if l.Kind == model.KindServerGroup && l.By == model.ByID {
				named = append(named, strings.Fields(l.Value)[0])
			}
		}
	}
	tags := s.clusterTag()
	var out []kit.List
	add := func(kind stack.Kind, name string, run func() error) {
		if needs[kind] {
			out = append(out, kit.List{Name: name, Run: func() error {
				err := run()
				if !served && providers.HidesOnly(err) {
					return nil
				}
				return err
			}})
		}
	}
	add(model.KindNetBalancer, listNets, func() (err error) {
		n.balancers, err = s.netBalancers(ctx, nil)
		return err
	})
	add(model.KindServerGroup, listServerGroups, func() (err error) {
		if n.groups, err = pagesOf[netGroupDoc](ctx, s, actListServerGroups, "ServerGroups", tags); err != nil {
			return err
		}
		s.noteListed(groupPrefix, len(n.groups))
		for some := range slices.Chunk(distinctTexts(named), idsNet) {
			params := url.Values{}
			addList(params, "ServerGroupIds", some)
			found, err := pagesOf[netGroupDoc](ctx, s, actListServerGroups, "ServerGroups", params)
			if err != nil {
				return err
			}
			n.groups = append(n.groups, found...)
		}
		return nil
	})
	add(model.KindSecurityGroup, listSecurityGroups, func() (err error) {
		n.security, err = s.securityGroups(ctx, tags)
		return err
	})
	return out
}

// netBalancers returns the network load balancers of the region, or those of some ids.
func (s *Session) netBalancers(ctx context.Context, ids []string) ([]netDoc, error) {
	params := url.Values{}
	addList(params, "LoadBalancerIds", ids)
	return pagesOf[netDoc](ctx, s, actListNets, "LoadBalancers", params)
}

// details are the calls for the parts of the network load balancers that finders have found.
func (n *netLists) details(ctx context.Context, s *Session, finders []*finder) []kit.Detail {
	n.listeners, n.servers, n.rules, n.more = map[string][]netListenerDoc{}, map[string][]netServerDoc{}, map[string][]securityRuleDoc{}, map[string][]string{}
	var ids, groups, security []string
	for _, f := range finders {
		if f.scope.Depth == providers.Shallow {
			continue
		}
		for _, r := range f.out.Of(model.KindNetBalancer) {
			if asksFor(f.scope, model.KindNetListener) {
				ids = append(ids, r.ID)
			}
		}
		for _, d := range n.groups {
			if f.isOfGroup(d) {
				groups, f.things = append(groups, d.ID), append(f.things, d.ID)
			}
		}
		for _, r := range f.out.Of(model.KindSecurityGroup) {
			if asksFor(f.scope, model.KindSecurityGroup) {
				security = append(security, r.ID)
			}
		}
	}
	var out []kit.Detail
	for some := range slices.Chunk(distinctTexts(ids), idsNet) {
		out = append(out, kit.Detail{Of: some, Run: func() error { return n.readListeners(ctx, s, some) }})
	}
	for _, id := range distinctTexts(groups) {
		out = append(out, kit.Detail{Of: []string{id}, Run: func() error {
			found, err := pagesOf[netServerDoc](ctx, s, actListNetServers, "Servers", url.Values{"ServerGroupId": {id}})
			if fault.Is(err, fault.NotFound) {
				err = nil
			}
			n.keep(func() { n.servers[id] = found })
			return err
		}})
	}
	for _, id := range distinctTexts(security) {
		out = append(out, kit.Detail{Of: []string{id}, Run: func() error {
			rules, err := s.securityRules(ctx, id)
			if fault.Is(err, fault.NotFound) {
				err = nil
			}
			n.keep(func() { n.rules[id] = rules })
			return err
		}})
	}
	return out
}

func (n *netLists) keep(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

func (n *netLists) readListeners(ctx context.Context, s *Session, ids []string) error {
	params := url.Values{}
	addList(params, "LoadBalancerIds", ids)
	found, err := pagesOf[netListenerDoc](ctx, s, actListNetListeners, "Listeners", params)
	switch {
	case fault.Is(err, fault.NotFound) && len(ids) > 1: // the others have listeners
		return kit.OneByOne(ids, func(one []string) error { return n.readListeners(ctx, s, one) })
	case fault.Is(err, fault.NotFound):
		err = nil
	}
	n.keep(func() {
		for _, d := range found {
			n.listeners[d.Balancer] = append(n.listeners[d.Balancer], d)
		}
	})
	return err
}

// certificates are the calls for the additional certificates of listeners of TCPSSL.
func (n *netLists) certificates(ctx context.Context, s *Session, finders []*finder) []kit.Detail {
	var out []kit.Detail
	for _, f := range finders {
		if _, asks := f.lookup(model.KindNetListener, model.ByListener); !asks {
			continue
		}
		for _, lb := range f.out.Of(model.KindNetBalancer) {
			for _, l := range n.listeners[lb.ID] {
				if l.Protocol != "TCPSSL" {
					continue
				}
				out = append(out, kit.Detail{Of: []string{lb.ID}, Run: func() error {
					found, err := s.moreCertificates(ctx, l.ID)
					n.keep(func() { n.more[l.ID] = found })
					return err
				}})
			}
		}
	}
	return out
}

// isOfGroup reports whether a server group is the Service's, or one that it names.
func (f *finder) isOfGroup(d netGroupDoc) bool {
	owner, ok := f.lookup(model.KindServerGroup, model.ByTag)
	tags := tagsByKey(d.Tags)
	return ok && tags[model.TagOwner] == owner && f.isCluster(tags) || slices.ContainsFunc(f.netGroups, func(g namedGroup) bool { return g.id == d.ID })
}

// putNet adds the parts of network load balancers to the observed state.
func (f *finder) putNet(n *netLists) {
	if f.scope.Depth == providers.Shallow {
		return
	}
	foreign, own := map[string]bool{}, map[string]bool{}
	for _, lb := range f.out.Of(model.KindNetBalancer) {
		own[lb.ID] = true
		for _, l := range n.listeners[lb.ID] {
			if !f.isOwnNet(l) {
				foreign[l.Group] = true
			}
		}
	}
	keys := map[string]stack.Key{}
	groups := slices.Clone(n.groups)
	slices.SortStableFunc(groups, func(a, b netGroupDoc) int { return f.unused(n, a) - f.unused(n, b) })
	for _, d := range groups {
		if !f.isOfGroup(d) || keys[d.ID] != (stack.Key{}) {
			continue
		}
		beside := foreign[d.ID] || slices.ContainsFunc(d.Balancers, func(id string) bool { return !own[id] })
		f.putServerGroup(d, n.servers[d.ID], beside, keys)
	}
	for _, lb := range f.out.Of(model.KindNetBalancer) {
		for _, l := range n.listeners[lb.ID] {
			f.putNetListener(l, lb.Key, keys, n.more[l.ID])
		}
	}
	f.putRanges(n)
}

// putRanges adds the permitted ranges to the security groups that were found.
func (f *finder) putRanges(n *netLists) {
	for r, spec := range stack.Each[model.SecurityGroup](f.out, model.KindSecurityGroup) {
		for _, rule := range n.rules[r.ID] {
			if text := rule.Range + rule.Range6; rule.Policy == "Accept" && text != "" && rule.Description == spec.Description {
				spec.Ranges = append(spec.Ranges, text)
			}
		}
		slices.Sort(spec.Ranges)
		r.Spec = spec
		f.out.Put(r)
	}
}

// unused orders the groups that a listener uses before others: of several with one name the used one is the
// present one.
func (f *finder) unused(n *netLists, d netGroupDoc) int {
	for _, lb := range f.out.Of(model.KindNetBalancer) {
		if slices.ContainsFunc(n.listeners[lb.ID], func(l netListenerDoc) bool { return l.Group == d.ID }) {
			return 0
		}
	}
	return 1
}

func (f *finder) isOwnNet(d netListenerDoc) bool {
	_, _, ok := model.IsNetNameOf(d.Description, f.scope.Owner, f.session.config.ClusterID)
	return ok
}

// putServerGroup adds a server group of the Service, or one that it names.
func (f *finder) putServerGroup(d netGroupDoc, servers []netServerDoc, beside bool, keys map[string]stack.Key) {
	r := stack.Resource{ID: d.ID, Proof: stack.Tag}
	if d.Status == "Creating" || d.Status == statusDeleting {
		r.State = stack.Pending
	}
	if f.putNamedGroup(r, d, servers, keys); keys[d.ID] != (stack.Key{}) {
		return
	}
	port, protocol, ok := model.IsNetNameOf(d.Name, f.scope.Owner, f.session.config.ClusterID)
	if tags := tagsByKey(d.Tags); tags[model.TagOwner] != model.DefaultName(f.scope.Owner) {
		return
	}
	spec := netGroupSpec(d, d.Name, servers)
	spec.Shared = spec.Shared || beside
	r.Key, r.Spec = model.ServerGroupKey(port, protocol), spec
	if _, taken := f.out.Get(r.Key); !ok || taken {
		r.Key = stack.Key{Kind: model.KindServerGroup, Name: "other/" + d.ID}
	}
	if !f.served && spec.Shared && len(spec.Servers) == 0 {
		r.Proof = stack.None
	}
	keys[d.ID] = r.Key
	f.out.Put(r)
}

// putNamedGroup adds a server group that the Service names, once for each port that names it.
func (f *finder) putNamedGroup(r stack.Resource, d netGroupDoc, servers []netServerDoc, keys map[string]stack.Key) {
	for _, g := range f.netGroups {
		if g.id != d.ID {
			continue
		}
		spec := netGroupSpec(d, g.name, servers)
		spec.Shared = true
		r.Key, r.Proof, r.Spec = stack.Key{Kind: model.KindServerGroup, Name: g.port}, stack.Derived, spec
		if model.IsNetControllerName(d.Name) {
			r.Proof, r.Spec = stack.None, model.ServerGroup{Name: d.Name}
		} else if !f.served && len(spec.Servers) == 0 {
			continue
		}
		keys[d.ID] = r.Key
		f.out.Put(r)
	}
}

// putNetListener adds a listener. Its description says whose it is.
func (f *finder) putNetListener(d netListenerDoc, in stack.Key, keys map[string]stack.Key, more []string) {
	port, end := d.ports()
	r := stack.Resource{Key: model.NetListenerKey(d.Protocol, port, end), ID: d.ID, In: in, Slot: model.NetSlotOf(d.Protocol, port, end), Proof: stack.Derived}
	group := stack.RefID(d.Group)
	if key, ok := keys[d.Group]; ok {
		group = stack.RefTo(key)
	}
	if !f.isOwnNet(d) {
		r.Key.Name, r.Proof = "other/"+r.Key.Name, stack.None
		if group.ID == "" {
			group = stack.Ref{}
		}
	}
	if in.Name != "" {
		r.Key.Name = in.Name + "/" + r.Key.Name
	}
	if d.Status == "Provisioning" || d.Status == "Configuring" || d.Status == statusDeleting {
		r.State = stack.Pending
	}
	spec := netListenerSpec(d, group)
	spec.More = more
	r.Spec = spec
	f.out.Put(r)
}

// moreCertificates returns the additional certificates of a listener.
func (s *Session) moreCertificates(ctx context.Context, listener string) ([]string, error) {
	type certificateDoc struct {
		ID      string `json:"CertificateId"`
		Default bool   `json:"IsDefault"`
	}
	found, err := pagesOf[certificateDoc](ctx, s, actListCertificates, "Certificates", url.Values{"ListenerId": {listener}, "CertType": {"Server"}})
	var out []string
	for _, d := range found {
		if !d.Default {
			out = append(out, d.ID)
		}
	}
	slices.Sort(out)
	return out, err
}

// withMost returns parameters of a list with the greatest page.
func withMost(params url.Values) url.Values {
	out := url.Values{"MaxResults": {strconv.Itoa(pageNet)}}
	for name, values := range params {
		out[name] = values
	}
	return out
}
