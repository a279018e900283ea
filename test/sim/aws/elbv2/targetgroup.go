package elbv2

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

func networkProtocols() []string {
	return []string{"TCP", "TLS", "UDP", "TCP_UDP", "QUIC", "TCP_QUIC"}
}

// usesQUIC reports whether targets of a protocol have server ids. Source: API
// reference, TargetDescription, QuicServerId.
func usesQUIC(protocol string) bool { return protocol == "QUIC" || protocol == "TCP_QUIC" }

// carriesUDP reports whether a protocol carries UDP; client addresses are always
// preserved for these.
func carriesUDP(protocol string) bool {
	return protocol == "UDP" || protocol == "TCP_UDP" || usesQUIC(protocol)
}

const (
	targetInstance = "instance"
	targetIP       = "ip"
)

// groupView is what answers say of a target group.
type groupView struct {
	ARN      string `xml:"TargetGroupArn"`
	Name     string `xml:"TargetGroupName"`
	Protocol string `xml:",omitempty"`
	Port     int    `xml:",omitempty"`
	VPC      string `xml:"VpcId,omitempty"`
	healthCheck
	LoadBalancers []string `xml:"LoadBalancerArns,omitempty"` // filled for each answer but that of CreateTargetGroup
	TargetType    string
	IPType        string `xml:"IpAddressType,omitempty"`
}

type createTargetGroupInput struct {
	Name       string `required:"true"`
	Protocol   string `enum:"HTTP|HTTPS|TCP|TLS|UDP|TCP_UDP|GENEVE|QUIC|TCP_QUIC"`
	VPC        string `xml:"VpcId"`
	TargetType string `enum:"instance|ip|lambda|alb"`
	IPType     string `xml:"IpAddressType" enum:"ipv4|ipv6"`
	Port       int    `range:"1..65535"`
	healthCheck
	lbkit.Tagged
}

func createTargetGroup(c *call, in createTargetGroupInput) (_ any, err error) {
	tg := &targetGroup{groupView: groupView{
		Name: in.Name, Protocol: in.Protocol, Port: in.Port, VPC: in.VPC, TargetType: cmp.Or(in.TargetType, targetInstance), IPType: cmp.Or(in.IPType, ipv4),
	}}
	if err := checkName("Target group", tg.Name); err != nil {
		return nil, err
	}
	if err := c.checkGroup(tg); err != nil {
		return nil, err
	}
	tg.healthCheck = tg.defaultHealth(in.healthCheck)
	if err := tg.mergeHealth(in.healthCheck); err != nil {
		return nil, err
	}
	if tg.Tags, err = lbkit.MergeTags(nil, in.Tags, c.opt.Limits.Tags); err != nil {
		return nil, err
	}
	if old := c.State.groupByName(tg.Name); old != nil {
		if !old.sameCreation(tg) {
			return nil, query.Errorf("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", tg.Name)
		}
		return groupsAnswer{TargetGroups: []groupView{old.groupView}}, nil
	}
	if len(c.State.TargetGroups) >= c.opt.Limits.TargetGroups {
		return nil, query.Errorf("TooManyTargetGroups", "The maximum number of target groups has been reached")
	}
	tg.Seq, tg.ID = c.next("target group")
	tg.ARN = c.arn("targetgroup/" + tg.Name + "/" + tg.ID)
	tg.Attributes = defaultValues(tg.settings())
	c.State.TargetGroups[tg.ARN] = tg
	return groupsAnswer{TargetGroups: []groupView{tg.groupView}}, nil
}

// checkGroup checks protocol, port and VPC against the target type.
func (c *call) checkGroup(tg *targetGroup) error {
	if !slices.Contains(networkProtocols(), tg.Protocol) && tg.Protocol != "" || tg.TargetType == "lambda" || tg.TargetType == "alb" {
		return invalidConfiguration("Target groups with the %s protocol and target type '%s' are not simulated", tg.Protocol, tg.TargetType)
	}
	for _, need := range []struct {
		missing bool
		word    string
	}{{tg.Protocol == "", "protocol"}, {tg.Port == 0, "port"}, {tg.VPC == "", "VPC ID"}} {
		if need.missing {
			return query.Errorf("ValidationError", "A %s must be specified", need.word)
		}
	}
	if _, ok := c.Dir.VPC(tg.VPC); !ok {
		return query.Errorf("ValidationError", "The VPC ID '%s' is not found", tg.VPC)
	}
	return nil
}

// sameCreation compares what CreateTargetGroup can say.
func (tg *targetGroup) sameCreation(o *targetGroup) bool {
	return tg.Protocol == o.Protocol && tg.Port == o.Port && tg.VPC == o.VPC &&
		tg.TargetType == o.TargetType && tg.IPType == o.IPType &&
		reflect.DeepEqual(tg.healthCheck, o.healthCheck) && lbkit.SameTags(tg.Tags, o.Tags)
}

// ofGroup is the member of a request that names a target group.
type ofGroup struct {
	TargetGroupArn string `required:"true"`
}

// Find gives the target group.
func (of ofGroup) Find(c *call) (*targetGroup, error) { return c.groupAt(of.TargetGroupArn) }

func (c *call) groupAt(arn string) (*targetGroup, error) {
	return findByARN(c.State.TargetGroups, arn, "targetgroup", "target group", "TargetGroupNotFound")
}

type modifyTargetGroupInput struct {
	healthCheck
	ofGroup
}

func modifyTargetGroup(c *call, tg *targetGroup, in modifyTargetGroupInput) (any, error) {
	if err := tg.mergeHealth(in.healthCheck); err != nil {
		return nil, err
	}
	return c.groups(tg), nil
}

func deleteTargetGroup(c *call, of ofGroup) (any, error) {
	arn := of.TargetGroupArn
	if err := checkARN(arn, "targetgroup", "target group"); err != nil {
		return nil, err
	}
	tg := c.State.TargetGroups[arn]
	lingers := tg != nil && !tg.UsedUntil.IsZero() && c.now.Before(tg.UsedUntil.Add(c.opt.Delays.GroupRelease))
	if lingers || len(c.State.loadBalancersOf(arn)) > 0 {
		return nil, query.Errorf("ResourceInUse", "Target group '%s' is currently in use by a listener or a rule", arn)
	}
	delete(c.State.TargetGroups, arn)
	return nil, nil
}

type describeTargetGroupsInput struct {
	TargetGroupArns, Names []string
	LoadBalancerArn        string
	lbkit.Paging
}

func describeTargetGroups(c *call, in describeTargetGroupsInput) (any, error) {
	given := 0
	for _, b := range []bool{len(in.TargetGroupArns) > 0, len(in.Names) > 0, in.LoadBalancerArn != ""} {
		if b {
			given++
		}
	}
	if given > 1 {
		return nil, query.Errorf("ValidationError", "Target group names, target group ARNs, and a load balancer ARN cannot be specified at the same time")
	}
	all, err := c.selectGroups(in, given == 0)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *targetGroup) int { return strings.Compare(a.Name, b.Name) })
	page, next, err := lbkit.Page(slices.Compact(all), func(tg *targetGroup) string { return tg.Name }, in.Paging)
	out := c.groups(page...)
	out.NextMarker = next
	return out, err
}

func (c *call) selectGroups(in describeTargetGroupsInput, every bool) ([]*targetGroup, error) {
	all, err := findEach(c.State.TargetGroups, in.TargetGroupArns, "targetgroup", "target group", "TargetGroupNotFound")
	if err != nil {
		return nil, err
	}
	for _, name := range in.Names {
		tg := c.State.groupByName(name)
		if tg == nil {
			return nil, query.Errorf("TargetGroupNotFound", "One or more target groups not found")
		}
		all = append(all, tg)
	}
	if in.LoadBalancerArn != "" {
		if _, err := c.loadBalancerAt(in.LoadBalancerArn); err != nil {
			return nil, err
		}
	}
	for _, tg := range c.State.TargetGroups {
		if every || slices.Contains(c.State.loadBalancersOf(tg.ARN), in.LoadBalancerArn) {
			all = append(all, tg)
		}
	}
	return all, nil
}

type groupsAnswer struct {
	TargetGroups []groupView
	NextMarker   string `xml:",omitempty"`
}

func (c *call) groups(tgs ...*targetGroup) groupsAnswer {
	var out groupsAnswer
	for _, tg := range tgs {
		v := tg.groupView
		v.LoadBalancers = append([]string{}, c.State.loadBalancersOf(tg.ARN)...)
		out.TargetGroups = append(out.TargetGroups, v)
	}
	return out
}
