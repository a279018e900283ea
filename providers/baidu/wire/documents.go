package wire

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/stack"
)

// The documents of the APIs, as far as they are used.
// Source: bce-sdk-go:services/appblb/model.go, services/blb/model.go, services/eip/model.go.

type tagDoc struct {
	Key   string `json:"tagKey"`
	Value string `json:"tagValue"`
}

func tagDocs(tags map[string]string) []tagDoc {
	out := []tagDoc{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, tagDoc{key, tags[key]})
	}
	return out
}

func tagsOf(docs []tagDoc) map[string]string {
	out := map[string]string{}
	for _, t := range docs {
		out[t.Key] = t.Value
	}
	return out
}

type balancerDoc struct {
	ID          string   `json:"blbId,omitempty"`
	Name        string   `json:"name"`
	Description string   `json:"desc"`
	Address     string   `json:"address,omitempty"`
	Status      string   `json:"status,omitempty"`
	VPC         string   `json:"vpcId"`
	Subnet      string   `json:"subnetId"`
	PublicIP    string   `json:"publicIp,omitempty"`
	EIP         string   `json:"eip,omitempty"` // of a creation
	Tags        []tagDoc `json:"tags"`
	Created     string   `json:"createTime,omitempty"` // only where one is read

	kind string
}

func (d balancerDoc) spec(own string) model.Balancer {
	out := model.Balancer{Type: d.kind, Name: d.Name, Description: d.Description, VPC: d.VPC, Subnet: d.Subnet, Tags: tagsOf(d.Tags), Address: d.Address}
	switch {
	case d.PublicIP == "":
	case d.PublicIP == own:
		out.EIP = stack.RefTo(model.AddressKey())
	default:
		out.EIP = stack.RefID(d.PublicIP)
	}
	return out
}

type addressDoc struct {
	Name      string   `json:"name"`
	Address   string   `json:"eip"`
	Status    string   `json:"status"`
	Instance  string   `json:"instanceId"`
	Bandwidth int      `json:"bandwidthInMbps"`
	Payment   string   `json:"paymentTiming"`
	Billing   string   `json:"billingMethod"`
	Created   string   `json:"createTime"`
	Tags      []tagDoc `json:"tags"`
}

func (d addressDoc) spec() model.Address {
	return model.Address{Name: d.Name, Bandwidth: d.Bandwidth, Payment: d.Payment, Billing: d.Billing, Tags: tagsOf(d.Tags), Instance: d.Instance}
}

type billingDoc struct {
	Payment     string          `json:"paymentTiming"`
	Billing     string          `json:"billingMethod,omitempty"`
	Reservation *reservationDoc `json:"reservation,omitempty"`
}

type reservationDoc struct {
	Length int    `json:"reservationLength"`
	Unit   string `json:"reservationTimeUnit"`
}

type newAddressDoc struct {
	Name      string     `json:"name"`
	Bandwidth int        `json:"bandwidthInMbps"`
	Billing   billingDoc `json:"billing"`
	Tags      []tagDoc   `json:"tags"`
}

func newAddress(spec model.Address) newAddressDoc {
	out := newAddressDoc{Name: spec.Name, Bandwidth: spec.Bandwidth, Billing: billingDoc{Payment: spec.Payment, Billing: spec.Billing}, Tags: tagDocs(spec.Tags)}
	if spec.Months > 0 {
		out.Billing.Reservation = &reservationDoc{spec.Months, "Month"}
	}
	return out
}

type listenerDoc struct {
	Port        int32  `json:"listenerPort,omitempty"`
	Type        string `json:"listenerType,omitempty"`
	Scheduler   string `json:"scheduler,omitempty"`
	Description string `json:"description,omitempty"`
	// Those of normal load balancers.
	BackendPort int32  `json:"backendPort,omitempty"`
	Timeout     int    `json:"healthCheckTimeoutInSecond,omitempty"`
	Interval    int    `json:"healthCheckInterval,omitempty"`
	Unhealthy   int    `json:"unhealthyThreshold,omitempty"`
	Healthy     int    `json:"healthyThreshold,omitempty"`
	Text        string `json:"healthCheckString,omitempty"`
}

// listenerBody returns a listener as the API takes it; its port is a part of the call.
func listenerBody(spec model.Listener) listenerDoc {
	h := spec.Health
	return listenerDoc{
		Port: spec.Port, Scheduler: spec.Scheduler, Description: spec.Mark, BackendPort: spec.BackendPort, Timeout: h.Timeout, Interval: h.Interval, Unhealthy: h.Unhealthy, Healthy: h.Healthy, Text: h.Text,
	}
}

func (d listenerDoc) spec() model.Listener {
	return model.Listener{
		Protocol: d.Type, Port: d.Port, Scheduler: d.Scheduler, Mark: d.Description, BackendPort: d.BackendPort,
		Health: model.Health{Timeout: d.Timeout, Interval: d.Interval, Unhealthy: d.Unhealthy, Healthy: d.Healthy, Text: d.Text},
	}
}

// targetDoc is a port of a server group, or the protocol of an IP group.
type targetDoc struct {
	ID        string `json:"id,omitempty"`
	PortID    string `json:"portId,omitempty"`
	Group     string `json:"sgId,omitempty"`
	Pool      string `json:"ipGroupId,omitempty"`
	Port      int32  `json:"port,omitempty"`
	Type      string `json:"type,omitempty"`
	Check     string `json:"healthCheck,omitempty"`
	Timeout   int    `json:"healthCheckTimeoutInSecond,omitempty"`
	Interval  int    `json:"healthCheckIntervalInSecond,omitempty"`
	Unhealthy int    `json:"healthCheckDownRetry,omitempty"`
	Healthy   int    `json:"healthCheckUpRetry,omitempty"`
	Text      string `json:"udpHealthCheckString,omitempty"`
}

func targetBody(spec model.Target) targetDoc {
	h := spec.Health
	return targetDoc{Port: spec.Port, Type: spec.Protocol, Check: spec.Protocol, Timeout: h.Timeout, Interval: h.Interval, Unhealthy: h.Unhealthy, Healthy: h.Healthy, Text: h.Text}
}

func (d targetDoc) spec(lb stack.Key) model.Target {
	return model.Target{
		Protocol: d.Type, Port: d.Port, Balancer: lb, Health: model.Health{Timeout: d.Timeout, Interval: d.Interval, Unhealthy: d.Unhealthy, Healthy: d.Healthy, Text: d.Text},
	}
}

// groupDoc is a server group or an IP group.
type groupDoc struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Description string      `json:"desc"`
	Ports       []targetDoc `json:"portList"`
	Protocols   []targetDoc `json:"backendPolicyList"`
}

type serverDoc struct {
	Instance string `json:"instanceId"`
	Weight   int    `json:"weight"`
}

type memberDoc struct {
	ID      string `json:"memberId,omitempty"`
	Address string `json:"ip"`
	Port    int32  `json:"port"`
	Weight  int    `json:"weight"`
}

func serverDocs(members []model.Member) []serverDoc {
	out := []serverDoc{}
	for _, m := range members {
		out = append(out, serverDoc{m.Instance, m.Weight})
	}
	return out
}

func memberDocs(members []model.Member) []memberDoc {
	out := []memberDoc{}
	for _, m := range members {
		out = append(out, memberDoc{Address: m.Address, Port: m.Port, Weight: m.Weight})
	}
	return out
}

func serverMembers(docs []serverDoc) []model.Member {
	var out []model.Member
	for _, d := range docs {
		out = append(out, model.Member{Instance: d.Instance, Weight: d.Weight})
	}
	slices.SortFunc(out, model.CompareMembers)
	return out
}

func addressMembers(docs []memberDoc) []model.Member {
	var out []model.Member
	for _, d := range docs {
		out = append(out, model.Member{Address: d.Address, Port: d.Port, Weight: d.Weight})
	}
	slices.SortFunc(out, model.CompareMembers)
	return out
}

type policyDoc struct {
	ID          string    `json:"id,omitempty"`
	Description string    `json:"desc"`
	Group       string    `json:"appServerGroupId,omitempty"`
	Pool        string    `json:"appIpGroupId,omitempty"`
	BackendPort int32     `json:"backendPort,omitempty"`
	Priority    int       `json:"priority"`
	Rules       []ruleDoc `json:"ruleList"`
}

type ruleDoc struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// portDoc names a listener.
type portDoc struct {
	Port int32  `json:"port"`
	Type string `json:"type"`
}
