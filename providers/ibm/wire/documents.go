package wire

import (
	"slices"
	"strings"

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
	} `json:"profile"`
	Subnets   []idDoc   `json:"subnets"`
	Pools     []nameDoc `json:"pools"`
	Listeners []idDoc   `json:"listeners"`
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
	Port     int32    `json:"port"`
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

func balancerSpec(d balancerDoc) model.Balancer {
	out := model.Balancer{Name: d.Name, Public: d.Public, Hostname: d.Hostname, Family: strings.ToLower(d.Profile.Family)}
	for _, s := range d.Subnets {
		out.Subnets = append(out.Subnets, s.ID)
	}
	slices.Sort(out.Subnets)
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
		out.Members = append(out.Members, model.Member{Address: m.Target.Address, Port: m.Port})
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
		out = append(out, memberDoc{Port: m.Port, Target: targetDoc{Address: m.Address}})
	}
	return out
}

func listenerBody(l model.Listener, pool nameDoc) listenerDoc {
	return listenerDoc{Port: l.Port, Protocol: l.Protocol, Limit: l.Limit, Idle: l.Idle, Pool: &pool}
}

func listenerSpec(d listenerDoc, pool stack.Ref) model.Listener {
	return model.Listener{Protocol: d.Protocol, Port: d.Port, Limit: d.Limit, Idle: d.Idle, Pool: pool}
}
