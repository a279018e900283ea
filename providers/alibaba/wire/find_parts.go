package wire

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// parts reads the parts of one load balancer.
type parts struct {
	*finder
	ctx      context.Context //nolint:containedctx // of the one read that uses the value
	balancer string
	in       stack.Key
	used     map[string]bool // server groups of listeners of others
	secure   map[int32]bool  // ports of the Service's listeners of HTTPS
	keys     map[string]stack.Key
}

// put adds a part to the observed state.
func (p *parts) put(r stack.Resource) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Put(r)
}

// isTaken reports whether a part with the key was found.
func (p *parts) isTaken(k stack.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.out.Get(k)
	return ok
}

// read reads listeners, server groups, and what listeners refer to.
func (p *parts) read() error {
	var listeners []listenerDoc
	if asksFor(p.scope, model.KindListener, model.KindDomain, model.KindList) {
		var err error
		if listeners, err = p.session.listenersOf(p.ctx, p.balancer); err != nil {
			return err
		}
	}
	p.used, p.secure, p.keys = map[string]bool{}, map[int32]bool{}, map[string]stack.Key{}
	for _, l := range listeners {
		if p.isOwn(l) && l.Protocol == "https" {
			p.secure[l.Port] = true
		}
		if !p.isOwn(l) && l.Group != "" {
			p.used[l.Group] = true
		}
	}
	if err := p.readServerGroups(listeners); err != nil {
		return err
	}
	if p.in.Name != "" {
		for _, l := range listeners {
			p.putListener(l)
		}
		return nil
	}
	return p.readListeners(listeners)
}

// readListeners adds listeners with their access control lists and further certificates.
func (p *parts) readListeners(listeners []listenerDoc) error {
	_, wantsDomains := p.lookup(model.KindDomain, model.ByListener)
	ids := map[string]bool{}
	for _, l := range listeners {
		r := p.putListener(l)
		spec, _ := r.Spec.(model.Listener)
		if r.Proof == stack.None {
			continue
		}
		if spec.Settings["AclStatus"] == "on" {
			for _, id := range model.SplitIDs(spec.Settings["AclId"]) {
				ids[id] = true
			}
		}
		if wantsDomains && l.Protocol == "https" {
			if err := p.readDomains(r, l.Port); err != nil {
				return err
			}
		}
	}
	lists, err := p.session.listsOf(p.ctx, slices.Sorted(maps.Keys(ids)))
	for id, list := range lists {
		p.put(stack.Resource{Key: model.ListKey(id), ID: id, Ownership: stack.External, Spec: list})
	}
	return err
}

// isOwn reports whether the description of a listener is the Service's.
func (p *parts) isOwn(d listenerDoc) bool {
	port, ok := model.IsNameOf(d.Description, p.scope.Owner, p.session.config.ClusterID)
	return ok && port == strconv.Itoa(int(d.Port))
}

// putListener adds a listener. Its description says whose it is.
func (p *parts) putListener(d listenerDoc) stack.Resource {
	r := stack.Resource{
		Key: model.ListenerKey(d.Protocol, d.Port), ID: listenerID(p.balancer, d.Protocol, d.Port), In: p.in,
		Slot: model.SlotOf(d.Protocol, d.Port), Proof: stack.Derived,
	}
	if !p.isOwn(d) {
		r.Key.Name, r.Proof = "other/"+r.Key.Name, stack.None
	}
	if p.in.Name != "" {
		r.Key.Name = p.in.Name + "/" + r.Key.Name
	}
	group := p.groupOf(d)
	if r.Proof == stack.None && group.ID == "" {
		group = stack.Ref{} // it keeps no server group of the Service; see used
	}
	spec := listenerSpec(d, group)
	if port, err := strconv.ParseInt(spec.Forward.ID, 10, 32); err == nil && p.secure[int32(port)] {
		spec.Forward = stack.RefTo(model.ListenerKey("https", int32(port)))
	}
	r.Spec = spec
	p.put(r)
	return r
}

// groupOf returns the server group of a listener, which is its own one where two ports of the
// Service share one of others.
func (p *parts) groupOf(d listenerDoc) stack.Ref {
	if d.Group == "" {
		return stack.Ref{}
	}
	for _, g := range p.groups {
		if g.id == d.Group && g.listener == d.Port {
			return stack.RefTo(model.GroupKey(g.port))
		}
	}
	if key, ok := p.keys[d.Group]; ok {
		return stack.RefTo(key)
	}
	return stack.RefID(d.Group)
}

func (p *parts) readDomains(listener stack.Resource, port int32) error {
	var answer struct {
		Domains struct {
			All []domainDoc `json:"DomainExtension"`
		} `json:"DomainExtensions"`
	}
	if err := p.session.read(p.ctx, actListDomains, url.Values{"LoadBalancerId": {p.balancer}, "ListenerPort": {strconv.Itoa(int(port))}}, &answer); err != nil {
		return err
	}
	for _, d := range answer.Domains.All {
		p.put(stack.Resource{Key: model.DomainKey(port, d.Domain), ID: d.ID, In: listener.Key, Proof: stack.Derived, Spec: model.Domain{Name: d.Domain, Certificate: d.Certificate}})
	}
	return nil
}

// readPublic reads the elastic IP addresses of the load balancer.
func (p *parts) readPublic() error {
	var answer struct {
		Addresses struct {
			All []struct {
				IP string `json:"IpAddress"`
			} `json:"EipAddress"`
		} `json:"EipAddresses"`
	}
	err := p.session.read(p.ctx, actListAddresses, url.Values{"AssociatedInstanceType": {"SlbInstance"}, "AssociatedInstanceId": {p.balancer}, "PageSize": {strconv.Itoa(pageListeners)}}, &answer)
	if err != nil {
		return fmt.Errorf("elastic IP addresses: %w", err)
	}
	var out model.Public
	for _, a := range answer.Addresses.All {
		out.Addresses = append(out.Addresses, a.IP)
	}
	slices.Sort(out.Addresses)
	p.put(stack.Resource{Key: stack.Key{Kind: model.KindPublic}, ID: p.balancer, Ownership: stack.External, Spec: out})
	return nil
}

// readServerGroups reads the server groups, with the servers of the Service's own groups and of
// the groups that it names. Of several with one name the one that a listener uses is the Service's
// present one.
func (p *parts) readServerGroups(listeners []listenerDoc) error {
	var answer struct {
		Groups struct {
			All []groupDoc `json:"VServerGroup"`
		} `json:"VServerGroups"`
	}
	if err := p.session.read(p.ctx, actListGroups, url.Values{"LoadBalancerId": {p.balancer}}, &answer); err != nil {
		return err
	}
	all := answer.Groups.All
	isUsed := func(g groupDoc) int {
		if slices.ContainsFunc(listeners, func(l listenerDoc) bool { return l.Group == g.ID }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b groupDoc) int { return isUsed(a) - isUsed(b) })
	failed := make([]error, len(all))
	servers := make([][]serverDoc, len(all))
	var read []int
	for i, d := range all {
		if _, own := model.IsNameOf(d.Name, p.scope.Owner, p.session.config.ClusterID); own || p.isNamed(d.ID) {
			read = append(read, i)
		}
	}
	kit.ForEach(read, func(i int) { servers[i], failed[i] = p.session.serversOf(p.ctx, all[i].ID) })
	for i, err := range failed {
		if err != nil && !fault.Is(err, fault.NotFound) {
			return fmt.Errorf("server group %s: %w", all[i].ID, err)
		}
	}
	for _, g := range p.groups {
		if i := slices.IndexFunc(all, func(d groupDoc) bool { return d.ID == g.id }); i >= 0 && p.in.Name == "" {
			p.putNamed(all[i], g, servers[i])
		}
	}
	for i, d := range all {
		if !p.isNamed(d.ID) {
			p.putGroup(d, servers[i])
		}
	}
	return nil
}

func (p *parts) isNamed(id string) bool {
	return slices.ContainsFunc(p.groups, func(g namedGroup) bool { return g.id == id })
}

// putNamed adds a server group of others that the Service names. One that a controller has
// created is not used.
func (p *parts) putNamed(d groupDoc, g namedGroup, servers []serverDoc) {
	spec := groupSpec(g.name, servers)
	spec.Shared = true
	r := stack.Resource{Key: model.GroupKey(g.port), ID: d.ID, In: p.in, Proof: stack.Derived, Spec: spec}
	switch {
	case model.IsControllerName(d.Name):
		r.Proof, r.Spec = stack.None, model.VServerGroup{Name: d.Name}
	case !p.served && len(spec.Servers) == 0:
		return
	}
	p.keys[d.ID] = r.Key
	p.put(r)
}

// putGroup adds a server group. Its name says whose it is.
func (p *parts) putGroup(d groupDoc, servers []serverDoc) {
	r := stack.Resource{Key: stack.Key{Kind: model.KindGroup, Name: "other/" + d.ID}, ID: d.ID, In: p.in, Spec: model.VServerGroup{Name: d.Name}}
	port, ok := model.IsNameOf(d.Name, p.scope.Owner, p.session.config.ClusterID)
	if ok {
		spec := groupSpec(d.Name, servers)
		spec.Shared = spec.Shared || p.used[d.ID]
		r.Spec = spec
		if p.served || !spec.Shared || len(spec.Servers) > 0 {
			r.Proof = stack.Derived
		}
		if !p.isTaken(model.GroupKey(port)) && p.in.Name == "" {
			r.Key = model.GroupKey(port)
		}
	}
	p.keys[d.ID] = r.Key
	p.put(r)
}

func (s *Session) serversOf(ctx context.Context, id string) ([]serverDoc, error) {
	var answer struct {
		Servers struct {
			All []serverDoc `json:"BackendServer"`
		} `json:"BackendServers"`
	}
	err := s.read(ctx, actGetGroup, url.Values{"VServerGroupId": {id}}, &answer)
	return answer.Servers.All, err
}
