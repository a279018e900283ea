package wire

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// port is a port of Neutron, as far as security groups need it.
type port struct {
	ID       string   `json:"id"`
	Device   string   `json:"device_id"`
	Groups   []string `json:"security_groups"`
	Revision int      `json:"revision_number"`
	Secured  bool     `json:"port_security_enabled"`
	FixedIPs []struct {
		Subnet  string `json:"subnet_id"`
		Address string `json:"ip_address"`
	} `json:"fixed_ips"`
}

// collectionPorts is the path of Neutron's ports.
const collectionPorts = "ports"

// askedAtOnce is how many values one list call asks for: they stand in its address,
// which must not grow too long.
const askedAtOnce = 100

// listPorts lists ports by the values of a field.
func (s *Session) listPorts(ctx context.Context, field string, values []string) ([]port, error) {
	var all []port
	for chunk := range slices.Chunk(values, askedAtOnce) {
		some, err := listPlain[port](ctx, s, collectionPorts, url.Values{
			field: chunk, "fields": {"id", "device_id", "security_groups", "revision_number", "port_security_enabled", "fixed_ips"},
		})
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// asksForGroups reports whether a scope includes security groups.
func asksForGroups(sc providers.Scope) bool {
	return len(sc.Only) == 0 || slices.ContainsFunc(sc.Only, func(k stack.Kind) bool {
		return k == model.KindGroup || k == model.KindRules || k == model.KindGroupPorts
	})
}

// lookGroups reads the security groups that some scope asks for, with their rules and
// the ports that have them.
func (s *Session) lookGroups(ctx context.Context, v *view, scopes []providers.Scope) error {
	wanted := map[string]bool{}
	for _, sc := range scopes {
		for _, l := range sc.Own {
			if l.Kind == model.KindGroup && asksForGroups(sc) {
				wanted[l.Value] = true
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	all, err := s.listGroups(ctx, wanted)
	if err != nil {
		return err
	}
	v.groupPorts = map[string][]string{}
	var ids []string
	for _, g := range all {
		if wanted[g.Spec.Name] {
			v.groups, ids = append(v.groups, g), append(ids, g.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	list, err := s.listPorts(ctx, "security_groups", ids)
	for _, p := range list {
		for _, g := range p.Groups {
			if slices.Contains(ids, g) && !slices.Contains(v.groupPorts[g], p.ID) {
				v.groupPorts[g] = append(v.groupPorts[g], p.ID)
			}
		}
	}
	return err
}

// listGroups lists security groups: one by its name, or all where several are wanted.
func (s *Session) listGroups(ctx context.Context, names map[string]bool) ([]item[model.Group], error) {
	query := url.Values{}
	for name := range names {
		if len(names) < listFrom {
			query.Set("name", name)
		}
	}
	return listItems(ctx, s, model.GroupCodec(), query)
}

// groups finds the Service's security group. Of several, which only a lost answer makes, one stays: the one that
// ports have, or else the oldest one.
func (f *finder) groups(name string) error {
	named := slices.DeleteFunc(slices.Clone(f.view.groups), func(g item[model.Group]) bool { return g.Spec.Name != name })
	kit.SortMarked(named, func(g item[model.Group]) kit.Marked {
		return kit.Marked{ID: g.ID, Created: g.Created, Recorded: len(f.view.groupPorts[g.ID]) > 0}
	})
	for i, g := range named {
		found, err := rulesIn(g)
		if err != nil {
			return err
		}
		in := providers.DuplicateKey(model.KindGroup, g.ID)
		if i == 0 {
			in.Name = ""
		}
		f.out.Put(stack.Resource{Key: in, ID: g.ID, Proof: stack.Name, Spec: g.Spec})
		var list []model.GroupRule
		for _, r := range found {
			list = append(list, r.Spec)
		}
		slices.SortFunc(list, model.GroupRule.Compare)
		f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindRules, Name: in.Name}, ID: g.ID, In: in, Proof: stack.Derived, Spec: model.GroupRules{Rules: list}})
		if having := f.view.groupPorts[g.ID]; len(having) > 0 {
			slices.Sort(having)
			f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindGroupPorts, Name: in.Name}, ID: g.ID, In: in, Proof: stack.Derived, Spec: model.GroupPorts{Ports: having}})
		}
	}
	return nil
}

// memberRanges notes the addresses of the subnets that found members are in, where security
// groups of nodes are built from them. A subnet that cannot be seen is left out.
func (s *Session) memberRanges(ctx context.Context, have *stack.Stack) error {
	if !s.config.ManageGroups {
		return nil
	}
	balancer, _ := stack.SpecOf[model.Balancer](have, stack.Key{Kind: model.KindBalancer})
	for i, r := range have.Resources {
		spec, is := r.Spec.(model.Members)
		if !is {
			continue
		}
		spec.Ranges = map[string]netip.Prefix{}
		for _, m := range spec.Members {
			id := cmp.Or(m.Subnet, balancer.Subnet)
			if _, known := spec.Ranges[m.Subnet]; known || id == "" {
				continue
			}
			sub, err := s.knownSubnet(ctx, id)
			switch {
			case err == nil:
				spec.Ranges[m.Subnet] = sub.CIDR
			case !fault.Is(err, fault.NotFound):
				return err
			}
		}
		have.Resources[i].Spec = spec
	}
	return nil
}

// nodePorts brings the ports of the servers of all scopes that ask for them. They are
// remembered for a while: a server seldom gets another port.
func (s *Session) nodePorts(ctx context.Context, scopes []providers.Scope) (map[string][]model.NodePort, error) {
	var ids []string
	for _, sc := range scopes {
		if !slices.ContainsFunc(sc.Facts, func(l providers.Lookup) bool { return l.Kind == model.FactNodePorts }) {
			continue
		}
		for node := range sc.Nodes.All() {
			if id := model.ServerID(node); strings.Trim(id, " ") != "" {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	known, _, err := s.servers.Get(ctx, s.now(), ids, func(ctx context.Context, stale []string) (map[string][]model.NodePort, error) {
		list, err := s.listPorts(ctx, "device_id", stale)
		out := map[string][]model.NodePort{}
		for _, p := range list {
			for _, fixed := range p.FixedIPs {
				out[p.Device] = append(out[p.Device], model.NodePort{ID: p.ID, Address: fixed.Address, Subnet: fixed.Subnet, Secured: p.Secured})
			}
		}
		return out, err
	})
	return known, err
}
