package wire

import (
	"slices"

	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/stack"
)

// The documents of the VPC API, as far as they are used. Source: VPC API reference.

type idDoc struct {
	ID string `json:"id"`
}

type nameDoc struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

type balancerDoc struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Hostname     string `json:"hostname"`
	Public       bool   `json:"is_public"`
	Provisioning string `json:"provisioning_status"`
	Operating    string `json:"operating_status"`
	Profile      struct {
		Family string `json:"family"`
		Name   string `json:"name"`
	} `json:"profile"`
	Subnets    []idDoc     `json:"subnets"`
	Pools      []nameDoc   `json:"pools"`
	Groups     []idDoc     `json:"security_groups"`
	PublicIPs  []targetDoc `json:"public_ips"`
	PrivateIPs []targetDoc `json:"private_ips"`
	DNS        *dnsDoc     `json:"dns"`
}

type dnsDoc struct {
	Instance struct {
		CRN string `json:"crn"`
	} `json:"instance"`
	Zone idDoc `json:"zone"`
}

// newBalancerDoc is a load balancer with all of its parts, as it is created.
type newBalancerDoc struct {
	Name          string        `json:"name"`
	Public        bool          `json:"is_public"`
	Profile       *nameDoc      `json:"profile,omitempty"`
	Subnets       []idDoc       `json:"subnets"`
	ResourceGroup idDoc         `json:"resource_group"`
	Groups        []idDoc       `json:"security_groups,omitempty"`
	DNS           *dnsDoc       `json:"dns,omitempty"`
	Pools         []newPoolDoc  `json:"pools"`
	Listeners     []listenerDoc `json:"listeners"`
}

type poolDoc struct {
	ID            string     `json:"id,omitempty"`
	Name          string     `json:"name"`
	Protocol      string     `json:"protocol,omitempty"`
	Algorithm     string     `json:"algorithm,omitempty"`
	Proxy         string     `json:"proxy_protocol,omitempty"`
	Health        *healthDoc `json:"health_monitor,omitempty"`
	InstanceGroup *nameDoc   `json:"instance_group,omitempty"`
}

// newPoolDoc is a pool with its members, as it is created.
type newPoolDoc struct {
	poolDoc

	Members []memberDoc `json:"members"`
}

type healthDoc struct {
	Delay   int    `json:"delay"`
	Retries int    `json:"max_retries"`
	Timeout int    `json:"timeout"`
	Type    string `json:"type"`
	Port    int32  `json:"port,omitempty"`
	Path    string `json:"url_path,omitempty"`
}

type memberDoc struct {
	ID     string    `json:"id,omitempty"`
	Port   int32     `json:"port"`
	Target targetDoc `json:"target"`
}

type targetDoc struct {
	Address string `json:"address,omitempty"`
	ID      string `json:"id,omitempty"`
}

type listenerDoc struct {
	ID       string   `json:"id,omitempty"`
	Port     int32    `json:"port,omitempty"`
	First    int32    `json:"port_min,omitempty"`
	Last     int32    `json:"port_max,omitempty"`
	Protocol string   `json:"protocol"`
	Limit    int      `json:"connection_limit,omitempty"`
	Idle     int      `json:"idle_connection_timeout,omitempty"`
	Pool     *nameDoc `json:"default_pool,omitempty"`
}

type subnetDoc struct {
	ID   string  `json:"id"`
	Name string  `json:"name"`
	CIDR string  `json:"ipv4_cidr_block"`
	Zone nameDoc `json:"zone"`
	VPC  nameDoc `json:"vpc"`
}

type groupDoc struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	VPC   nameDoc   `json:"vpc"`
	Rules []ruleDoc `json:"rules"`
}

// ruleDoc is a rule of a security group.
type ruleDoc struct {
	ID        string    `json:"id,omitempty"`
	Name      string    `json:"name"`
	Direction string    `json:"direction"`
	Version   string    `json:"ip_version"`
	Protocol  string    `json:"protocol"`
	First     int32     `json:"port_min,omitempty"`
	Last      int32     `json:"port_max,omitempty"`
	Remote    targetDoc `json:"remote"`
}

func balancerSpec(d balancerDoc) model.Balancer {
	out := model.Balancer{Name: d.Name, Kind: model.KindOf(d.Profile.Family, d.Profile.Name), Public: d.Public, Hostname: d.Hostname}
	addresses := d.PrivateIPs
	if d.Public {
		addresses = d.PublicIPs
	}
	for _, a := range addresses {
		out.Addresses = append(out.Addresses, a.Address)
	}
	for _, s := range d.Subnets {
		out.Subnets = append(out.Subnets, s.ID)
	}
	for _, g := range d.Groups {
		out.Groups = append(out.Groups, g.ID)
	}
	slices.Sort(out.Subnets)
	slices.Sort(out.Groups)
	if d.DNS != nil {
		out.DNS = model.DNS{Instance: d.DNS.Instance.CRN, Zone: d.DNS.Zone.ID}
	}
	return out
}

// balancerBody returns a new load balancer without parts.
func balancerBody(spec model.Balancer, group string) newBalancerDoc {
	out := newBalancerDoc{Name: spec.Name, Public: spec.Public, Subnets: idDocs(spec.Subnets), ResourceGroup: idDoc{group}, Groups: idDocs(spec.Groups), Pools: []newPoolDoc{}, Listeners: []listenerDoc{}}
	if profile := model.ProfileOf(spec.Kind); profile != "" {
		out.Profile = &nameDoc{Name: profile}
	}
	if spec.DNS.Zone != "" {
		out.DNS = &dnsDoc{Zone: idDoc{spec.DNS.Zone}}
		out.DNS.Instance.CRN = spec.DNS.Instance
	}
	return out
}

func idDocs(ids []string) []idDoc {
	out := []idDoc{}
	for _, id := range ids {
		out = append(out, idDoc{id})
	}
	return out
}

func poolBody(p model.Pool) poolDoc {
	return poolDoc{Name: p.Name, Protocol: p.Protocol, Algorithm: p.Algorithm, Proxy: p.Proxy, Health: healthBody(p.Health)}
}

func healthBody(h model.Health) *healthDoc {
	return &healthDoc{Delay: h.Delay, Retries: h.Retries, Timeout: h.Timeout, Type: h.Type, Port: h.Port, Path: h.Path}
}

// poolSpec returns a pool as it was found. Without a port in its health check the members are
// checked at their own.
func poolSpec(d poolDoc, members []memberDoc) model.Pool {
	out := model.Pool{Name: d.Name, Protocol: d.Protocol, Algorithm: d.Algorithm, Proxy: d.Proxy}
	if d.InstanceGroup != nil {
		out.Managed = d.InstanceGroup.Name
	}
	for _, m := range members {
		out.Members = append(out.Members, model.Member{Address: m.Target.Address, Instance: m.Target.ID, Port: m.Port})
	}
	if h := d.Health; h != nil {
		out.Health = model.Health{Type: h.Type, Port: h.Port, Path: h.Path, Delay: h.Delay, Timeout: h.Timeout, Retries: h.Retries}
		if h.Port == 0 && len(members) > 0 {
			out.Health.Port = members[0].Port
		}
		if h.Type == "tcp" {
			out.Health.Path = ""
		}
	}
	return out
}

func memberBodies(all []model.Member) []memberDoc {
	out := []memberDoc{}
	for _, m := range all {
		out = append(out, memberDoc{Port: m.Port, Target: targetDoc{Address: m.Address, ID: m.Instance}})
	}
	return out
}

func listenerBody(l model.Listener, pool nameDoc) listenerDoc {
	out := listenerDoc{Port: l.Port, Protocol: l.Protocol, Limit: l.Limit, Idle: l.Idle, Pool: &pool}
	if l.Last != l.Port {
		out.Port, out.First, out.Last = 0, l.Port, l.Last
	}
	return out
}

func listenerSpec(d listenerDoc, pool stack.Ref) model.Listener {
	return model.Listener{Protocol: d.Protocol, Port: d.Port, Last: max(d.Port, d.Last), Limit: d.Limit, Idle: d.Idle, Pool: pool}
}
