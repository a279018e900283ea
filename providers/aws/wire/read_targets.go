package wire

import (
	"cmp"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// orphanMark begins the key name of a target group that no listener sends to,
// until the wish tells which one it was meant to be.
const orphanMark = "orphan-"

// listTargetGroups lists all of the account, because the ones whose load balancer was
// deleted can be found no other way, and keeps those with a name of a Service's.
func (r *networkRead) listTargetGroups() error {
	prefixes := append(valuesIn(r.deep, model.KindTargetGroup, model.ByPrefix), valuesIn(r.deep, model.KindTargetGroup, model.ByNamespace)...)
	if len(prefixes) == 0 {
		return nil
	}
	in := &elbv2.DescribeTargetGroupsInput{PageSize: awssdk.Int32(balancerPage)}
	err := readPages(r.ctx, r.network.DescribeTargetGroups, in, func(o *elbv2.DescribeTargetGroupsOutput) {
		for _, t := range o.TargetGroups {
			if hasPrefix(awssdk.ToString(t.TargetGroupName), prefixes) {
				r.targetGroups = append(r.targetGroups, t)
			}
			for _, lb := range t.LoadBalancerArns {
				r.attached[lb] = append(r.attached[lb], t)
			}
		}
	})
	slices.SortFunc(r.targetGroups, func(a, b elbv2types.TargetGroup) int {
		return cmp.Compare(awssdk.ToString(a.TargetGroupArn), awssdk.ToString(b.TargetGroupArn))
	})
	return err
}

// existingOf returns the load balancers that a complete list has; all of them if there is no such
// list, which is nil. A target group may name one that has been deleted: it counts as on none.
func existingOf(arns []string, listed map[string]bool) []string {
	if listed == nil {
		return arns
	}
	return slices.DeleteFunc(slices.Clone(arns), func(arn string) bool { return !listed[arn] })
}

// listVanished lists all load balancers where a Service has none, and a target group with a
// name of the Service's names one: only a complete list shows that it is deleted.
func (r *networkRead) listVanished() {
	if !r.listed.narrow || !slices.ContainsFunc(r.deep, r.mayHaveVanished) {
		return
	}
	r.Lists(listOf(familyNetwork, func() error { return r.eachBalancer(nil, func(elbv2types.LoadBalancer) {}) }))
}

func (r *networkRead) mayHaveVanished(scope providers.Scope) bool {
	if arnOf(r.balancerOf(scope)) != "" {
		return false
	}
	prefixes := lookupValues(scope.Own, model.KindTargetGroup, model.ByPrefix)
	return slices.ContainsFunc(r.targetGroups, func(t elbv2types.TargetGroup) bool {
		return len(t.LoadBalancerArns) > 0 && hasPrefix(awssdk.ToString(t.TargetGroupName), prefixes)
	})
}

// leaveDeleted leaves out load balancers that target groups name and that are deleted.
func (r *networkRead) leaveDeleted() {
	for i := range r.targetGroups {
		r.targetGroups[i].LoadBalancerArns = existingOf(r.targetGroups[i].LoadBalancerArns, r.listed.all)
	}
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// targetJobs read the targets of every target group that is some Service's, and
// the attributes where a scope wants them: otherwise they are not compared.
func (r *networkRead) targetJobs() []kit.Detail {
	var jobs []kit.Detail
	for _, scope := range r.deep {
		namespace := ""
		if wantsDetails(scope, model.KindTargets) {
			namespace = scope.Owner.Namespace
		}
		attributes := readsKind(scope, model.KindTargetAttr) && len(lookupValues(scope.Facts, model.KindTargetAttr, model.ByWanted))+len(lookupValues(scope.Own, model.KindTargetAttr, model.ByWanted)) > 0
		for _, t := range r.view(scope).targetGroups {
			arn := awssdk.ToString(t.TargetGroupArn)
			jobs = append(jobs, r.planPart(partOf{model.KindTargets, arn}, func() (stack.Spec, error) { return r.readTargets(arn, namespace) })...)
			if attributes {
				jobs = append(jobs, r.planPart(partOf{model.KindTargetAttr, arn}, func() (stack.Spec, error) { return r.readTargetAttributes(t) })...)
			}
		}
	}
	return jobs
}

// ownTargetGroups returns the target groups that belong to the Service's load balancer
// and have a name of its kind, and groups without one whose tags name the Service. A group of
// another name was attached by another owner and is left alone, unless it was made for
// this Service to send to another one of its namespace.
func (r *networkRead) ownTargetGroups(v *view) []elbv2types.TargetGroup {
	prefixes := lookupValues(v.scope.Own, model.KindTargetGroup, model.ByPrefix)
	if !v.deep || len(prefixes) == 0 {
		return nil
	}
	lb, others := arnOf(v.balancer), lookupValues(v.scope.Own, model.KindTargetGroup, model.ByNamespace)
	var out []elbv2types.TargetGroup
	for _, t := range r.targetGroups {
		arn, attached := awssdk.ToString(t.TargetGroupArn), lb != "" && slices.Contains(t.LoadBalancerArns, lb)
		if name := awssdk.ToString(t.TargetGroupName); !hasPrefix(name, prefixes) {
			if hasPrefix(name, others) && r.forOther(v, t, attached) {
				out = append(out, t)
			}
			continue
		}
		member := len(t.LoadBalancerArns) > 0 && model.PlaceIn(r.cluster, r.tags[arn]) != ""
		if attached || (len(t.LoadBalancerArns) == 0 || member) && r.marks(v, arn) {
			out = append(out, t)
		}
	}
	return out
}

// marks reports whether the tags name this Service of this cluster.
func (r *networkRead) marks(v *view, arn string) bool {
	tags := r.tags[arn]
	if len(lookupValues(v.scope.Own, model.KindTargetGroup, model.ByStack)) > 0 && model.LBCMarks(r.cluster, v.scope.Owner, tags) {
		return true
	}
	names := append(lookupValues(v.scope.Own, model.KindTargetGroup, model.ByServiceName), model.ServiceName(v.scope.Owner))
	return slices.Contains(names, tags[model.TagServiceName]) && r.config.Cluster.Marks(tags)
}

// readTargets reads which targets are registered. Draining targets do not count: to
// restore them they must be registered again. With a namespace, in which the notes of
// the Service are, only targets that this cluster has registered are read.
func (r *networkRead) readTargets(group, namespace string) (stack.Spec, error) {
	out, err := readCall(r.ctx, r.network.DescribeTargetHealth, &elbv2.DescribeTargetHealthInput{TargetGroupArn: &group})
	if err != nil {
		return nil, err
	}
	found := []model.Target{}
	for _, d := range out.TargetHealthDescriptions {
		if d.Target == nil || d.TargetHealth != nil && isDraining(*d.TargetHealth) {
			continue
		}
		t := model.Target{ID: awssdk.ToString(d.Target.Id), Port: awssdk.ToInt32(d.Target.Port), Server: awssdk.ToString(d.Target.QuicServerId)}
		if zone := awssdk.ToString(d.Target.AvailabilityZone); zone == model.ZoneOutside {
			t.Zone = zone
		}
		found = append(found, t)
	}
	slices.SortFunc(found, model.CompareTargets)
	if namespace != "" {
		if r.notes == nil {
			return nil, noCluster()
		}
		note, err := r.notes.Read(r.ctx, namespace, model.NoteOf(group))
		if err != nil {
			return nil, err
		}
		found = model.OwnOf(found, note)
	}
	healthy, checking := firstHealth(out.TargetHealthDescriptions)
	r.Keep(func() { r.checking[group] = checking && !healthy })
	return model.Targets{Targets: found}, nil
}

func isDraining(h elbv2types.TargetHealth) bool {
	return h.State == elbv2types.TargetHealthStateEnumDraining || h.Reason == elbv2types.TargetHealthReasonEnumDeregistrationInProgress
}

func (r *networkRead) readTargetAttributes(t elbv2types.TargetGroup) (stack.Spec, error) {
	out, err := readCall(r.ctx, r.network.DescribeTargetGroupAttributes, &elbv2.DescribeTargetGroupAttributesInput{TargetGroupArn: t.TargetGroupArn})
	if err != nil {
		return nil, err
	}
	values := readTags(out.Attributes, func(a elbv2types.TargetGroupAttribute) (key, value *string) { return a.Key, a.Value })
	return model.AttributesOfTargets(values, string(t.TargetType)), nil
}

// targetStack is the Service's target groups with their targets. places are
// their key names, by ARN, as far as listeners tell.
func (r *networkRead) targetStack(v *view, places map[string]string) []stack.Resource {
	var out []stack.Resource
	for _, t := range v.targetGroups {
		arn := awssdk.ToString(t.TargetGroupArn)
		if r.Gone(arn) {
			continue
		}
		v.seen = append(v.seen, arn)
		name, attached := places[arn]
		if !attached {
			name = orphanMark + awssdk.ToString(t.TargetGroupName)
		}
		group := stack.Resource{
			Key: stack.Key{Kind: model.KindTargetGroup, Name: name}, ID: arn, Proof: stack.Tag, Spec: r.targetGroupOf(t),
		}
		out = append(append(out, group), r.partsOf(group, group.Proof)...)
	}
	return out
}

func (r *networkRead) targetGroupOf(t elbv2types.TargetGroup) model.TargetGroup {
	out := model.TargetGroup{
		Name: awssdk.ToString(t.TargetGroupName), Protocol: string(t.Protocol), Port: awssdk.ToInt32(t.Port),
		VPC: awssdk.ToString(t.VpcId), TargetType: string(t.TargetType),
		CheckProtocol: string(t.HealthCheckProtocol), CheckPort: awssdk.ToString(t.HealthCheckPort),
		CheckPath: awssdk.ToString(t.HealthCheckPath), CheckInterval: awssdk.ToInt32(t.HealthCheckIntervalSeconds),
		CheckTimeout: t.HealthCheckTimeoutSeconds,
		Healthy:      awssdk.ToInt32(t.HealthyThresholdCount), Unhealthy: awssdk.ToInt32(t.UnhealthyThresholdCount),
	}
	if t.IpAddressType == elbv2types.TargetGroupIpAddressTypeEnumIpv6 {
		out.Family = model.FamilyIPv6
	}
	out.Codes = codesOf(t)
	out.Tags = r.tags[awssdk.ToString(t.TargetGroupArn)].Shown()
	return out
}
