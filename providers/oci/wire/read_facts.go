package wire

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
)

// subnetDoc is a subnet. Source: Core Services API reference, Subnet.
type subnetDoc struct {
	ID     string   `json:"id"`
	VCN    string   `json:"vcnId"`
	Domain string   `json:"availabilityDomain"`
	CIDR   string   `json:"cidrBlock"`
	CIDR6  string   `json:"ipv6CidrBlock"`
	CIDRs6 []string `json:"ipv6CidrBlocks"`
	Lists  []string `json:"securityListIds"`
	Oldest string   `json:"-"` // of the lists
}

// factsOf answers the look-ups of all scopes, each once. What failed is by look-up.
func (s *Session) factsOf(ctx context.Context, scopes []providers.Scope) (*model.Facts, kit.Unanswered) {
	// A read for facts alone does not include the subnets of the load balancers.
	facts := &model.Facts{Subnets: s.seen.All(0), Groups: map[string]bool{}, Unseen: map[string]bool{}, Addresses: map[string]model.ReservedIP{}}
	failed := kit.Answer(scopes, func(l providers.Lookup) (func(), error) { return s.fact(ctx, facts, l, scopes) })
	slices.SortFunc(facts.Machines, func(a, b model.Subnet) int { return strings.Compare(a.ID, b.ID) })
	return facts, failed
}

// fact answers one look-up with what enters it into the facts.
func (s *Session) fact(ctx context.Context, facts *model.Facts, l providers.Lookup, scopes []providers.Scope) (func(), error) {
	switch l.Kind {
	case model.FactAccount, model.FactCompartment, model.FactOwnGroup:
		return nil, nil // the first names the identity of the calls, the lists answer the others
	case model.FactSubnet:
		sub, err := s.subnet(ctx, l.Value)
		if fault.Is(err, fault.NotFound) {
			return func() { delete(facts.Subnets, l.Value) }, nil
		}
		return func() { facts.Subnets[l.Value] = sub }, err
	case model.FactGroup:
		there, err := s.groupThere(ctx, l.Value)
		return func() { facts.Groups[l.Value] = there }, err
	case model.FactMachines:
		var nodes []providers.Scope
		for _, sc := range scopes {
			if slices.Contains(sc.Facts, l) {
				nodes = append(nodes, sc)
			}
		}
		found, err := s.machineSubnets(ctx, nodes...)
		return func() {
			for _, sub := range found {
				if !slices.ContainsFunc(facts.Machines, func(m model.Subnet) bool { return m.ID == sub.ID }) {
					facts.Machines = append(facts.Machines, sub)
				}
			}
		}, err
	case model.FactAddress:
		switch {
		case l.By != model.ByID:
			return s.reservedIn(ctx, facts, l.By, l.Value)
		case strings.HasPrefix(l.Value, "ocid1."):
			return s.privateIP(ctx, facts, l.Value)
		}
		return s.publicIP(ctx, facts, l.Value)
	}
	return nil, fault.New(fault.Internal, "nothing answers the look-up %v", l)
}

// publicIP looks a reserved public address up.
// Source: Core Services API reference, GetPublicIpByIpAddress.
func (s *Session) publicIP(ctx context.Context, facts *model.Facts, ip string) (func(), error) {
	var doc struct {
		ID       string `json:"id"`
		State    string `json:"lifecycleState"`
		Lifetime string `json:"lifetime"`
		User     string `json:"assignedEntityId"`
	}
	_, err := s.read(ctx, s.core, request{method: http.MethodPost, path: "/publicIps/actions/getByIpAddress", body: map[string]string{"ipAddress": ip}}, &doc)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) || err == nil && doc.Lifetime != "RESERVED" {
		return nil, nil
	}
	return func() {
		facts.Addresses[ip] = model.ReservedIP{ID: doc.ID, Available: doc.State == "AVAILABLE", User: doc.User}
	}, err
}

// reservedDoc is an address of a subnet. Sources: Core Services API reference, PrivateIp
// and Ipv6.
type reservedDoc struct {
	ID       string `json:"id"`
	Subnet   string `json:"subnetId"`
	Lifetime string `json:"lifetime"`
	State    string `json:"ipState"`
	VNIC     string `json:"vnicId"`
}

// reservedIn looks a reserved address of a subnet up, by the address.
// Sources: Core Services API reference, ListIpv6s and ListPrivateIps.
func (s *Session) reservedIn(ctx context.Context, facts *model.Facts, subnet, ip string) (func(), error) {
	path := "/privateIps"
	if strings.Contains(ip, ":") {
		path = "/ipv6"
	}
	all, err := listAll[reservedDoc](ctx, s, s.core, path, url.Values{"subnetId": {subnet}, "ipAddress": {ip}}, false)
	if len(all) == 0 {
		all = []reservedDoc{{}}
	}
	return reservedOf(facts, ip, all[0], err)
}

// privateIP looks a reserved private address up, by its OCID.
// Source: Core Services API reference, GetPrivateIp.
func (s *Session) privateIP(ctx context.Context, facts *model.Facts, id string) (func(), error) {
	var doc reservedDoc
	_, err := s.get(ctx, s.core, "/privateIps/"+id, &doc)
	return reservedOf(facts, id, doc, err)
}

// reservedOf enters an address that was found, if it is a reserved one.
func reservedOf(facts *model.Facts, asked string, doc reservedDoc, err error) (func(), error) {
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) || err == nil && doc.Lifetime != "RESERVED" {
		return nil, nil
	}
	return func() {
		facts.Addresses[asked] = model.ReservedIP{ID: doc.ID, Subnet: doc.Subnet, Available: doc.State != "ASSIGNED", User: doc.VNIC}
	}, err
}

// subnet is one by its OCID.
func (s *Session) subnet(ctx context.Context, id string) (model.Subnet, error) {
	doc, ok, err := s.subnets.One(ctx, s.now(), id, s.getSubnet)
	if err != nil {
		return model.Subnet{}, err
	}
	if !ok {
		s.seen.Forget(id)
		return model.Subnet{}, fault.New(fault.NotFound, "subnet %s is not found, or not visible with these credentials", id)
	}
	out := model.Subnet{ID: doc.ID, VCN: doc.VCN, Domain: doc.Domain, List: cmp.Or(s.config.LoadBalancer.Lists[id], doc.Oldest)}
	out.CIDR, _ = netip.ParsePrefix(doc.CIDR) // the API's own; one of IPv6 alone has none
	if out.CIDR6 = nodeports.Prefixes(doc.CIDRs6...); len(out.CIDR6) == 0 {
		out.CIDR6 = nodeports.Prefixes(doc.CIDR6)
	}
	s.seen.Set(id, out)
	return out, nil
}

// groupThere reports whether a network security group exists and is visible.
// Source: Core Services API reference, GetNetworkSecurityGroup.
func (s *Session) groupThere(ctx context.Context, id string) (bool, error) {
	_, there, err := s.groups.One(ctx, s.now(), id, func(ctx context.Context, id string) (doc groupDoc, err error) {
		_, err = s.get(ctx, s.core, "/networkSecurityGroups/"+id, &doc)
		if err == nil && doc.gone() {
			err = fault.New(fault.NotFound, "not found")
		}
		return doc, err
	})
	return there, err
}

// getSubnet reads a subnet, and which of its security lists is the oldest.
// Source: load_balancer_security_lists.go (getDefaultSecurityList).
func (s *Session) getSubnet(ctx context.Context, id string) (subnetDoc, error) {
	var doc subnetDoc
	if _, err := s.get(ctx, s.core, "/subnets/"+id, &doc); err != nil {
		return doc, err
	}
	if len(doc.Lists) == 1 {
		doc.Oldest = doc.Lists[0]
	}
	if len(doc.Lists) < 2 || s.config.LoadBalancer.Lists[id] != "" {
		return doc, nil
	}
	created := ""
	for _, list := range doc.Lists {
		found, err := s.getList(ctx, list)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return doc, err
		}
		if doc.Oldest == "" || found.Created < created {
			doc.Oldest, created = list, found.Created
		}
	}
	return doc, nil
}

// machineSubnets are the subnets that instances of the cluster's compartment are in, and
// of those where else nodes of the scopes are.
func (s *Session) machineSubnets(ctx context.Context, scopes ...providers.Scope) ([]model.Subnet, error) {
	homes := []string{s.config.Compartment}
	out, err := s.subnetsOfMachines(ctx, homes)
	if err != nil {
		return nil, err
	}
	for _, sc := range scopes {
		for node := range sc.Nodes.All() {
			if len(node.Internal) == 0 || slices.ContainsFunc(out, func(sub model.Subnet) bool { return sub.Holds(node.Internal[0]) }) {
				continue
			}
			home, err := s.home(ctx, model.InstanceID(node))
			if err != nil {
				return nil, err
			}
			if home == "" || slices.Contains(homes, home) {
				continue
			}
			homes = append(homes, home)
			if out, err = s.subnetsOfMachines(ctx, homes); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// home returns the compartment of an instance; empty means not found.
func (s *Session) home(ctx context.Context, instance string) (string, error) {
	home, _, err := s.homes.One(ctx, s.now(), instance, func(ctx context.Context, id string) (string, error) {
		var doc struct {
			Compartment string `json:"compartmentId"`
		}
		_, err := s.get(ctx, s.core, "/instances/"+id, &doc)
		return doc.Compartment, err
	})
	return home, err
}

// subnetsOfMachines are the subnets that instances of compartments are in.
func (s *Session) subnetsOfMachines(ctx context.Context, compartments []string) ([]model.Subnet, error) {
	known, _, err := s.machines.Get(ctx, s.now(), compartments, func(ctx context.Context, stale []string) (map[string][]string, error) {
		out := map[string][]string{}
		for _, c := range stale {
			all, err := listAll[struct {
				Subnet string `json:"subnetId"`
			}](ctx, s, s.core, "/vnicAttachments", url.Values{"compartmentId": {c}}, false)
			if err != nil {
				return nil, err
			}
			out[c] = []string{}
			for _, a := range all {
				if a.Subnet != "" && !slices.Contains(out[c], a.Subnet) {
					out[c] = append(out[c], a.Subnet)
				}
			}
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	var out []model.Subnet
	for _, c := range compartments {
		for _, id := range known[c] {
			sub, err := s.subnet(ctx, id)
			if fault.Is(err, fault.NotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, sub)
		}
	}
	return out, nil
}
