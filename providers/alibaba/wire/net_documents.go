package wire

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/stack"
)

// The documents of the NLB and ECS APIs, as far as they are used.
// Source: API of NLB 2022-04-30; alibabacloud-go/nlb-20220430:client/client.go.

type netDoc struct {
	ID          string       `json:"LoadBalancerId"`
	Name        string       `json:"LoadBalancerName"`
	Status      string       `json:"LoadBalancerStatus"`
	Host        string       `json:"DNSName"`
	AddressType string       `json:"AddressType"`
	IPVersion   string       `json:"AddressIpVersion"`
	IPv6Type    string       `json:"Ipv6AddressType"`
	VPC         string       `json:"VpcId"`
	Package     string       `json:"BandwidthPackageId"`
	CrossZone   bool         `json:"CrossZoneEnabled"`
	Security    []string     `json:"SecurityGroupIds"`
	Tags        []netTagDoc  `json:"Tags"`
	Zones       []netZoneDoc `json:"ZoneMappings"`
	netOrigin
	netProtections
}

// netOrigin is when and where a load balancer was created.
type netOrigin struct {
	Created string `json:"CreateTime"`
	Group   string `json:"ResourceGroupId"`
}

type netProtections struct {
	Delete struct {
		Enabled bool `json:"Enabled"`
	} `json:"DeletionProtectionConfig"`
	Modify struct {
		Status string `json:"Status"`
	} `json:"ModificationProtectionConfig"`
}

type netTagDoc struct {
	Key   string `json:"Key"`
	Value string `json:"Value"`
}

type netZoneDoc struct {
	Zone      string `json:"ZoneId"`
	VSwitch   string `json:"VSwitchId"`
	Addresses []struct {
		Private string `json:"PrivateIPv4Address"`
		Public  string `json:"AllocationId"`
	} `json:"LoadBalancerAddresses"`
}

func tagsByKey(tags []netTagDoc) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[t.Key] = t.Value
	}
	return out
}

// netSpec returns a load balancer as it was found. The id of the Service's security group becomes a
// reference to it.
func netSpec(d netDoc, managed string) model.NetBalancer {
	out := model.NetBalancer{
		Name: d.Name, Host: d.Host, AddressType: d.AddressType, IPVersion: model.NetVersion(d.IPVersion), IPv6Type: d.IPv6Type, VPC: d.VPC, Group: d.Group, Package: d.Package,
		CrossZone: strconv.FormatBool(d.CrossZone), Tags: tagsByKey(d.Tags), Protected: d.Delete.Enabled, Locked: d.Modify.Status == "ConsoleProtection",
	}
	for _, id := range d.Security {
		ref := stack.RefID(id)
		if id == managed {
			ref = stack.RefTo(stack.Key{Kind: model.KindSecurityGroup})
		}
		out.Security = append(out.Security, ref)
	}
	slices.SortFunc(out.Security, stack.Ref.Compare)
	for _, z := range d.Zones {
		zone := model.Zone{Zone: z.Zone, VSwitch: z.VSwitch}
		if len(z.Addresses) > 0 {
			zone.Private, zone.Public = z.Addresses[0].Private, z.Addresses[0].Public
		}
		out.Zones = append(out.Zones, zone)
	}
	slices.SortFunc(out.Zones, model.CompareZones)
	return out
}

type netGroupDoc struct {
	ID        string                     `json:"ServerGroupId"`
	Name      string                     `json:"ServerGroupName"`
	Status    string                     `json:"ServerGroupStatus"`
	Type      string                     `json:"ServerGroupType"`
	Protocol  string                     `json:"Protocol"`
	IPVersion string                     `json:"AddressIPVersion"`
	AnyPort   bool                       `json:"AnyPortEnabled"`
	Group     string                     `json:"ResourceGroupId"`
	Balancers []string                   `json:"RelatedLoadBalancerIds"`
	Tags      []netTagDoc                `json:"Tags"`
	Scheduler json.RawMessage            `json:"Scheduler"`
	Drain     json.RawMessage            `json:"ConnectionDrainEnabled"`
	DrainTime json.RawMessage            `json:"ConnectionDrainTimeout"`
	ClientIP  json.RawMessage            `json:"PreserveClientIpEnabled"`
	Check     map[string]json.RawMessage `json:"HealthCheck"`
}

// netGroupSpec returns a server group as it was found. Servers with the name as description are the Service's.
func netGroupSpec(d netGroupDoc, name string, servers []netServerDoc) model.ServerGroup {
	out := model.ServerGroup{Name: name, Type: d.Type, Protocol: d.Protocol, IPVersion: model.NetVersion(d.IPVersion), AnyPort: d.AnyPort, Group: d.Group, Settings: map[string]string{}}
	for param, raw := range map[string]json.RawMessage{"Scheduler": d.Scheduler, "ConnectionDrainEnabled": d.Drain, "ConnectionDrainTimeout": d.DrainTime, "PreserveClientIpEnabled": d.ClientIP} {
		setText(out.Settings, param, raw)
	}
	for param, raw := range d.Check {
		setText(out.Settings, "HealthCheckConfig."+param, raw)
	}
	for _, m := range servers {
		if m.Description != name {
			out.Shared = true
			continue
		}
		out.Servers = append(out.Servers, m.server())
	}
	slices.SortFunc(out.Servers, model.CompareServers)
	return out
}

// setText enters a value of an answer as the text of a parameter. A list has its items separated by commas.
func setText(settings map[string]string, param string, raw json.RawMessage) {
	var list []string
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		settings[param] = strings.Join(list, ",")
		return
	}
	if value, ok := textOf(raw); ok {
		settings[param] = value
	}
}

type netServerDoc struct {
	ID          string `json:"ServerId"`
	Address     string `json:"ServerIp"`
	Type        string `json:"ServerType"`
	Port        int32  `json:"Port"`
	Weight      int    `json:"Weight"`
	Description string `json:"Description"`
}

func (d netServerDoc) server() model.Server {
	out := model.Server{ID: d.ID, Address: d.Address, Type: strings.ToLower(d.Type), Port: d.Port, Weight: d.Weight}
	if out.Type == model.ServerECS {
		out.Address = ""
	}
	return out
}

// serverTypes are the types of servers as the NLB API spells them.
func serverTypes() map[string]string {
	return map[string]string{model.ServerECS: "Ecs", model.ServerENI: "Eni", model.ServerIP: "Ip"}
}

// serverParams returns servers as parameters. The description marks them as the Service's.
func serverParams(group, description string, servers []model.Server) url.Values {
	out := url.Values{"ServerGroupId": {group}}
	for i, m := range servers {
		at := "Servers." + strconv.Itoa(i+1) + "."
		out.Set(at+"ServerId", m.ID)
		out.Set(at+"ServerType", serverTypes()[m.Type])
		out.Set(at+"Port", strconv.Itoa(int(m.Port)))
		out.Set(at+"Weight", strconv.Itoa(m.Weight))
		out.Set(at+"Description", description)
		if m.Address != "" {
			out.Set(at+"ServerIp", m.Address)
		}
	}
	return out
}

type netListenerDoc struct {
	ID          string                     `json:"ListenerId"`
	Balancer    string                     `json:"LoadBalancerId"`
	Port        int32                      `json:"ListenerPort"`
	First       string                     `json:"StartPort"`
	Last        string                     `json:"EndPort"`
	Protocol    string                     `json:"ListenerProtocol"`
	Status      string                     `json:"ListenerStatus"`
	Description string                     `json:"ListenerDescription"`
	Group       string                     `json:"ServerGroupId"`
	Proxy       map[string]json.RawMessage `json:"ProxyProtocolV2Config"`
	netListenerParams
}

// netListenerParams are the parameters of a listener that are compared.
type netListenerParams struct {
	Idle         json.RawMessage `json:"IdleTimeout"`
	Rate         json.RawMessage `json:"Cps"`
	ProxyOn      json.RawMessage `json:"ProxyProtocolEnabled"`
	Certificates json.RawMessage `json:"CertificateIds"`
	Policy       json.RawMessage `json:"SecurityPolicyId"`
	CA           json.RawMessage `json:"CaEnabled"`
	CAs          json.RawMessage `json:"CaCertificateIds"`
	ALPN         json.RawMessage `json:"AlpnEnabled"`
	ALPNPolicy   json.RawMessage `json:"AlpnPolicy"`
}

// ports returns the port of a listener, or the first and the last one of its range.
func (d netListenerDoc) ports() (port, end int32) {
	if d.Port != 0 {
		return d.Port, 0
	}
	first, _ := strconv.ParseInt(d.First, 10, 32) // they are written as numbers
	last, _ := strconv.ParseInt(d.Last, 10, 32)
	return int32(first), int32(last)
}

// netListenerSpec returns a listener as it was found.
func netListenerSpec(d netListenerDoc, group stack.Ref) model.NetListener {
	out := model.NetListener{Protocol: d.Protocol, Description: d.Description, Group: group, Running: d.Status != "Stopped", Settings: map[string]string{}}
	out.Port, out.End = d.ports()
	for param, raw := range map[string]json.RawMessage{
		"IdleTimeout": d.Idle, "Cps": d.Rate, "ProxyProtocolEnabled": d.ProxyOn, "CertificateIds": d.Certificates, "SecurityPolicyId": d.Policy, "CaEnabled": d.CA,
		"CaCertificateIds": d.CAs, "AlpnEnabled": d.ALPN, "AlpnPolicy": d.ALPNPolicy,
	} {
		setText(out.Settings, param, raw)
	}
	for param, raw := range d.Proxy {
		setText(out.Settings, "ProxyProtocolV2Config."+param, raw)
	}
	return out
}

// settingParams adds settings as parameters: lists with a number for each item, and those of the PROXY
// protocol as one text of JSON.
func settingParams(out url.Values, settings map[string]string) {
	proxy := map[string]bool{}
	for param, value := range settings {
		if name, is := strings.CutPrefix(param, "ProxyProtocolV2Config."); is {
			proxy[name] = value == "true"
			continue
		}
		if !slices.Contains([]string{"CertificateIds", "CaCertificateIds", "HealthCheckConfig.HealthCheckHttpCode"}, param) {
			out.Set(param, value)
			continue
		}
		addList(out, param, model.SplitIDs(value))
	}
	if text, err := json.Marshal(proxy); err == nil && len(proxy) > 0 {
		out.Set("ProxyProtocolV2Config", string(text))
	}
}

// addList adds the items of a list.
func addList(out url.Values, param string, items []string) {
	for i, item := range items {
		out.Set(param+"."+strconv.Itoa(i+1), item)
	}
}

type securityDoc struct {
	ID          string `json:"SecurityGroupId"`
	Name        string `json:"SecurityGroupName"`
	Description string `json:"Description"`
	Group       string `json:"ResourceGroupId"`
	Created     string `json:"CreationTime"`
	Tags        struct {
		Tag []tagDoc `json:"Tag"`
	} `json:"Tags"`
}

func (d securityDoc) tags() map[string]string {
	out := map[string]string{}
	for _, t := range d.Tags.Tag {
		out[t.Key] = t.Value
	}
	return out
}

type securityRuleDoc struct {
	ID          string `json:"SecurityGroupRuleId"`
	Policy      string `json:"Policy"`
	Range       string `json:"SourceCidrIp"`
	Range6      string `json:"Ipv6SourceCidrIp"`
	Description string `json:"Description"`
}
