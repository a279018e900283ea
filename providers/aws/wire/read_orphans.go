package wire

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
)

// orphan is a deleted Service, as the marks describe it.
type orphan struct {
	owner   stack.Owner
	lb      string // the name of its load balancers; empty: not told
	managed string // the name of the group that was made for its Network Load Balancer
	// controlled says that it has things of kind LBC: security groups, by name, and parts of
	// load balancers of groups and of others.
	controlled     bool
	groups, places []string
}

// Orphans implements providers.Sweeper. A load balancer is marked by its tags and by its
// name, which is made of the Service's UID; a target group by its tags; a security group
// by the cluster's tag and a name that load balancers' own groups have; a rule in a
// group of the nodes by its description; a resource of kind LBC by the tags of the AWS
// Load Balancer Controller, where its Services are served. A resource with the tag of
// another cluster, or one that is only shared with this one, is no orphan.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	if s.config.Cluster.ID == "" {
		return nil, errors.New("cluster id: there is none, so nothing in the cloud is marked as this cluster's")
	}
	w := newSweep(s, live.Services)
	marks, err := s.marks(ctx, w)
	if err != nil {
		return nil, err
	}
	w.balancers(marks)
	w.groups(marks)
	w.targets(marks)
	w.controlled(marks, s.cluster)
	orphans := w.sorted()
	scopes := make([]providers.Scope, 0, len(orphans))
	for _, o := range orphans {
		scope := o.scope()
		scope.Own = append(scope.Own, o.controlledLookups(s.cluster, s.config.Controller)...)
		scopes = append(scopes, scope)
	}
	var out []*stack.Stack
	for i, found := range s.Read(ctx, scopes) {
		if found.Err != nil {
			return nil, found.Err
		}
		if have := w.leftOf(orphans[i], found.Have); len(have.Resources) > 0 {
			out = append(out, have)
		}
	}
	return out, nil
}

// sweep sorts what is marked into what belongs to live Services and the rest.
type sweep struct {
	cluster model.ClusterTag
	lbs     map[string]bool // names of live Services' load balancers
	names   map[string]bool // live Services, namespace/name
	managed map[string]bool // names of the groups of their Network Load Balancers
	found   map[string]*orphan
}

func newSweep(s *Session, live []stack.Owner) *sweep {
	w := &sweep{cluster: s.config.Cluster, lbs: map[string]bool{}, names: map[string]bool{}, managed: map[string]bool{}, found: map[string]*orphan{}}
	for _, o := range live {
		w.lbs[model.LoadBalancerName(o.UID)] = true
		w.names[model.ServiceName(o)] = true
		w.managed[model.ManagedGroupName(s.cluster, o)] = true
	}
	return w
}

// uidName is the form of a load balancer's name that is made of a UID.
func uidName(name string) bool { return regexp.MustCompile(`^a[0-9a-f]{31}$`).MatchString(name) }

// orphaned reports whether a load balancer's name is that of a Service, and of none that
// lives.
func (w *sweep) orphaned(lb string) bool { return uidName(lb) && !w.lbs[lb] }

// orphanOf returns the orphan of a load balancer's name. So much of the UID as is in
// the name gives the same name again.
func (w *sweep) orphanOf(lb string) *orphan {
	o := w.found[lb]
	if o == nil {
		o = &orphan{lb: lb, owner: stack.Owner{Name: lb, UID: strings.TrimPrefix(lb, "a")}}
		w.found[lb] = o
	}
	return o
}

// noteName notes what a tag or description says of the Service's name.
func (o *orphan) noteName(service string) {
	if namespace, name, ok := strings.Cut(service, "/"); ok {
		o.owner.Namespace, o.owner.Name = namespace, name
	}
}

func (w *sweep) balancers(m *marks) {
	for _, lb := range m.balancers {
		if service := lb.tags[model.TagServiceName]; w.orphaned(lb.name) && w.cluster.Owns(lb.tags) && service != "" {
			w.orphanOf(lb.name).noteName(service)
		}
	}
}

// groups checks every group with the cluster's tag: the ones that were created for load
// balancers, and those of the nodes, in which rules may be left.
func (w *sweep) groups(m *marks) {
	for _, g := range m.groups {
		name, description := awssdk.ToString(g.GroupName), awssdk.ToString(g.Description)
		lb, own := strings.CutPrefix(name, model.OwnGroupName(""))
		tags := tagsOfEC2(g.Tags)
		switch owned := w.cluster.Owns(tags) && !model.OfOtherController(tags); {
		case !ofLoadBalancer(g):
			w.rules(g)
		case own && owned && w.orphaned(lb):
			w.orphanOf(lb).noteName(inBrackets(description))
		case !own && owned && !w.managed[name]:
			w.managedGroup(m, g, name)
		}
	}
}

// inBrackets is the Service in the description of a load balancer's own group.
func inBrackets(description string) string {
	_, rest, _ := strings.Cut(description, "(")
	return strings.TrimSuffix(rest, ")")
}

// managedGroup finds whose a group is by the load balancer that it is on, for
// its name is a hash. One on no load balancer stands for itself.
func (w *sweep) managedGroup(m *marks, g ec2types.SecurityGroup, name string) {
	for _, lb := range m.balancers {
		if !slices.Contains(lb.groups, awssdk.ToString(g.GroupId)) {
			continue
		}
		if o := w.found[lb.name]; o != nil {
			o.managed = name
		}
		return // on a load balancer that is no orphan it is none either
	}
	w.found[name] = &orphan{owner: stack.Owner{Name: name}, managed: name}
}

// rules looks for marks in the rules of a group of nodes.
func (w *sweep) rules(g ec2types.SecurityGroup) {
	for _, rule := range rulesOf(g.IpPermissions) {
		for _, mark := range []string{model.RuleClientPrefix, model.RuleHealthPrefix} {
			if lb, ok := strings.CutPrefix(rule.Description, mark); ok && w.orphaned(lb) {
				w.orphanOf(lb)
			}
		}
	}
}

// targets looks at target groups that no load balancer has. The tag names a
// Service but not its UID, so those of a name that lives are that Service's.
func (w *sweep) targets(m *marks) {
	for _, tags := range m.targetGroups {
		if service := tags[model.TagServiceName]; service != "" && w.cluster.Owns(tags) && !w.names[service] {
			w.ofService(service)
		}
	}
}

func (w *sweep) sorted() []*orphan {
	var out []*orphan
	for _, name := range slices.Sorted(maps.Keys(w.found)) {
		out = append(out, w.found[name])
	}
	slices.SortStableFunc(out, func(a, b *orphan) int { return a.owner.Compare(b.owner) })
	return out
}

// scope is where leftovers of the orphan may be.
func (o *orphan) scope() providers.Scope {
	s := providers.Scope{Owner: o.owner, Facts: []providers.Lookup{{Kind: model.KindNodeGroup, By: model.ByNodes}}}
	if o.lb != "" {
		s.Own = append(s.Own, providers.Lookup{Kind: model.KindClassic, By: model.ByName, Value: o.lb},
			providers.Lookup{Kind: model.KindNetwork, By: model.ByName, Value: o.lb},
			providers.Lookup{Kind: model.KindGroup, By: model.ByName, Value: model.OwnGroupName(o.lb)})
	}
	if o.managed != "" {
		s.Own = append(s.Own, providers.Lookup{Kind: model.KindGroup, By: model.ByName, Value: o.managed})
	}
	if o.owner.Namespace != "" {
		s.Own = append(s.Own, providers.Lookup{Kind: model.KindTargetGroup, By: model.ByPrefix, Value: model.TargetGroupPrefix(o.owner)},
			providers.Lookup{Kind: model.KindTargetGroup, By: model.ByServiceName, Value: model.ServiceName(o.owner)})
	}
	return s
}

// leftOf leaves out what was found beside the orphan: rules of others, and target
// groups on no load balancer while a Service of the same name lives.
func (w *sweep) leftOf(o *orphan, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: o.owner}
	for _, r := range have.Resources {
		if r.Proof == stack.None || w.names[model.ServiceName(o.owner)] && strings.HasPrefix(r.Key.Name, orphanMark) {
			continue
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// marks is everything in the cloud that could carry the cluster's marks.
type marks struct {
	balancers    []markedBalancer
	targetGroups []model.Tags // of those on no load balancer
	groups       []ec2types.SecurityGroup
	groupARNs    []string         // of all target groups with a name as they are made here
	controlled   []controlledMark // with the tags of the AWS Load Balancer Controller
}

// markedBalancer is a load balancer of either kind.
type markedBalancer struct {
	name, arn string
	groups    []string
	tags      model.Tags // read of those whose Service does not live
}

func (m *marks) sort() {
	slices.SortFunc(m.balancers, func(a, b markedBalancer) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.arn, b.arn))
	})
	slices.SortFunc(m.targetGroups, func(a, b model.Tags) int { return cmp.Compare(a[model.TagServiceName], b[model.TagServiceName]) })
}
