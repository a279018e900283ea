package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/stack"
)

// The documents of the SLB API, as far as they are used. Source: API of SLB 2014-05-15.

type balancerDoc struct {
	ID            string `json:"LoadBalancerId"`
	Name          string `json:"LoadBalancerName"`
	Status        string `json:"LoadBalancerStatus"`
	Address       string `json:"Address"`
	AddressType   string `json:"AddressType"`
	IPVersion     string `json:"AddressIPVersion"`
	NetworkType   string `json:"NetworkType"`
	VPC           string `json:"VpcId"`
	VSwitch       string `json:"VSwitchId"`
	Zone          string `json:"MasterZoneId"`
	Backup        string `json:"SlaveZoneId"`
	Group         string `json:"ResourceGroupId"`
	ChargeType    string `json:"InstanceChargeType"`
	Size          string `json:"LoadBalancerSpec"`
	TrafficCharge string `json:"InternetChargeTypeAlias"`
	Bandwidth     int    `json:"Bandwidth"`
	Created       string `json:"CreateTime"`
	Delete        string `json:"DeleteProtection"`
	Modify        string `json:"ModificationProtectionStatus"`
	Tags          struct {
		Tag []tagDoc `json:"Tag"`
	} `json:"Tags"`
}

type tagDoc struct {
	Key   string `json:"TagKey"`
	Value string `json:"TagValue"`
}

func balancerSpec(d balancerDoc) model.Balancer {
	out := model.Balancer{
		Name: d.Name, AddressType: d.AddressType, NetworkType: d.NetworkType, IPVersion: d.IPVersion, VPC: d.VPC, VSwitch: d.VSwitch, Address: d.Address,
		Zone: d.Zone, Backup: d.Backup, Group: d.Group, ChargeType: d.ChargeType, Size: d.Size, TrafficCharge: d.TrafficCharge, Bandwidth: d.Bandwidth,
		DeleteProtection: d.Delete, ModificationProtection: d.Modify, Tags: map[string]string{},
	}
	for _, t := range d.Tags.Tag {
		out.Tags[t.Key] = t.Value
	}
	return out
}

type groupDoc struct {
	ID   string `json:"VServerGroupId"`
	Name string `json:"VServerGroupName"`
}

// serverDoc has numbers as texts in requests of some SDKs, and as numbers in answers.
type serverDoc struct {
	ID          string `json:"ServerId"`
	Address     string `json:"ServerIp,omitempty"`
	Type        string `json:"Type,omitempty"`
	Port        int32  `json:"Port"`
	Weight      int    `json:"Weight"`
	Description string `json:"Description,omitempty"`
}

// serverDocs returns servers as the API takes them. The description marks them as the Service's.
func serverDocs(group string, servers []model.Server) (string, error) {
	out := []serverDoc{}
	for _, m := range servers {
		out = append(out, serverDoc{m.ID, m.Address, m.Type, m.Port, m.Weight, group})
	}
	text, err := json.Marshal(out)
	return string(text), err
}

// groupSpec returns a server group as it was found: the servers with the name as description are
// the Service's.
func groupSpec(name string, servers []serverDoc) model.VServerGroup {
	out := model.VServerGroup{Name: name}
	for _, m := range servers {
		if m.Description != name {
			out.Shared = true
			continue
		}
		one := model.Server{ID: m.ID, Address: m.Address, Type: m.Type, Port: m.Port, Weight: m.Weight}
		if one.Type == model.ServerECS {
			one.Address = ""
		}
		out.Servers = append(out.Servers, one)
	}
	slices.SortFunc(out.Servers, model.CompareServers)
	return out
}

type listenerDoc struct {
	Balancer    string                     `json:"LoadBalancerId"`
	Port        int32                      `json:"ListenerPort"`
	Protocol    string                     `json:"ListenerProtocol"`
	Status      string                     `json:"Status"`
	Description string                     `json:"Description"`
	Group       string                     `json:"VServerGroupId"`
	Scheduler   string                     `json:"Scheduler"`
	Access      string                     `json:"AclStatus"`
	AccessType  string                     `json:"AclType"`
	AccessList  string                     `json:"AclId"`
	AccessLists []string                   `json:"AclIds"`
	Bandwidth   int                        `json:"Bandwidth"`
	TCP         map[string]json.RawMessage `json:"TCPListenerConfig"`
	UDP         map[string]json.RawMessage `json:"UDPListenerConfig"`
	HTTP        map[string]json.RawMessage `json:"HTTPListenerConfig"`
	HTTPS       map[string]json.RawMessage `json:"HTTPSListenerConfig"`
}

// running is the status of a listener that serves.
const running = "running"

// listenerSpec returns a listener as it was found.
func listenerSpec(d listenerDoc, group stack.Ref) model.Listener {
	out := model.Listener{
		Protocol: d.Protocol, Port: d.Port, Description: d.Description, Group: group, Running: d.Status == running,
		Settings: map[string]string{"Scheduler": d.Scheduler, "Bandwidth": strconv.Itoa(d.Bandwidth)},
	}
	if lists := slices.Concat(d.AccessLists, model.SplitIDs(d.AccessList)); d.Access != "" {
		out.Settings["AclStatus"], out.Settings["AclType"], out.Settings["AclId"] = d.Access, d.AccessType, model.JoinIDs(lists)
	}
	config := map[string]map[string]json.RawMessage{"tcp": d.TCP, "udp": d.UDP, "http": d.HTTP, "https": d.HTTPS}[d.Protocol]
	for name, raw := range config {
		if value, ok := textOf(raw); ok {
			out.Settings[name] = value
		}
	}
	if out.Settings["ListenerForward"] == "on" {
		out.Group, out.Forward = stack.Ref{}, stack.RefID(out.Settings["ForwardPort"])
	}
	return out
}

type domainDoc struct {
	ID          string `json:"DomainExtensionId"`
	Domain      string `json:"Domain"`
	Certificate string `json:"ServerCertificateId"`
}

// textOf returns a number, a switch or a text as the text of a parameter; false: it is empty, or
// of another form.
func textOf(raw json.RawMessage) (string, bool) {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return "", false
	}
	switch v := value.(type) {
	case string:
		return v, v != ""
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// listenerID returns what stands for the identifier of a listener, which has none.
func listenerID(balancer, protocol string, port int32) string {
	return fmt.Sprintf("%s/%s/%d", balancer, strings.ToLower(protocol), port)
}
