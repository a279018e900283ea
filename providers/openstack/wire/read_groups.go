package wire

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
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

// portsWith lists ports that have one of the values in a field.
type portsWith struct {
	field  string
	values []string
}

// ToPortListQuery implements ports.ListOptsBuilder.
func (p portsWith) ToPortListQuery() (string, error) {
	q := url.Values{p.field: p.values, "fields": {"id", "device_id", "security_groups", "revision_number", "port_security_enabled", "fixed_ips"}}
	return "?" + q.Encode(), nil
}

// askedAtOnce is how many values one list call asks for: they stand in its address,
// which must not grow too long.
const askedAtOnce = 100

// listPorts lists ports by the values of a field.
func (s *Session) listPorts(ctx context.Context, field string, values []string) ([]port, error) {
	var all []port
	for chunk := range slices.Chunk(values, askedAtOnce) {
		some, err := listAll[port](ctx, s, bucketNetwork, ports.List(s.network, portsWith{field: field, values: chunk}), "ports")
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
		if wanted[g.Name] {
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
func (s *Session) listGroups(ctx context.Context, names map[string]bool) ([]groups.SecGroup, error) {
	var opts groups.ListOpts
	for name := range names {
		if len(names) < listFrom {
			opts.Name = name
		}
	}
	return listAll[groups.SecGroup](ctx, s, bucketNetwork, groups.List(s.network, opts), "security_groups")
}

// groups finds the Service's security group. Of several, which only a lost answer makes,
// one stays and the others go.
func (f *finder) groups(name string) {
	first := true
	for _, g := range f.view.groups {
		if g.Name != name {
			continue
		}
		suffix := another + g.ID
		if first {
			first, suffix = false, ""
		}
		in := stack.Key{Kind: model.KindGroup, Name: suffix}
		f.out.Put(stack.Resource{Key: in, ID: g.ID, Proof: stack.Name, Spec: model.Group{Name: g.Name, Description: g.Description}})
		var list []model.GroupRule
		for _, r := range g.Rules {
			list = append(list, ruleOf(r))
		}
		slices.SortFunc(list, model.GroupRule.Compare)
		f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindRules, Name: suffix}, ID: g.ID, In: in, Proof: stack.Derived, Spec: model.GroupRules{Rules: list}})
		if having := f.view.groupPorts[g.ID]; len(having) > 0 {
			slices.Sort(having)
			f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindGroupPorts, Name: suffix}, ID: g.ID, In: in, Proof: stack.Derived, Spec: model.GroupPorts{Ports: having}})
		}
	}
}

// memberRanges notes the addresses of the subnets that found members are in, where security
// groups of nodes are built from them. A subnet that cannot be seen is left out.
func (s *Session) memberRanges(ctx context.Context, have *stack.Stack) error {
	if !s.config.ManageGroups {
		return nil
	}
	lb, _ := have.Get(stack.Key{Kind: model.KindBalancer})
	balancer, _ := lb.Spec.(model.Balancer)
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
