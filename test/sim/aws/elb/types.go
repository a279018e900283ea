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

// loadBalancer is the complete record of one.
type loadBalancer struct {
	balancerView
	Seq        int
	Policies   []policy
	Attributes attributes
	Tags       []lbkit.Tag
}

type sourceGroup struct{ OwnerAlias, GroupName string }

type listener struct {
	listenerSettings `xml:"Listener"`

	Policies []string `xml:"PolicyNames"`
}

// listenerSettings is what is taken, kept and answered.
type listenerSettings struct {
	Protocol         string `required:"true"`
	Port             int    `xml:"LoadBalancerPort" required:"true" range:"1..65535"`
	InstanceProtocol string
	InstancePort     int    `required:"true" range:"1..65535"`
	Certificate      string `xml:"SSLCertificateId,omitempty"`
}

type policy struct {
	Name       string            `xml:"PolicyName"`
	Type       string            `xml:"PolicyTypeName"`
	Attributes []policyAttribute `xml:"PolicyAttributeDescriptions"`
}

type policyAttribute struct {
	Name  string `xml:"AttributeName"`
	Value string `xml:"AttributeValue"`
}

type backend struct {
	Port     int      `xml:"InstancePort"`
	Policies []string `xml:"PolicyNames"`
}

type registration struct {
	ID string    `xml:"InstanceId"`
	At time.Time `xml:"-"`
}

type healthCheck struct {
	Target             string `required:"true"`
	Interval           int    `required:"true" range:"5..300"`
	Timeout            int    `required:"true" range:"2..60"`
	UnhealthyThreshold int    `required:"true" range:"2..10"`
	HealthyThreshold   int    `required:"true" range:"2..10"`
}

// balancerView is what answers say of a load balancer. HostedZoneName and PolicyNames are
// filled for each answer.
type balancerView struct {
	Name           string `xml:"LoadBalancerName"`
	DNSName        string
	HostedZoneName string      `xml:"CanonicalHostedZoneName,omitempty"`
	HostedZone     string      `xml:"CanonicalHostedZoneNameID"`
	Listeners      []*listener `xml:"ListenerDescriptions"`
	PolicyNames    policyView  `xml:"Policies"`
	Backends       []backend   `xml:"BackendServerDescriptions"`
	Zones          []string    `xml:"AvailabilityZones"`
	Subnets        []string
	VPC            string `xml:"VPCId,omitempty"`
	Instances      []registration
	Health         healthCheck `xml:"HealthCheck"`
	Source         sourceGroup `xml:"SourceSecurityGroup"`
	Groups         []string    `xml:"SecurityGroups"`
	CreatedTime    string
	Scheme         string
}

type policyView struct {
	AppCookieStickinessPolicies, LBCookieStickinessPolicies, OtherPolicies []string
}

func (lb *loadBalancer) view() balancerView {
	v := lb.balancerView
	if lb.Scheme != internal {
		v.HostedZoneName = lb.DNSName
	}
	for _, p := range lb.Policies {
		v.PolicyNames.OtherPolicies = append(v.PolicyNames.OtherPolicies, p.Name)
	}
	return v
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
