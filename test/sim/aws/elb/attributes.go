package elb

import (
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// attributes is what is taken, kept and answered.
type attributes struct {
	CrossZoneLoadBalancing *crossZone            `xml:",omitempty"`
	AccessLog              *accessLog            `xml:",omitempty"`
	ConnectionDraining     *draining             `xml:",omitempty"`
	ConnectionSettings     *settings             `xml:",omitempty"`
	AdditionalAttributes   []additionalAttribute `xml:",omitempty"`
}

type crossZone struct {
	Enabled bool `required:"true"`
}

type accessLog struct {
	Enabled        bool   `required:"true"`
	S3BucketName   string `xml:",omitempty"`
	EmitInterval   int    `xml:",omitempty" range:"5..60"`
	S3BucketPrefix string `xml:",omitempty"`
}

type draining struct {
	Enabled bool `required:"true"`
	Timeout int  `xml:",omitempty" range:"1..3600"`
}

// settings takes what the guide says, up to 4000, as the service does; the service model still
// says 3600.
type settings struct {
	IdleTimeout int `required:"true" range:"1..4000"`
}

// additionalAttribute is the only one there is: the desync mitigation mode.
type additionalAttribute struct {
	Key   string `pattern:"^[a-zA-Z0-9.]+$" length:"0..256"`
	Value string `pattern:"^[a-zA-Z0-9.]+$" length:"0..256"`
}

const desyncKey = "elb.http.desyncmitigationmode"

// defaultAttributes are those of a new load balancer.
// Source: Classic Load Balancers guide, one page for each attribute.
func defaultAttributes() attributes {
	return attributes{
		CrossZoneLoadBalancing: &crossZone{},
		AccessLog:              &accessLog{},
		ConnectionDraining:     &draining{Timeout: 300},
		ConnectionSettings:     &settings{IdleTimeout: 60},
		AdditionalAttributes:   []additionalAttribute{{desyncKey, "defensive"}},
	}
}

func describeAttributes(_ *call, lb *loadBalancer, _ ofBalancer) (any, error) {
	return struct{ LoadBalancerAttributes attributes }{lb.Attributes}, nil
}

type modifyAttributesInput struct {
	LoadBalancerAttributes attributes `required:"true"`
	ofBalancer
}

func modifyAttributes(_ *call, lb *loadBalancer, in modifyAttributesInput) (any, error) {
	change := in.LoadBalancerAttributes
	if err := change.check(); err != nil {
		return nil, err
	}
	if change.ConnectionDraining != nil && change.ConnectionDraining.Timeout == 0 {
		change.ConnectionDraining.Timeout = lb.Attributes.ConnectionDraining.Timeout
	}
	lbkit.Overlay(&lb.Attributes, change)
	return struct {
		LoadBalancerName       string
		LoadBalancerAttributes attributes
	}{lb.Name, change}, nil
}

func (a attributes) check() error {
	if l := a.AccessLog; l != nil {
		if l.EmitInterval != 0 && l.EmitInterval != 5 && l.EmitInterval != 60 {
			return configurationConflict("Access log EmitInterval %s is not valid. Valid values are 5 and 60", strconv.Itoa(l.EmitInterval))
		}
		if l.Enabled && l.S3BucketName == "" {
			return configurationConflict("S3BucketName must be specified to enable access logs")
		}
		if l.Enabled && l.EmitInterval == 0 {
			l.EmitInterval = 60
		}
	}
	for _, x := range a.AdditionalAttributes {
		if x.Key != desyncKey {
			return query.Errorf("LoadBalancerAttributeNotFound", "Load balancer attribute '%s' does not exist", x.Key)
		}
		if !slices.Contains([]string{"monitor", "defensive", "strictest"}, x.Value) {
			return configurationConflict("The value of %s must be one of monitor, defensive, strictest", desyncKey)
		}
	}
	return nil
}
