package elbv2

import (
	"time"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// loadBalancerView is one member of an answer; its size is that of the answer.
type loadBalancerView struct {
	LoadBalancerArn                                      string
	DNSName                                              string `xml:",omitempty"`
	CanonicalHostedZoneId                                string `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
	CreatedTime                                          string
	LoadBalancerName                                     string
	Scheme                                               string `xml:",omitempty"`
	VpcId                                                string //nolint:revive // The name is the element of the answer.
	State                                                stateView
	Type                                                 string
	AvailabilityZones                                    query.Members[zoneView]
	SecurityGroups                                       *query.Members[string] `xml:",omitempty"`
	IpAddressType                                        string                 //nolint:revive // The name is the element of the answer.
	EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic string                 `xml:",omitempty"`
	EnablePrefixForIpv6SourceNat                         string                 `xml:",omitempty"`
}

type stateView struct {
	Code   string
	Reason string `xml:",omitempty"`
}

type zoneView struct {
	ZoneName              string
	SubnetId              string //nolint:revive // The name is the element of the answer.
	LoadBalancerAddresses query.Members[addressView]
	SourceNatIpv6Prefixes *query.Members[string] `xml:",omitempty"`
}

type addressView struct {
	IpAddress          string `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
	AllocationId       string `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
	PrivateIPv4Address string `xml:",omitempty"`
	IPv6Address        string `xml:",omitempty"`
}

type loadBalancersAnswer struct {
	LoadBalancers query.Members[loadBalancerView]
	NextMarker    string `xml:",omitempty"`
}

func (c *call) loadBalancers(lbs ...*loadBalancer) loadBalancersAnswer {
	var out loadBalancersAnswer
	for _, lb := range lbs {
		out.LoadBalancers.Member = append(out.LoadBalancers.Member, c.viewLoadBalancer(lb))
	}
	return out
}

func (c *call) viewLoadBalancer(lb *loadBalancer) loadBalancerView {
	v := loadBalancerView{
		LoadBalancerArn:              lb.ARN,
		DNSName:                      lb.DNSName,
		CreatedTime:                  formatTime(lb.Created),
		LoadBalancerName:             lb.Name,
		Scheme:                       lb.Scheme,
		VpcId:                        lb.VPC,
		State:                        stateView{Code: "active"},
		Type:                         lb.Type,
		AvailabilityZones:            lb.zoneViews(),
		IpAddressType:                lb.IPType,
		EnablePrefixForIpv6SourceNat: lb.SourceNAT,
	}
	if c.now.Before(lb.Created.Add(c.opt.Delays.Provisioning)) {
		v.State.Code = "provisioning"
	}
	v.CanonicalHostedZoneId = lbkit.NetworkZone(c.opt.Region)
	// A network load balancer without groups has no such list at all; source: CLI reference, describe-load-balancers.
	if len(lb.Groups) > 0 {
		v.SecurityGroups = &query.Members[string]{Member: lb.Groups}
		v.EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic = lb.PrivateLink
	}
	return v
}

func (lb *loadBalancer) zoneViews() query.Members[zoneView] {
	var out query.Members[zoneView]
	for _, z := range lb.Zones {
		v := zoneView{ZoneName: z.Zone, SubnetId: z.Subnet}
		if z.AllocationID != "" || z.PrivateIP != "" || z.IPv6 != "" {
			v.LoadBalancerAddresses.Member = []addressView{{z.PublicIP, z.AllocationID, z.PrivateIP, z.IPv6}}
		}
		if z.NATPrefix != "" {
			v.SourceNatIpv6Prefixes = &query.Members[string]{Member: []string{z.NATPrefix}}
		}
		out.Member = append(out.Member, v)
	}
	return out
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
