package elb

import (
	"slices"
	"strconv"
	"time"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

type state struct {
	Seq           int
	LoadBalancers map[string]*loadBalancer
}

// loadBalancer is the complete record of one; it is a data record, hence its size.
type loadBalancer struct {
	Seq        int
	Name       string
	DNSName    string
	Scheme     string
	VPC        string
	Created    time.Time
	Zones      []string
	Subnets    []string
	Groups     []string
	Source     sourceGroup
	Listeners  []*listener
	Policies   []policy
	Backends   []backend
	Instances  []registration
	Health     healthCheck
	Attributes attributes
	Tags       []lbkit.Tag
}

type sourceGroup struct {
	OwnerAlias string `xml:"OwnerAlias"`
	GroupName  string `xml:"GroupName"`
}

type listener struct {
	Protocol         string `xml:"Listener>Protocol"`
	Port             int    `xml:"Listener>LoadBalancerPort"`
	InstanceProtocol string `xml:"Listener>InstanceProtocol"`
	InstancePort     int    `xml:"Listener>InstancePort"`
	Certificate      string `xml:"Listener>SSLCertificateId,omitempty"`

	Policies query.Members[string] `xml:"PolicyNames"`
}

type policy struct {
	Name       string                         `xml:"PolicyName"`
	Type       string                         `xml:"PolicyTypeName"`
	Attributes query.Members[policyAttribute] `xml:"PolicyAttributeDescriptions"`
}

type policyAttribute struct {
	Name  string `xml:"AttributeName"`
	Value string `xml:"AttributeValue"`
}

type backend struct {
	Port     int                   `xml:"InstancePort"`
	Policies query.Members[string] `xml:"PolicyNames"`
}

type registration struct {
	ID string    `xml:"InstanceId"`
	At time.Time `xml:"-"`
}

type healthCheck struct {
	Target             string
	Interval           int
	Timeout            int
	UnhealthyThreshold int
	HealthyThreshold   int
}

// description is one member of DescribeLoadBalancers; its size is that of the answer.
type description struct {
	LoadBalancerName          string
	DNSName                   string
	CanonicalHostedZoneName   string `xml:",omitempty"`
	CanonicalHostedZoneNameID string
	ListenerDescriptions      query.Members[*listener]
	Policies                  policyView
	BackendServerDescriptions query.Members[backend]
	AvailabilityZones         query.Members[string]
	Subnets                   query.Members[string]
	VPC                       string `xml:"VPCId,omitempty"`
	Instances                 query.Members[registration]
	HealthCheck               healthCheck
	SourceSecurityGroup       sourceGroup
	SecurityGroups            query.Members[string]
	CreatedTime               string
	Scheme                    string
}

type policyView struct {
	AppCookieStickinessPolicies query.Members[string]
	LBCookieStickinessPolicies  query.Members[string]
	OtherPolicies               query.Members[string]
}

func (lb *loadBalancer) view(region string) description {
	d := description{
		LoadBalancerName:          lb.Name,
		DNSName:                   lb.DNSName,
		CanonicalHostedZoneNameID: lbkit.ClassicZone(region),
		ListenerDescriptions:      query.Members[*listener]{Member: lb.Listeners},
		BackendServerDescriptions: query.Members[backend]{Member: lb.Backends},
		AvailabilityZones:         query.Members[string]{Member: lb.Zones},
		Subnets:                   query.Members[string]{Member: lb.Subnets},
		VPC:                       lb.VPC,
		Instances:                 query.Members[registration]{Member: lb.Instances},
		HealthCheck:               lb.Health,
		SourceSecurityGroup:       lb.Source,
		SecurityGroups:            query.Members[string]{Member: lb.Groups},
		CreatedTime:               lb.Created.UTC().Format("2006-01-02T15:04:05.000Z"),
		Scheme:                    lb.Scheme,
	}
	if lb.Scheme != internal {
		d.CanonicalHostedZoneName = lb.DNSName
	}
	for _, p := range lb.Policies {
		d.Policies.OtherPolicies.Member = append(d.Policies.OtherPolicies.Member, p.Name)
	}
	return d
}

func (lb *loadBalancer) listener(port int) *listener {
	for _, l := range lb.Listeners {
		if l.Port == port {
			return l
		}
	}
	return nil
}

func (lb *loadBalancer) policy(name string) (policy, bool) {
	i := slices.IndexFunc(lb.Policies, func(p policy) bool { return p.Name == name })
	if i < 0 {
		return policy{}, false
	}
	return lb.Policies[i], true
}

func (lb *loadBalancer) registered(id string) bool {
	return slices.ContainsFunc(lb.Instances, func(r registration) bool { return r.ID == id })
}

// key sorts load balancers by age.
func (lb *loadBalancer) key() string { return strconv.Itoa(1_000_000_000 + lb.Seq) }

// configurationConflict returns an InvalidConfigurationRequest, which the Classic API
// answers with status 409; source: its service model.
func configurationConflict(format string, args ...any) error {
	e := query.Errorf("InvalidConfigurationRequest", format, args...)
	e.Status = 409
	return e
}
