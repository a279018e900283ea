package elbv2

import "time"

// balancerView is what answers say of a load balancer. State and AvailabilityZones are filled
// for each answer.
type balancerView struct {
	ARN               string `xml:"LoadBalancerArn"`
	DNSName           string `xml:",omitempty"`
	HostedZone        string `xml:"CanonicalHostedZoneId,omitempty"`
	CreatedTime       string
	Name              string `xml:"LoadBalancerName"`
	Scheme            string `xml:",omitempty"`
	VPC               string `xml:"VpcId"`
	State             stateView
	Type              string
	AvailabilityZones []zoneView
	// Groups is nil for a network load balancer without groups, which has no such list at all;
	// source: CLI reference, describe-load-balancers.
	Groups      []string `xml:"SecurityGroups,omitempty"`
	IPType      string   `xml:"IpAddressType"`
	PrivateLink string   `xml:"EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic,omitempty"` // whether groups apply to PrivateLink traffic: on or off
	SourceNAT   string   `xml:"EnablePrefixForIpv6SourceNat,omitempty"`
}

type stateView struct {
	Code   string
	Reason string `xml:",omitempty"`
}

type zoneView struct {
	Zone      string        `xml:"ZoneName"`
	Subnet    string        `xml:"SubnetId"`
	Addresses []addressView `xml:"LoadBalancerAddresses"`
	Prefixes  []string      `xml:"SourceNatIpv6Prefixes,omitempty"`
}

type addressView struct {
	PublicIP     string `xml:"IpAddress,omitempty"`
	AllocationID string `xml:"AllocationId,omitempty"`
	PrivateIP    string `xml:"PrivateIPv4Address,omitempty"`
	IPv6         string `xml:"IPv6Address,omitempty"`
}

type loadBalancersAnswer struct {
	LoadBalancers []balancerView
	NextMarker    string `xml:",omitempty"`
}

func (c *call) loadBalancers(lbs ...*loadBalancer) loadBalancersAnswer {
	var out loadBalancersAnswer
	for _, lb := range lbs {
		v := lb.balancerView
		v.AvailabilityZones, v.State.Code = lb.zoneViews(), "active"
		if c.now.Before(lb.Created.Add(c.opt.Delays.Provisioning)) {
			v.State.Code = "provisioning"
		}
		out.LoadBalancers = append(out.LoadBalancers, v)
	}
	return out
}

func (lb *loadBalancer) zoneViews() []zoneView {
	var out []zoneView
	for _, z := range lb.Zones {
		v := zoneView{Zone: z.Zone, Subnet: z.Subnet}
		if z.AllocationID != "" || z.PrivateIP != "" || z.IPv6 != "" {
			v.Addresses = []addressView{{z.PublicIP, z.AllocationID, z.PrivateIP, z.IPv6}}
		}
		if z.NATPrefix != "" {
			v.Prefixes = []string{z.NATPrefix}
		}
		out = append(out, v)
	}
	return out
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
