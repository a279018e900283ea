package wire

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/stack"
)

// The documents of the CLB API, as far as they are used. Source: CLB API 2018-03-17, data types.

type balancerDoc struct {
	ID           string   `json:"LoadBalancerId"`
	Name         string   `json:"LoadBalancerName"`
	Type         string   `json:"LoadBalancerType"`
	Status       int      `json:"Status"`
	Addresses    []string `json:"LoadBalancerVips"`
	Domain       string   `json:"LoadBalancerDomain"`
	OldDomain    string   `json:"Domain"`
	VPC          string   `json:"VpcId"`
	Subnet       string   `json:"SubnetId"`
	IPVersion    string   `json:"AddressIPVersion"`
	IPv6Mode     string   `json:"IPv6Mode"`
	Address6     string   `json:"AddressIPv6"`
	Groups       []string `json:"SecureGroups"`
	PassToTarget bool     `json:"LoadBalancerPassToTarget"`
	Created      string   `json:"CreateTime"`
	Network      struct {
		ChargeType string `json:"InternetChargeType"`
		Bandwidth  int    `json:"InternetMaxBandwidthOut"`
	} `json:"NetworkAttributes"`
	Tags []tagDoc `json:"Tags"`

	region string // empty: that of the cluster
}

type tagDoc struct {
	Key   string `json:"TagKey"`
	Value string `json:"TagValue"`
}

// isReady reports whether a load balancer is created and clients can reach it.
func (d balancerDoc) isReady() bool {
	return d.Status == 1 && (len(d.Addresses) > 0 || d.Domain != "" || d.OldDomain != "" || d.Address6 != "")
}

func (d balancerDoc) tags() map[string]string {
	out := map[string]string{}
	for _, t := range d.Tags {
		out[t.Key] = t.Value
	}
	return out
}

func (d balancerDoc) spec() model.Balancer {
	out := model.Balancer{
		Name: d.Name, Type: d.Type, Region: d.region, VPC: d.VPC, Subnet: d.Subnet, ChargeType: d.Network.ChargeType, Bandwidth: d.Network.Bandwidth, PassToTarget: strconv.FormatBool(d.PassToTarget),
		Groups: d.Groups, Tags: d.tags(), Addresses: d.Addresses, Domain: cmp.Or(d.Domain, d.OldDomain), IPVersion: "IPV4",
	}
	switch {
	case strings.EqualFold(d.IPv6Mode, "IPv6FullChain"):
		out.IPVersion, out.Addresses = "IPv6FullChain", slices.DeleteFunc(append(slices.Clone(d.Addresses), d.Address6), func(a string) bool { return a == "" })
	case strings.EqualFold(d.IPVersion, "ipv6"):
		out.IPVersion, out.Address6 = "IPV6", d.Address6
	}
	return out
}

type listenerDoc struct {
	ID          string          `json:"ListenerId"`
	Name        string          `json:"ListenerName"`
	Protocol    string          `json:"Protocol"`
	Port        int32           `json:"Port"`
	SNI         int             `json:"SniSwitch"`
	Certificate *certificateDoc `json:"Certificate"`
	Rules       []ruleDoc       `json:"Rules"`
	settings    map[string]string
}

type certificateDoc struct {
	ID   string `json:"CertId"`
	Mode string `json:"SSLMode,omitempty"`
}

func certificateOf(d *certificateDoc) string {
	if d == nil {
		return ""
	}
	return d.ID
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *listenerDoc) UnmarshalJSON(text []byte) (err error) {
	type plain listenerDoc
	if err := json.Unmarshal(text, (*plain)(d)); err != nil {
		return err
	}
	d.settings, err = settingsIn(text)
	return err
}

type ruleDoc struct {
	ID          string          `json:"LocationId"`
	Domain      string          `json:"Domain"`
	URL         string          `json:"Url"`
	Certificate *certificateDoc `json:"Certificate"`
	settings    map[string]string
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *ruleDoc) UnmarshalJSON(text []byte) (err error) {
	type plain ruleDoc
	if err := json.Unmarshal(text, (*plain)(d)); err != nil {
		return err
	}
	d.settings, err = settingsIn(text)
	return err
}

func settingsIn(text []byte) (map[string]string, error) {
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	out := map[string]string{}
	model.FlattenSettings(out, "", object)
	return out, nil
}

type boundDoc struct {
	ID      string      `json:"ListenerId"`
	Targets []targetDoc `json:"Targets"`
	Rules   []struct {
		ID      string      `json:"LocationId"`
		Targets []targetDoc `json:"Targets"`
	} `json:"Rules"`
}

type targetDoc struct {
	Instance  string   `json:"InstanceId"`
	Addresses []string `json:"PrivateIpAddresses"`
	Port      int32    `json:"Port"`
	Weight    int      `json:"Weight"`
}

func membersOf(docs []targetDoc) []model.Member {
	var out []model.Member
	for _, d := range docs {
		m := model.Member{Instance: d.Instance, Port: d.Port, Weight: d.Weight}
		if d.Instance == "" && len(d.Addresses) > 0 {
			m.Address = d.Addresses[0]
		}
		out = append(out, m)
	}
	slices.SortFunc(out, model.CompareMembers)
	return out
}

// targetParams returns a member as the API takes it, with the listener and rule that it is for.
func targetParams(m model.Member, listener, rule string, weighted bool) params {
	out := params{"Port": m.Port}
	if listener != "" {
		out["ListenerId"] = listener
	}
	if rule != "" {
		out["LocationId"] = rule
	}
	if m.Instance != "" {
		out["InstanceId"] = m.Instance
	} else {
		out["EniIp"] = m.Address
	}
	if weighted {
		out["Weight"] = m.Weight
	}
	return out
}

// in is what the parts of one load balancer have in common.
type in struct {
	owner    stack.Owner
	balancer stack.Resource
	// exclusive says that the load balancer is the Service's alone, so that each listener with the
	// controllers' name is.
	exclusive bool
	noted     map[string]bool // ids of listeners
	early     bool            // other Services may have noted listeners that the session does not know
}
