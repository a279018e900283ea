package wire

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// factsOf answers the look-ups of all scopes, each once. What failed is by look-up.
func (s *Session) factsOf(ctx context.Context, scopes []providers.Scope) (*model.Facts, kit.Unanswered) {
	facts := &model.Facts{
		NodeSubnets: map[string]string{}, Subnets: map[string]model.Subnet{}, FloatingSubnets: map[string][]model.Subnet{},
		Addresses: map[string]model.Address{}, Secrets: map[string]bool{}, NetworkSubnets: map[string][]model.Subnet{}, Claims: map[string]model.Claim{},
		Externals: map[string]bool{},
	}
	s.enterClaims(scopes)
	return facts, kit.Answer(scopes, func(l providers.Lookup) (func(), error) { return s.fact(ctx, facts, l, scopes) })
}

// fact answers one look-up with what enters it into the facts.
func (s *Session) fact(ctx context.Context, facts *model.Facts, l providers.Lookup, scopes []providers.Scope) (func(), error) {
	switch l.Kind {
	case model.FactNodeSubnet:
		return s.nodeSubnetFact(ctx, facts, l, scopes)
	case model.FactSubnet:
		sub, err := s.knownSubnet(ctx, l.Value)
		if fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		return func() { facts.Subnets[l.Value] = sub }, err
	case model.FactExternal:
		id, err := cachedRead(ctx, s, l, func() (string, error) { return s.external(ctx) })
		return func() { facts.External = id }, err
	case model.FactExternalNetwork:
		there, err := cachedRead(ctx, s, l, func() (bool, error) { return s.isExternal(ctx, l.Value) })
		return func() { facts.Externals[l.Value] = there }, err
	case model.FactNodePorts:
		known, err := s.nodePorts(ctx, scopes)
		return func() { facts.NodePorts = known }, err
	case model.FactNetworkSubnets:
		list, err := cachedRead(ctx, s, l, func() ([]model.Subnet, error) { return s.subnetsOf(ctx, l.Value, "") })
		return func() { facts.NetworkSubnets[l.Value] = list }, err
	case model.FactFloatingSubnets:
		list, err := cachedRead(ctx, s, l, func() ([]model.Subnet, error) { return s.subnetsOf(ctx, l.By, l.Value) })
		return func() { facts.FloatingSubnets[l.By+" "+l.Value] = list }, err
	case model.FactFloatingIP:
		found, err := listItems(ctx, s, model.FloatingIPCodec(), url.Values{"floating_ip_address": {l.Value}})
		return func() {
			for _, f := range found {
				facts.Addresses[l.Value] = model.Address{ID: f.ID, IP: l.Value, Port: f.Port, Description: f.Spec.Description}
			}
		}, err
	case model.FactClaim:
		key, _ := model.ClaimOf(l, stack.Owner{})
		oldest, ok := s.oldestClaim(key)
		if !ok {
			return nil, nil
		}
		return func() { facts.Claims[key] = oldest }, nil
	case model.FactSecret:
		there, err := s.secret(ctx, l.Value)
		return func() { facts.Secrets[l.Value] = there }, err
	}
	return nil, fault.New(fault.Internal, "nothing answers the look-up %v", l)
}

// nodeSubnetFact answers in which subnet an address of a server is, and where security
// groups are managed, what subnet that is.
func (s *Session) nodeSubnetFact(ctx context.Context, facts *model.Facts, l providers.Lookup, scopes []providers.Scope) (func(), error) {
	id, err := cachedRead(ctx, s, l, func() (string, error) { return s.nodeSubnet(ctx, l.By, l.Value) })
	if id == "" || err != nil {
		return nil, err
	}
	var also func()
	if s.config.ManageGroups {
		also, err = s.fact(ctx, facts, providers.Lookup{Kind: model.FactSubnet, By: model.ByID, Value: id}, scopes)
	}
	return func() {
		facts.NodeSubnets[l.Value] = id
		if also != nil {
			also()
		}
	}, err
}

// cachedRead reads rarely changing data at most once per interval, and one read at a
// time.
func cachedRead[T any](ctx context.Context, s *Session, l providers.Lookup, ask func() (T, error)) (value T, err error) {
	key := string(l.Kind) + " " + l.By + " " + l.Value
	unlock, err := s.locks.Take(ctx, "fact "+key)
	if err != nil {
		return value, err
	}
	defer unlock()
	known, _ := s.facts.Get(key, factAge)
	if was, fits := known.(T); fits {
		return was, nil
	}
	began := s.facts.Begin(key)
	if value, err = ask(); err == nil {
		s.facts.Listed(key, began, value)
	}
	return value, err
}

// nodeSubnet is the subnet of the port of a server that has the address; empty if none
// has.
func (s *Session) nodeSubnet(ctx context.Context, server, address string) (id string, err error) {
	all, err := listPlain[port](ctx, s, collectionPorts, url.Values{"device_id": {server}})
	for _, p := range all {
		for _, fixed := range p.FixedIPs {
			if fixed.Address == address {
				id = fixed.Subnet
			}
		}
	}
	return id, err
}

// subnet is one by its id, which a user may have written.
func (s *Session) subnet(ctx context.Context, id string) (out model.Subnet, err error) {
	var answer struct {
		Subnet subnetDoc `json:"subnet"`
	}
	err = s.read(ctx, s.request(http.MethodGet, collectionSubnets, url.PathEscape(id)), &answer)
	if err == nil && answer.Subnet.ID != id {
		err = fault.New(fault.NotFound, "%q is the id of no subnet", id) // but a path to something else
	}
	if err != nil {
		return out, err
	}
	return answer.Subnet.subnet(), nil
}

// collectionSubnets is the path of Neutron's subnets.
const collectionSubnets = "subnets"

// subnetDoc is a subnet in an answer.
type subnetDoc struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Network string `json:"network_id"`
	CIDR    string `json:"cidr"`
}

func (d subnetDoc) subnet() model.Subnet {
	prefix, _ := netip.ParsePrefix(d.CIDR) // Neutron's own
	return model.Subnet{ID: d.ID, Name: d.Name, Network: d.Network, CIDR: prefix}
}

// knownSubnet is subnet with the memory of remembered.
func (s *Session) knownSubnet(ctx context.Context, id string) (model.Subnet, error) {
	return cachedRead(ctx, s, providers.Lookup{Kind: model.FactSubnet, By: model.ByID, Value: id}, func() (model.Subnet, error) { return s.subnet(ctx, id) })
}

// network is a network in an answer.
type network struct {
	ID      string   `json:"id"`
	Subnets []string `json:"subnets"`
}

// listExternal lists the external networks: the one with the id, or all without one.
func (s *Session) listExternal(ctx context.Context, id string) ([]network, error) {
	query := url.Values{"router:external": {"true"}}
	if id != "" {
		query.Set("id", id)
	}
	return listPlain[network](ctx, s, "networks", query)
}

// isExternal reports whether an id is the id of an external network.
func (s *Session) isExternal(ctx context.Context, id string) (bool, error) {
	found, err := s.listExternal(ctx, id)
	return slices.ContainsFunc(found, func(n network) bool { return n.ID == id }), err
}

// external is the first external network that has a subnet of IPv4, or one that may not
// be seen.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go
// (getFloatingNetworkIDForLB).
func (s *Session) external(ctx context.Context) (string, error) {
	all, err := s.listExternal(ctx, "")
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
	query := url.Values{"network_id": {network}}
	rest, not := strings.CutPrefix(tags, "!")
	rest, all := strings.CutPrefix(rest, "&")
	list := strings.Join(strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }), ",")
	switch {
	case list == "":
	case not && all:
		query.Set("not-tags-any", list)
	case not:
		query.Set("not-tags", list)
	case all:
		query.Set("tags", list)
	default:
		query.Set("tags-any", list)
	}
	found, err := listPlain[subnetDoc](ctx, s, collectionSubnets, query)
	for _, sub := range found {
		out = append(out, sub.subnet())
	}
	return out, err
}

// secret reports whether a certificate exists. Its address ends in the collection and the
// id.
func (s *Session) secret(ctx context.Context, ref string) (bool, error) {
	kind, id := path.Base(path.Dir(ref)), path.Base(ref)
	if s.keys == nil || kind != "containers" && kind != "secrets" {
		return false, nil
	}
	err := s.read(ctx, request{bucket: bucketKeys, operation: "GET " + kind, method: http.MethodGet, url: s.keys.ServiceURL(kind, url.PathEscape(id))}, nil)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}
