package elbv2

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

func targetProtocols() []string {
	return []string{"HTTP", "HTTPS", "TCP", "TLS", "UDP", "TCP_UDP", "GENEVE", "QUIC", "TCP_QUIC"}
}

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

func createTargetGroup(c *call) (any, error) {
	tg := &targetGroup{
		Name:       c.Need("Name"),
		Protocol:   c.Text("Protocol", lbkit.OneOf(targetProtocols()...)),
		VPC:        c.Str("VpcId"),
		TargetType: c.Text("TargetType", lbkit.OneOf(targetInstance, targetIP, "lambda", "alb")),
		IPType:     c.Text("IpAddressType", lbkit.OneOf("ipv4", "ipv6")),
	}
	port := c.Number("Port", 1, 65535)
	wish := c.readHealth()
	tags := c.Tags("Tags")
	if err := c.Err(); err != nil {
		return nil, err
	}
	if err := checkName("Target group", tg.Name); err != nil {
		return nil, err
	}
	if port != nil {
		tg.Port = *port
	}
	if tg.TargetType == "" {
		tg.TargetType = targetInstance
	}
	if err := c.checkGroup(tg); err != nil {
		return nil, err
	}
	tg.Health = tg.defaultHealth(wish)
	if err := tg.mergeHealth(wish); err != nil {
		return nil, err
	}
	merged, err := lbkit.MergeTags(nil, tags, c.opt.Limits.Tags)
	if err != nil {
		return nil, err
	}
	tg.Tags = merged
	if old := c.State.groupByName(tg.Name); old != nil {
		if !old.sameCreation(tg) {
			return nil, query.Errorf("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", tg.Name)
		}
		return c.created(old), nil
	}
	if len(c.State.TargetGroups) >= c.opt.Limits.TargetGroups {
		return nil, query.Errorf("TooManyTargetGroups", "The maximum number of target groups has been reached")
	}
	tg.Seq, tg.ID = c.next("target group")
	tg.ARN = c.arn("targetgroup/" + tg.Name + "/" + tg.ID)
	tg.Attributes = defaultValues(tg.settings())
	c.State.TargetGroups[tg.ARN] = tg
	return c.created(tg), nil
}

// created is the answer of CreateTargetGroup, which says nothing of load balancers.
// Source: API reference and CLI reference, examples of CreateTargetGroup.
func (c *call) created(tg *targetGroup) groupsAnswer {
	out := c.groups(tg)
	out.TargetGroups.Member[0].LoadBalancerArns = nil
	return out
}

// checkGroup checks protocol, port and VPC against the target type and fills what follows from them.
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
	if tg.IPType == "" {
		tg.IPType = "ipv4"
	}
	return nil
}

// sameCreation compares what CreateTargetGroup can say.
func (tg *targetGroup) sameCreation(o *targetGroup) bool {
	return tg.Protocol == o.Protocol && tg.Port == o.Port && tg.VPC == o.VPC &&
		tg.TargetType == o.TargetType && tg.IPType == o.IPType &&
		tg.Health == o.Health && lbkit.SameTags(tg.Tags, o.Tags)
}

// group reads TargetGroupArn and gives the target group.
func (c *call) group() (*targetGroup, error) {
	return findByMember(c, "TargetGroupArn", (*call).groupAt)
}

func (c *call) groupAt(arn string) (*targetGroup, error) {
	return findByARN(c.State.TargetGroups, arn, "targetgroup", "target group", "TargetGroupNotFound")
}

func modifyTargetGroup(c *call) (any, error) {
	wish := c.readHealth()
	tg, err := c.group()
	if err != nil {
		return nil, err
	}
	changed := *tg
	if err := changed.mergeHealth(wish); err != nil {
		return nil, err
	}
	tg.Health = changed.Health
	return c.groups(tg), nil
}

func deleteTargetGroup(c *call) (any, error) {
	arn := c.Need("TargetGroupArn")
	if err := c.Err(); err != nil {
		return nil, err
	}
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

func describeTargetGroups(c *call) (any, error) {
	arns, names, balancer := c.Strs("TargetGroupArns"), c.Strs("Names"), c.Str("LoadBalancerArn")
	marker, size := c.Paging()
	if err := c.Err(); err != nil {
		return nil, err
	}
	given := 0
	for _, b := range []bool{len(arns) > 0, len(names) > 0, balancer != ""} {
		if b {
			given++
		}
	}
	if given > 1 {
		return nil, query.Errorf("ValidationError", "Target group names, target group ARNs, and a load balancer ARN cannot be specified at the same time")
	}
	all, err := c.selectGroups(arns, names, balancer)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *targetGroup) int { return strings.Compare(a.Name, b.Name) })
	page, next, err := lbkit.Page(slices.Compact(all), func(tg *targetGroup) string { return tg.Name }, marker, size)
	if err != nil {
		return nil, err
	}
	out := c.groups(page...)
	out.NextMarker = next
	return out, nil
}

func (c *call) selectGroups(arns, names []string, balancer string) ([]*targetGroup, error) {
	var all []*targetGroup
	for _, arn := range arns {
		if err := checkARN(arn, "targetgroup", "target group"); err != nil {
			return nil, err
		}
		all = append(all, c.State.TargetGroups[arn])
	}
	for _, name := range names {
		all = append(all, c.State.groupByName(name))
	}
	if slices.Contains(all, nil) {
		return nil, query.Errorf("TargetGroupNotFound", "One or more target groups not found")
	}
	if balancer != "" {
		if _, err := c.loadBalancerAt(balancer); err != nil {
			return nil, err
		}
	}
	if len(arns) > 0 || len(names) > 0 {
		return all, nil
	}
	for tg := range maps.Values(c.State.TargetGroups) {
		if balancer == "" || slices.Contains(c.State.loadBalancersOf(tg.ARN), balancer) {
			all = append(all, tg)
		}
	}
	return all, nil
}

// groupView is one member of an answer; its size is that of the answer.
type groupView struct {
	TargetGroupArn             string
	TargetGroupName            string
	Protocol                   string `xml:",omitempty"`
	Port                       int    `xml:",omitempty"`
	VpcId                      string `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
	HealthCheckProtocol        string `xml:",omitempty"`
	HealthCheckPort            string `xml:",omitempty"`
	HealthCheckEnabled         bool
	HealthCheckIntervalSeconds int
	HealthCheckTimeoutSeconds  int
	HealthyThresholdCount      int
	UnhealthyThresholdCount    int
	HealthCheckPath            string                 `xml:",omitempty"`
	Matcher                    *matcherView           `xml:",omitempty"`
	LoadBalancerArns           *query.Members[string] `xml:",omitempty"`
	TargetType                 string
	IpAddressType              string `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
}

type matcherView struct {
	HttpCode string `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
}

type groupsAnswer struct {
	TargetGroups query.Members[groupView]
	NextMarker   string `xml:",omitempty"`
}

func (c *call) groups(tgs ...*targetGroup) groupsAnswer {
	var out groupsAnswer
	for _, tg := range tgs {
		h := tg.Health
		v := groupView{
			TargetGroupArn: tg.ARN, TargetGroupName: tg.Name, Protocol: tg.Protocol, Port: tg.Port, VpcId: tg.VPC,
			HealthCheckProtocol: h.Protocol, HealthCheckPort: h.Port, HealthCheckEnabled: h.Enabled,
			HealthCheckIntervalSeconds: h.Interval, HealthCheckTimeoutSeconds: h.Timeout,
			HealthyThresholdCount: h.Healthy, UnhealthyThresholdCount: h.Unhealthy, HealthCheckPath: h.Path,
			LoadBalancerArns: &query.Members[string]{Member: c.State.loadBalancersOf(tg.ARN)},
			TargetType:       tg.TargetType, IpAddressType: tg.IPType,
		}
		if h.HTTPCode != "" {
			v.Matcher = &matcherView{h.HTTPCode}
		}
		out.TargetGroups.Member = append(out.TargetGroups.Member, v)
	}
	return out
}
