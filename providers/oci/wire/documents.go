package wire

import (
	"encoding/json"
	"slices"

	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// balancerDoc is a load balancer of either product as the APIs show it.
// Sources: LoadBalancer and NetworkLoadBalancer of the API reference.
type balancerDoc struct {
	ID          string                     `json:"id"`
	Compartment string                     `json:"compartmentId"`
	Name        string                     `json:"displayName"`
	State       string                     `json:"lifecycleState"`
	Created     string                     `json:"timeCreated"`
	Shape       string                     `json:"shapeName"`
	Bandwidth   *bandwidthDoc              `json:"shapeDetails"`
	Private     bool                       `json:"isPrivate"`
	Subnets     []string                   `json:"subnetIds"` // of lb
	Subnet      string                     `json:"subnetId"`  // of nlb
	Groups      []string                   `json:"networkSecurityGroupIds"`
	Mode        string                     `json:"ipMode"`       // of lb
	Version     string                     `json:"nlbIpVersion"` // of nlb
	Addresses   []addressDoc               `json:"ipAddresses"`
	Listeners   map[string]json.RawMessage `json:"listeners"`
	Sets        map[string]json.RawMessage `json:"backendSets"`
	RuleSets    map[string]ruleSetDoc      `json:"ruleSets"`
	Certs       map[string]json.RawMessage `json:"certificates"`
	Freeform    map[string]string          `json:"freeformTags"`
	Defined     json.RawMessage            `json:"definedTags"`
}

type bandwidthDoc struct {
	Least int `json:"minimumBandwidthInMbps"`
	Most  int `json:"maximumBandwidthInMbps"`
}

type addressDoc struct {
	IP       string `json:"ipAddress"`
	Public   bool   `json:"isPublic"`
	Reserved *idDoc `json:"reservedIp"`
}

type idDoc struct {
	ID string `json:"id"`
}

type ruleSetDoc struct {
	Items json.RawMessage `json:"items"`
}

func balancerSpec(p model.Product, d balancerDoc) model.Balancer {
	out := model.Balancer{
		Name: d.Name, Compartment: d.Compartment, Shape: d.Shape, Private: d.Private, Subnets: d.Subnets,
		Groups: slices.Sorted(slices.Values(d.Groups)), Version: d.Mode, Freeform: d.Freeform,
	}
	if p.Name == model.NLB {
		out.Subnets, out.Version = []string{d.Subnet}, d.Version
	}
	if out.Version == "" {
		out.Version = model.V4
	}
	if d.Bandwidth != nil && d.Shape == flexible {
		out.Least, out.Most = d.Bandwidth.Least, d.Bandwidth.Most
	}
	if text := string(d.Defined); text != "" && text != "{}" && text != "null" {
		out.Defined = text
	}
	for _, a := range d.Addresses {
		one := model.Address{IP: a.IP, Public: a.Public}
		if a.Reserved != nil {
			one.Reserved = a.Reserved.ID
			out.Reserved = append(out.Reserved, one.Reserved)
		}
		out.Addresses = append(out.Addresses, one)
	}
	return out
}

// flexible is the name of the shape that has bandwidths.
const flexible = "flexible"

// setSpec returns the backend set of a name in a load balancer.
func setSpec(p model.Product, name string, raw json.RawMessage) (model.BackendSet, error) {
	spec, err := model.SetCodec(p).Decode(raw)
	spec.Name = name
	return spec, err
}

// listenerSpec returns the listener of a name in a load balancer.
func listenerSpec(p model.Product, name string, raw json.RawMessage) (model.Listener, error) {
	spec, err := model.ListenerCodec(p).Decode(raw)
	spec.Name, spec.Set = name, stack.RefTo(stack.Key{Kind: p.Set, Name: spec.Set.ID})
	return spec, err
}
