package wire

import (
	"context"
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
)

// controlledMark is a thing with the tags of the AWS Load Balancer Controller, or of what
// stands in its place.
type controlledMark struct {
	tags  model.Tags
	group string // its name if it is a security group
}

// controlledMarks are those of load balancers, target groups and security groups. Where that
// controller serves Services they are its own, but for those of load balancers that have become
// ones of kind NLB here.
func (s *Session) controlledMarks(ctx context.Context, r *networkRead, m *marks) error {
	if !s.config.Controller.Serve {
		return s.movedMarks(ctx, r, m)
	}
	var arns []string
	for _, lb := range m.balancers {
		if lb.arn != "" {
			arns = append(arns, lb.arn)
		}
	}
	arns = append(arns, m.groupARNs...)
	if err := tagsOfAll(arns, r.readNetworkTags); err != nil {
		return err
	}
	for _, arn := range arns {
		m.controlled = append(m.controlled, controlledMark{tags: r.tags[arn]})
	}
	groups, err := s.groupsBy(ctx, "tag:"+model.TagLBCCluster, []string{s.cluster})
	for _, g := range groups {
		m.controlled = append(m.controlled, controlledMark{tags: tagsOfEC2(g.Tags), group: awssdk.ToString(g.GroupName)})
	}
	return err
}

// movedMarks are the marks of load balancers that were of kind LBC and are of kind NLB,
// of the security groups on them, and of security groups that were moved likewise and
// are no longer on one.
func (s *Session) movedMarks(ctx context.Context, r *networkRead, m *marks) error {
	var arns []string
	for _, lb := range m.balancers {
		if lb.arn != "" && !uidName(lb.name) {
			arns = append(arns, lb.arn)
		}
	}
	if err := tagsOfAll(arns, r.readNetworkTags); err != nil {
		return err
	}
	var on []string
	for _, lb := range m.balancers {
		if s.movedIn(r.tags[lb.arn]) != "" {
			m.controlled = append(m.controlled, controlledMark{tags: r.tags[lb.arn]})
			on = append(on, lb.groups...)
		}
	}
	for _, g := range m.groups {
		if tags := tagsOfEC2(g.Tags); s.movedIn(tags) != "" && !slices.Contains(on, awssdk.ToString(g.GroupId)) {
			m.controlled = append(m.controlled, controlledMark{tags: tags, group: awssdk.ToString(g.GroupName)})
		}
	}
	if len(on) == 0 {
		return nil
	}
	groups, err := s.groupsBy(ctx, "tag:"+model.TagLBCCluster, []string{s.cluster})
	for _, g := range groups {
		if slices.Contains(on, awssdk.ToString(g.GroupId)) {
			m.controlled = append(m.controlled, controlledMark{tags: tagsOfEC2(g.Tags), group: awssdk.ToString(g.GroupName)})
		}
	}
	return err
}

// controlled finds the Services of kind LBC that do not live. Their tags name them, but not
// their UID, so what names a Service that lives is that Service's.
func (w *sweep) controlled(m *marks, cluster string) {
	for _, mark := range m.controlled {
		service := mark.tags[model.TagLBCStack]
		if mark.tags[model.TagLBCCluster] != cluster || service == "" || w.names[service] {
			continue
		}
		o := w.ofService(service)
		o.controlled = true
		if mark.group != "" {
			o.groups = append(o.groups, mark.group)
		}
		if place := model.PlaceIn(cluster, mark.tags); place != "" {
			o.places = append(o.places, place)
		}
	}
}

// ofService returns the orphan of a Service's name, which may be new.
func (w *sweep) ofService(service string) *orphan {
	for _, name := range slices.Sorted(maps.Keys(w.found)) {
		if o := w.found[name]; model.ServiceName(o.owner) == service {
			return o
		}
	}
	o := &orphan{}
	o.noteName(service)
	w.found[service] = o
	return o
}

// controlledLookups are where things of an orphan of kind LBC may be. What it shares with
// others is looked at as well: the last one takes it along.
func (o *orphan) controlledLookups(cluster string, c model.Controller) []providers.Lookup {
	if !o.controlled {
		return nil
	}
	var out []providers.Lookup
	for _, name := range eachOnce(o.groups) {
		out = append(out, providers.Lookup{Kind: model.KindGroup, By: model.ByName, Value: name})
	}
	if !c.Serve {
		return append(out, providers.Lookup{Kind: model.KindNetwork, By: model.ByMoved, Value: model.ServiceName(o.owner)})
	}
	out = append(out,
		providers.Lookup{Kind: model.KindNetwork, By: model.ByStack, Value: model.ServiceName(o.owner)}, providers.Lookup{Kind: model.KindTargetGroup, By: model.ByStack, Value: model.ServiceName(o.owner)},
		providers.Lookup{Kind: model.KindTargetGroup, By: model.ByNamespace, Value: model.NamespacePrefix(o.owner)})
	for _, place := range eachOnce(o.places) {
		out = append(out, providers.Lookup{Kind: model.KindSharedNetwork, By: model.ByGroup, Value: place})
	}
	if c.BackendGroup == "" {
		out = append(out, providers.Lookup{Kind: model.KindSharedGroup, By: model.ByName, Value: model.SharedGroupName(cluster)})
	}
	return out
}
