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
func (r *read) listTargetGroups() error {
	prefixes := r.deepPrefixes()
	if len(prefixes) == 0 {
		return nil
	}
	var all []elbv2types.TargetGroup
	in := &elbv2.DescribeTargetGroupsInput{PageSize: awssdk.Int32(balancerPage)}
	err := readPages(r.ctx, r.network.DescribeTargetGroups, in, func(o *elbv2.DescribeTargetGroupsOutput) {
		for _, t := range o.TargetGroups {
			if hasPrefix(awssdk.ToString(t.TargetGroupName), prefixes) {
				r.targetGroups = append(r.targetGroups, t)
			}
			if len(t.LoadBalancerArns) > 0 {
				all = append(all, t)
			}
		}
	})
	slices.SortFunc(r.targetGroups, func(a, b elbv2types.TargetGroup) int {
		return cmp.Compare(awssdk.ToString(a.TargetGroupArn), awssdk.ToString(b.TargetGroupArn))
	})
	r.inUse = all
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
func (r *read) listVanished() {
	if !r.listed.narrow || !slices.ContainsFunc(r.scopes, r.mayHaveVanished) {
		return
	}
	r.Lists(listOf(familyNetwork, func() error { return r.eachBalancer(nil, func(elbv2types.LoadBalancer) {}) }))
}

func (r *read) mayHaveVanished(scope providers.Scope) bool {
	if _, ok := r.networkLBs[r.balancerOf(scope)]; ok || scope.Depth != providers.Deep {
		return false
	}
	prefixes := lookupValues(scope.Own, model.KindTargetGroup, model.ByPrefix)
	return slices.ContainsFunc(r.targetGroups, func(t elbv2types.TargetGroup) bool {
		return len(t.LoadBalancerArns) > 0 && hasPrefix(awssdk.ToString(t.TargetGroupName), prefixes)
	})
}

// attach keeps, of all target groups in use, those on load balancers of groups.
func (r *read) attach() {
	for i := range r.targetGroups {
		r.targetGroups[i].LoadBalancerArns = existingOf(r.targetGroups[i].LoadBalancerArns, r.listed.all)
	}
	r.attached = map[string][]elbv2types.TargetGroup{}
	shared := map[string]bool{}
	for _, lb := range r.groupLBs {
		shared[arnOf(lb)] = true
	}
	for _, t := range r.inUse {
		if lb := t.LoadBalancerArns[0]; shared[lb] {
			r.attached[lb] = append(r.attached[lb], t)
		}
	}
	r.inUse = nil
}

func (r *read) deepPrefixes() []string {
	var out []string
	for _, s := range r.scopes {
		if s.Depth == providers.Deep {
			out = append(append(out, lookupValues(s.Own, model.KindTargetGroup, model.ByPrefix)...), lookupValues(s.Own, model.KindTargetGroup, model.ByNamespace)...)
		}
	}
	return out
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// describeTargets reads the targets of every target group that is some Service's, and
// the attributes where a scope wants them: otherwise they are not compared.
func (r *read) describeTargets() {
	var jobs []kit.Detail
	planned := map[string]bool{}
	for _, scope := range r.scopes {
		namespace := ""
		if wantsDetails(scope, model.KindTargets) {
			namespace = scope.Owner.Namespace
		}
		attributes := readsKind(scope, model.KindTargetAttr) && len(lookupValues(scope.Facts, model.KindTargetAttr, model.ByWanted))+len(lookupValues(scope.Own, model.KindTargetAttr, model.ByWanted)) > 0
		for _, t := range r.ownTargetGroups(r.view(scope)) {
			arn := awssdk.ToString(t.TargetGroupArn)
			if !planned[arn] {
				planned[arn] = true
				jobs = append(jobs, kit.Detail{Of: []string{arn}, Run: func() error { return r.readTargets(arn, namespace) }})
			}
			if attributes && !planned["attributes of "+arn] {
				planned["attributes of "+arn] = true
				jobs = append(jobs, kit.Detail{Of: []string{arn}, Run: func() error { return r.readTargetAttributes(arn) }})
			}
		}
	}
	inherent := map[partOf]bool{}
	for _, scope := range r.scopes {
		jobs = append(jobs, r.partJobs(scope, inherent)...)
	}
	jobs = append(append(jobs, r.tagJobs()...), r.frontJobs()...)
	r.Details(jobs)
}

// ownTargetGroups returns the target groups that belong to the Service's load balancer
// and have a name of its kind, and groups without one whose tags name the Service. A group of
// another name was attached by another owner and is left alone, unless it was made for
// this Service to send to another one of its namespace.
func (r *read) ownTargetGroups(v *view) []elbv2types.TargetGroup {
	prefixes := lookupValues(v.scope.Own, model.KindTargetGroup, model.ByPrefix)
	if !v.deep || len(prefixes) == 0 {
		return nil
	}
	lb, others := arnOf(r.networkLBs[v.balancer]), lookupValues(v.scope.Own, model.KindTargetGroup, model.ByNamespace)
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
func (r *read) marks(v *view, arn string) bool {
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
func (r *read) readTargets(group, namespace string) error {
	out, err := readCall(r.ctx, r.network.DescribeTargetHealth, &elbv2.DescribeTargetHealthInput{TargetGroupArn: &group})
	if err != nil {
		return err
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
			return noCluster()
		}
		note, err := r.notes.Read(r.ctx, namespace, model.NoteOf(group))
		if err != nil {
			return err
		}
		found = model.OwnOf(found, note)
	}
	healthy, checking := firstHealth(out.TargetHealthDescriptions)
	r.Keep(func() { r.targets[group], r.checking[group] = found, checking && !healthy })
	return nil
}

func isDraining(h elbv2types.TargetHealth) bool {
	return h.State == elbv2types.TargetHealthStateEnumDraining || h.Reason == elbv2types.TargetHealthReasonEnumDeregistrationInProgress
}

func (r *read) readTargetAttributes(group string) error {
	out, err := readCall(r.ctx, r.network.DescribeTargetGroupAttributes, &elbv2.DescribeTargetGroupAttributesInput{TargetGroupArn: &group})
	if err != nil {
		return err
	}
	values := attributesOf(out.Attributes, func(a elbv2types.TargetGroupAttribute) (key, value *string) { return a.Key, a.Value })
	r.Keep(func() { r.attributes[group] = values })
	return nil
}

// targetStack is the Service's target groups with their targets. places are
// their key names, by ARN, as far as listeners tell.
func (r *read) targetStack(v *view, places map[string]string) []stack.Resource {
	var out []stack.Resource
	for _, t := range r.ownTargetGroups(v) {
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
		out = append(out, group)
		if found, ok := r.targets[arn]; ok {
			out = append(out, inGroup(group, model.KindTargets, model.Targets{Targets: found}))
		}
		if values, ok := r.attributes[arn]; ok {
			out = append(out, inGroup(group, model.KindTargetAttr, model.AttributesOfTargets(values, string(t.TargetType))))
		}
	}
	return out
}

func inGroup(group stack.Resource, kind stack.Kind, spec stack.Spec) stack.Resource {
	return stack.Resource{
		Key: stack.Key{Kind: kind, Name: group.Key.Name}, ID: group.ID, In: group.Key, Proof: group.Proof, Spec: spec,
	}
}

func (r *read) targetGroupOf(t elbv2types.TargetGroup) model.TargetGroup {
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
