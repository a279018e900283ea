package wire

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// finder puts what was read of one Service into a stack.
type finder struct {
	session *Session
	view    *view
	scope   providers.Scope
	out     *stack.Stack
	name    string // of the Service's own load balancer, which is also its tag
	served  bool   // it is not released
	named   bool   // the load balancer has its name
	own     bool   // the load balancer is its own
}

// find fills the stack. Its error is a fault.
func (f *finder) find() error {
	s, err := f.sought()
	if err != nil {
		return err
	}
	own, err := f.candidates(s.names, s.id)
	if err != nil {
		return err
	}
	lb := own.kept
	if own.foreign {
		f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindBalancer}, ID: lb.ID, State: stateOf(lb.Provisioning), Spec: f.spec(lb)})
		return nil
	}
	if lb != nil {
		f.balancer(lb, s.names)
		if err := f.below(lb); err != nil {
			return err
		}
	}
	f.floating(own, s.description, s.kept)
	if f.served {
		f.former(lb, s.names)
	}
	return nil
}

// sought is by what a Service's own things are found.
type sought struct {
	names       []string // of its load balancer, the one of today first
	id          string   // of a load balancer that it names
	description string   // of its floating IP
	kept        bool     // the floating IP outlives the Service
}

// sought reads the look-ups of the scope, and finds security groups on the way.
func (f *finder) sought() (s sought, err error) {
	for _, l := range f.scope.Own {
		switch {
		case l.Kind == model.KindBalancer && l.By == model.ByName:
			s.names = append(s.names, l.Value)
		case l.Kind == model.KindBalancer && l.By == model.ByID:
			s.id = l.Value
		case l.Kind == model.KindBalancer && l.By == model.ByServed:
			f.served = true
		case l.Kind == model.KindFloatingIP && l.By == model.ByKept:
			s.kept = true
		case l.Kind == model.KindFloatingIP:
			s.description = l.Value
		case l.Kind == model.KindGroup:
			if err := f.groups(l.Value); err != nil {
				return s, err
			}
		}
	}
	if len(s.names) > 0 {
		f.name = s.names[0]
	}
	return s, nil
}

func (f *finder) spec(lb *balancer) model.Balancer {
	spec := lb.Spec
	spec.Status, spec.Stuck = statusOf(lb.Provisioning), f.isStuck(lb)
	spec.Lost = spec.Stuck && f.isDark(lb)
	return spec
}

// isStuck reports whether a load balancer is in ERROR and cannot be failed over.
func (f *finder) isStuck(lb *balancer) bool {
	return lb.Provisioning == failed && !f.session.failsOver(lb.Spec.Provider)
}

// isDark reports whether a load balancer is known to forward nothing: it and all its
// listeners are down. Its own status alone is not enough, since it is ERROR as well when all
// members of one pool are down. One that the user has disabled is not considered.
// Source: openstack/octavia, amphorae/drivers/health/heartbeat_udp.py.
func (f *finder) isDark(lb *balancer) bool {
	isDown := func(status string) bool { return status == "OFFLINE" || status == "ERROR" }
	down := 0
	for _, l := range f.view.listeners {
		if l.isOf(lb.ID) && isDown(l.Operating) {
			down++
		}
	}
	return lb.Up && isDown(lb.Operating) && down == len(lb.Listeners)
}

// claim determines the Service's resources of a load balancer. The load balancer is its own
// if it has its name, or if it was created for a Service that no longer exists and only
// this Service uses it. A load balancer with other users is left to them on deletion.
func (f *finder) claim(lb *balancer, names []string) {
	f.named = slices.Contains(names, lb.Spec.Name) || f.renamed(lb)
	alone := len(model.OtherTags(lb.Tags, f.name)) == 0 || f.named && len(model.OtherTags(lb.Tags, lb.Spec.Name)) == 0
	inherited := slices.Contains(lb.Tags, f.name) && strings.HasPrefix(lb.Spec.Name, model.OwnPrefix)
	f.own = f.named && (alone || f.served) || inherited && alone
}

// renamed reports whether a load balancer is the Service's from a time when the cluster had
// another name. It has the Service's name except for the cluster's part, no mark of any
// other user, and nodes of this cluster as members. Another cluster's load balancer has
// other nodes.
func (f *finder) renamed(lb *balancer) bool {
	if !model.Renamed(lb.Spec.Name, f.scope.Owner) || len(model.OtherTags(lb.Tags, lb.Spec.Name)) > 0 {
		return false
	}
	return f.behind(lb)
}

func statusOf(status string) string {
	if status == failed {
		return model.Failed
	}
	return model.Active
}

func stateOf(status string) stack.State {
	switch {
	case isPending(status):
		return stack.Pending
	case status == failed:
		return stack.Failed
	}
	return stack.Ready
}

// below finds listeners, pools, members and checks.
func (f *finder) below(lb *balancer) error {
	keys := map[string]string{} // of pools, by the listener that uses them
	mine := map[string]bool{}   // pools whose listener is the Service's
	for _, l := range f.view.listeners {
		if !l.isOf(lb.ID) {
			continue
		}
		key, ours := model.PortKey(l.Spec.Protocol, l.Spec.Port), f.tagged(l, lb)
		if pool := l.Spec.Pool.ID; pool != "" {
			keys[pool], mine[pool] = key, ours
		}
		f.out.Put(f.listener(l, key, ours))
	}
	for _, p := range f.view.pools {
		if !p.isOf(lb.ID) {
			continue
		}
		key, used := keys[p.ID]
		ours := mine[p.ID] || !used && strings.HasSuffix(p.Spec.Name, "_"+f.name)
		if !used {
			key = "unused/" + p.ID
		}
		if !ours {
			continue
		}
		if err := f.pool(p, key); err != nil {
			return err
		}
	}
	return nil
}

// tagged reports whether a listener of the load balancer is the Service's.
func (f *finder) tagged(l listener, lb *balancer) bool {
	return slices.Contains(l.Tags, f.name) || f.named && (len(l.Tags) == 0 || slices.Contains(l.Tags, lb.Spec.Name))
}

func (f *finder) listener(l listener, key string, ours bool) stack.Resource {
	r := stack.Resource{
		Key: stack.Key{Kind: model.KindListener, Name: key}, ID: l.ID, In: stack.Key{Kind: model.KindBalancer}, Slot: "port " + key, State: stateOf(l.Provisioning),
	}
	if ours {
		r.Proof = stack.Tag
	}
	spec := l.Spec
	if spec.Pool.ID != "" {
		spec.Pool = stack.RefTo(stack.Key{Kind: model.KindPool, Name: key})
	}
	if !f.session.config.Features.Ranges {
		spec.Ranges = nil
	}
	if spec.Timeouts.Known = true; !f.session.config.Features.Timeouts {
		spec.Timeouts = model.Timeouts{}
	}
	r.Spec = spec
	return r
}

func (f *finder) pool(p pool, key string) error {
	poolKey := stack.Key{Kind: model.KindPool, Name: key}
	f.out.Put(stack.Resource{Key: poolKey, ID: p.ID, In: stack.Key{Kind: model.KindBalancer}, Proof: stack.Derived, State: stateOf(p.Provisioning), Spec: p.Spec})
	if f.scope.Depth == providers.Deep {
		if err := f.view.missing[p.ID]; err != nil {
			return err
		}
	}
	members, state := model.Members{}, stack.Ready
	for _, m := range f.view.members[p.ID] {
		if m.Provisioning == failed {
			state = stack.Failed
		}
		members.Members = append(members.Members, m.Spec)
	}
	slices.SortFunc(members.Members, model.Member.Compare)
	f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindMembers, Name: key}, ID: p.ID, In: poolKey, Proof: stack.Derived, State: state, Spec: members})
	for _, m := range f.view.monitors {
		if m.ID == p.Monitor {
			f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindMonitor, Name: key}, ID: m.ID, In: poolKey, Proof: stack.Derived, State: stateOf(m.Provisioning), Spec: m.Spec})
		}
	}
	return nil
}

// floating finds the floating IP: the one that is bound to the load balancer's port, or
// one that was made for the Service and is bound to nothing, as after a lost answer. One
// that is kept is not the Service's any more once it is unbound. That of a load balancer
// which others use as well stays with it. Of several unbound ones the Service keeps the one
// that its status has, or else the oldest.
func (f *finder) floating(own candidates, description string, kept bool) {
	var taken bool
	put := func(r stack.Resource) {
		if taken {
			r.Key, r.Slot = providers.DuplicateKey(r.Key.Kind, r.ID), ""
		}
		taken = true
		f.out.Put(r)
	}
	for _, ip := range f.view.floating {
		if lb := own.kept; lb == nil || ip.Port == "" || ip.Port != lb.Spec.Port {
			continue
		}
		taken = true
		f.out.Put(f.bound(ip, kept))
	}
	made := slices.Clone(f.view.floating)
	kit.SortMarked(made, func(ip floatingIP) kit.Marked {
		return kit.Marked{ID: ip.ID, Created: ip.Created, Recorded: kit.IsRecorded(f.scope, ip.Spec.Address)}
	})
	for _, ip := range made {
		if description == "" || !strings.Contains(ip.Spec.Description, description) {
			continue
		}
		if ip.Port == "" && !kept {
			put(f.made(ip, kept, stack.Ref{}))
		}
		for _, lb := range own.duplicates {
			if ip.Port != "" && ip.Port == lb.Spec.Port {
				put(f.made(ip, kept, stack.RefTo(providers.DuplicateKey(model.KindBalancer, lb.ID))))
			}
		}
	}
}

// bound returns the floating IP of the load balancer's port: one that was made for the
// Service, or the binding of another.
func (f *finder) bound(ip floatingIP, kept bool) stack.Resource {
	balancer := stack.RefTo(stack.Key{Kind: model.KindBalancer})
	r := stack.Resource{Key: stack.Key{Kind: model.KindBinding}, ID: ip.ID, Slot: model.SlotFloating, Proof: stack.Derived, Spec: model.Binding{
		FloatingIP: ip.ID, Address: ip.Spec.Address, Balancer: balancer,
	}}
	if f.own && strings.Contains(ip.Spec.Description, model.FloatingMark) {
		r = f.made(ip, kept, balancer)
	}
	if !f.own {
		r.Ownership, r.Proof = stack.External, stack.None
	}
	return r
}

// made is a floating IP that was made for a Service.
func (f *finder) made(ip floatingIP, kept bool, to stack.Ref) stack.Resource {
	spec := ip.Spec
	spec.Keep, spec.Balancer = kept, to
	return stack.Resource{Key: stack.Key{Kind: model.KindFloatingIP}, ID: ip.ID, Slot: model.SlotFloating, Proof: stack.Description, Spec: spec}
}
