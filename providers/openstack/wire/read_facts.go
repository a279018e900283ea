package wire

import (
	"context"
	"net/netip"
	"path"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// factsOf answers the look-ups of all scopes, each once.
func (s *Session) factsOf(ctx context.Context, scopes []providers.Scope) (*model.Facts, error) {
	facts := &model.Facts{
		NodeSubnets: map[string]string{}, Subnets: map[string]model.Subnet{}, FloatingSubnets: map[string][]model.Subnet{},
		Addresses: map[string]model.Address{}, Secrets: map[string]bool{}, NetworkSubnets: map[string][]model.Subnet{}, Claims: map[string]model.Claim{},
	}
	s.claims.enter(scopes, s.now())
	done := map[providers.Lookup]bool{}
	for _, sc := range scopes {
		for _, l := range sc.Facts {
			if done[l] {
				continue
			}
			done[l] = true
			if err := s.fact(ctx, facts, l); err != nil {
				return nil, err
			}
		}
	}
	return facts, s.nodePorts(ctx, facts, scopes)
}

func (s *Session) fact(ctx context.Context, facts *model.Facts, l providers.Lookup) error {
	switch l.Kind {
	case model.FactNodeSubnet:
		id, err := remembered(s, l, func() (string, error) { return s.nodeSubnet(ctx, l.By, l.Value) })
		if id == "" || err != nil {
			return err
		}
		facts.NodeSubnets[l.Value] = id
		if !s.config.ManageGroups {
			return nil
		}
		return s.fact(ctx, facts, providers.Lookup{Kind: model.FactSubnet, By: model.ByID, Value: id})
	case model.FactSubnet:
		sub, err := remembered(s, l, func() (model.Subnet, error) { return s.subnet(ctx, l.Value) })
		if err == nil {
			facts.Subnets[l.Value] = sub
		}
		return unlessMissing(err)
	case model.FactExternal:
		id, err := remembered(s, l, func() (string, error) { return s.external(ctx) })
		facts.External = id
		return err
	case model.FactNodePorts:
		return nil // of all scopes at once; see nodePorts
	case model.FactNetworkSubnets:
		list, err := remembered(s, l, func() ([]model.Subnet, error) { return s.subnetsOf(ctx, l.Value, "") })
		facts.NetworkSubnets[l.Value] = list
		return err
	case model.FactFloatingSubnets:
		list, err := remembered(s, l, func() ([]model.Subnet, error) { return s.subnetsOf(ctx, l.By, l.Value) })
		facts.FloatingSubnets[l.By+" "+l.Value] = list
		return err
	case model.FactFloatingIP:
		return s.floatingAt(ctx, facts, l.Value)
	case model.FactClaim:
		key, _ := model.ClaimOf(l, stack.Owner{})
		if oldest, ok := s.claims.oldest(key, s.now()); ok {
			facts.Claims[key] = oldest
		}
		return nil
	case model.FactSecret:
		there, err := s.secret(ctx, l.Value)
		facts.Secrets[l.Value] = there
		return err
	}
	return fault.New(fault.Internal, "nothing answers the look-up %v", l)
}

// remembered asks once in a while for what seldom changes.
func remembered[T any](s *Session, l providers.Lookup, ask func() (T, error)) (T, error) {
	key := string(l.Kind) + " " + l.By + " " + l.Value
	s.mu.Lock()
	known, ok := s.facts[key]
	s.mu.Unlock()
	if value, fits := known.value.(T); ok && fits && s.now().Sub(known.at) < factAge {
		return value, nil
	}
	value, err := ask()
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.facts[key] = aged{value: value, at: s.now()}
	}
	return value, err
}

func unlessMissing(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// nodeSubnet is the subnet of the port of a server that has the address; empty if none
// has.
func (s *Session) nodeSubnet(ctx context.Context, server, address string) (id string, err error) {
	err = s.read(ctx, bucketNetwork, func(ctx context.Context) error {
		pages, err := ports.List(s.network, ports.ListOpts{DeviceID: server}).AllPages(ctx)
		if err != nil {
			return err
		}
		all, err := ports.ExtractPorts(pages)
		for _, p := range all {
			for _, fixed := range p.FixedIPs {
				if fixed.IPAddress == address {
					id = fixed.SubnetID
				}
			}
		}
		return err
	})
	return id, err
}

func (s *Session) subnet(ctx context.Context, id string) (out model.Subnet, err error) {
	err = s.read(ctx, bucketNetwork, func(ctx context.Context) error {
		found, err := subnets.Get(ctx, s.network, id).Extract()
		if err == nil {
			out = asSubnet(*found)
		}
		return err
	})
	return out, err
}

func asSubnet(s subnets.Subnet) model.Subnet {
	prefix, _ := netip.ParsePrefix(s.CIDR) // Neutron's own
	return model.Subnet{ID: s.ID, Name: s.Name, Network: s.NetworkID, CIDR: prefix}
}

// onlyExternal asks for external networks.
type onlyExternal struct{}

// ToNetworkListQuery implements networks.ListOptsBuilder.
func (onlyExternal) ToNetworkListQuery() (string, error) { return "?router:external=true", nil }

// external is the first external network that has a subnet of IPv4, or one that may not
// be seen.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go
// (getFloatingNetworkIDForLB).
func (s *Session) external(ctx context.Context) (string, error) {
	var all []networks.Network
	err := s.read(ctx, bucketNetwork, func(ctx context.Context) error {
		pages, err := networks.List(s.network, onlyExternal{}).AllPages(ctx)
		if err != nil {
			return err
		}
		all, err = networks.ExtractNetworks(pages)
		return err
	})
	if err != nil {
		return "", err
	}
	for _, n := range all {
		for _, id := range n.Subnets {
			found, err := s.subnet(ctx, id)
			switch {
			case fault.Is(err, fault.NotFound):
				return n.ID, nil
			case err != nil:
				return "", err
			case found.CIDR.Addr().Is4():
				return n.ID, nil
			}
		}
	}
	return "", nil
}

// subnetsOf are the subnets of a network that have tags; of the first external one where
// none is said.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer_subnet_match.go.
func (s *Session) subnetsOf(ctx context.Context, network, tags string) (out []model.Subnet, err error) {
	if network == "" {
		if network, err = s.external(ctx); err != nil || network == "" {
			return nil, err
		}
	}
	opts := subnets.ListOpts{NetworkID: network}
	rest, not := strings.CutPrefix(tags, "!")
	rest, all := strings.CutPrefix(rest, "&")
	list := strings.Join(strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }), ",")
	switch {
	case list == "":
	case not && all:
		opts.NotTagsAny = list
	case not:
		opts.NotTags = list
	case all:
		opts.Tags = list
	default:
		opts.TagsAny = list
	}
	err = s.read(ctx, bucketNetwork, func(ctx context.Context) error {
		pages, err := subnets.List(s.network, opts).AllPages(ctx)
		if err != nil {
			return err
		}
		found, err := subnets.ExtractSubnets(pages)
		for _, sub := range found {
			out = append(out, asSubnet(sub))
		}
		return err
	})
	return out, err
}

func (s *Session) floatingAt(ctx context.Context, facts *model.Facts, ip string) error {
	return s.read(ctx, bucketNetwork, func(ctx context.Context) error {
		pages, err := floatingips.List(s.network, floatingips.ListOpts{FloatingIP: ip}).AllPages(ctx)
		if err != nil {
			return err
		}
		found, err := floatingips.ExtractFloatingIPs(pages)
		for _, f := range found {
			facts.Addresses[ip] = model.Address{ID: f.ID, IP: ip, Port: f.PortID, Description: f.Description}
		}
		return err
	})
}

// secret tells whether a certificate is there. Its address ends in the collection and
// the id.
func (s *Session) secret(ctx context.Context, ref string) (bool, error) {
	kind, id := path.Base(path.Dir(ref)), path.Base(ref)
	if s.keys == nil || kind != "containers" && kind != "secrets" {
		return false, nil
	}
	err := s.read(ctx, bucketKeys, func(ctx context.Context) error {
		var body any
		_, err := s.keys.Get(ctx, s.keys.ServiceURL(kind, id), &body, &gophercloud.RequestOpts{OkCodes: []int{200}})
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}
