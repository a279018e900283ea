package wire

import (
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

const (
	// balancerPage is the largest page of both ELB APIs.
	balancerPage = 400
	// tagsPerCall is how many names or ARNs one DescribeTags takes, in both APIs.
	tagsPerCall = 20
)

// classicRead holds the Classic Load Balancers that one read shows, by name.
type classicRead struct {
	*query
	detailed     []string // those of which a scope wants details, sorted
	found        map[string]classicFound
	lastMachines []string // of the load balancer before
	// Details, under the lock of the batch.
	tags       map[string]model.Tags
	attributes map[string]model.ClassicAttributes
}

// classicFound is a Classic Load Balancer without its instances, of which only the ids are
// kept.
type classicFound struct {
	elbtypes.LoadBalancerDescription
	machines []string
}

func newClassicRead(q *query) *classicRead {
	return &classicRead{
		query: q, detailed: valuesIn(q.deep, model.KindClassic, model.ByName), found: map[string]classicFound{},
		tags: map[string]model.Tags{}, attributes: map[string]model.ClassicAttributes{},
	}
}

// containsSorted searches a sorted list.
func containsSorted(sorted []string, s string) bool {
	_, ok := slices.BinarySearch(sorted, s)
	return ok
}

// classicJobs read tags, twenty load balancers a call, and attributes of each.
func (r *classicRead) classicJobs() []kit.Detail {
	var jobs []kit.Detail
	found := r.foundDetailed()
	attributes := valuesIn(selectReading(r.deep, model.KindClassicAttr), model.KindClassic, model.ByName)
	for _, name := range found {
		if containsSorted(attributes, name) {
			jobs = append(jobs, kit.Detail{Of: []string{name}, Run: func() error { return r.readClassicAttributes(name) }})
		}
	}
	return append(jobs, tagDetails(found, r.readClassicTags)...)
}

func (r *classicRead) readClassicTags(names []string) error {
	out, err := readCall(r.ctx, r.classic.DescribeTags, &elb.DescribeTagsInput{LoadBalancerNames: names})
	if fault.Is(err, fault.NotFound) && len(names) > 1 {
		return kit.OneByOne(names, r.readClassicTags)
	}
	if err != nil {
		return err
	}
	r.Keep(func() {
		for _, d := range out.TagDescriptions {
			r.tags[awssdk.ToString(d.LoadBalancerName)] = readTags(d.Tags, func(t elbtypes.Tag) (key, value *string) { return t.Key, t.Value })
		}
	})
	return nil
}

func (r *classicRead) readClassicAttributes(name string) error {
	out, err := readCall(r.ctx, r.classic.DescribeLoadBalancerAttributes, &elb.DescribeLoadBalancerAttributesInput{LoadBalancerName: &name})
	if err != nil {
		return err
	}
	r.Keep(func() {
		r.attributes[name] = model.AttributesOfClassic(classicAttributesOf(out.LoadBalancerAttributes))
	})
	return nil
}

func classicAttributesOf(a *elbtypes.LoadBalancerAttributes) model.ClassicAttributes {
	var out model.ClassicAttributes
	if a == nil {
		return out
	}
	if c := a.CrossZoneLoadBalancing; c != nil {
		out.CrossZone = &c.Enabled
	}
	if d := a.ConnectionDraining; d != nil {
		out.DrainingEnabled, out.DrainingTimeout = &d.Enabled, d.Timeout
	}
	if s := a.ConnectionSettings; s != nil {
		out.IdleTimeout = s.IdleTimeout
	}
	if l := a.AccessLog; l != nil {
		out.LogEnabled, out.LogBucket, out.LogPrefix, out.LogEmitInterval = &l.Enabled, l.S3BucketName, l.S3BucketPrefix, l.EmitInterval
	}
	return out
}

// proofOf judges a load balancer that has the Service's name: its name is made from the
// Service's UID, unless its tags name another owner.
func (s *Session) proofOf(o stack.Owner, tags model.Tags) stack.Proof {
	if name, ok := tags[model.TagServiceName]; ok && name != model.ServiceName(o) {
		return stack.None
	}
	if (s.config.Controller.Serve || s.movedIn(tags) != "") && model.LBCMarks(s.cluster, o, tags) {
		return stack.Tag
	}
	if model.OfOtherController(tags) || s.config.Cluster.Other(tags) != "" {
		return stack.None
	}
	return stack.Name
}

// classicStack is the Classic Load Balancer of the view, with all its parts.
func (r *classicRead) classicStack(v *view) []stack.Resource {
	d, ok := r.found[v.classic]
	if !ok || r.Gone(v.classic) {
		return nil
	}
	v.seen = append(v.seen, v.classic)
	proof := r.proofOf(v.scope.Owner, r.tags[v.classic])
	lb := stack.Resource{
		Key: stack.Key{Kind: model.KindClassic}, ID: v.classic, Proof: proof,
		Spec: model.Classic{
			Name: v.classic, Scheme: awssdk.ToString(d.Scheme), Subnets: slices.Sorted(slices.Values(d.Subnets)),
			Groups: v.refs(d.SecurityGroups), Tags: r.tags[v.classic], DNSName: awssdk.ToString(d.DNSName),
		},
	}
	if !v.deep || proof == stack.None {
		return []stack.Resource{lb}
	}
	parts := classicParts(v.classic, d)
	if a, ok := r.attributes[v.classic]; ok {
		parts = append(parts, classicPart(v.classic, model.KindClassicAttr, "", a))
	}
	return append([]stack.Resource{lb}, parts...)
}

// classicPart is a part of a Classic Load Balancer of ours, by which it is
// proven to be ours as well.
func classicPart(lb string, kind stack.Kind, name string, spec stack.Spec) stack.Resource {
	return stack.Resource{
		Key: stack.Key{Kind: kind, Name: name}, ID: model.PartID(lb, kind, name),
		In: stack.Key{Kind: model.KindClassic}, Proof: stack.Derived, Spec: spec,
	}
}

func classicParts(lb string, d classicFound) []stack.Resource {
	out := []stack.Resource{classicPart(lb, model.KindClassicInst, "", model.ClassicInstances{Instances: d.machines})}
	if h := d.HealthCheck; h != nil {
		out = append(out, classicPart(lb, model.KindClassicCheck, "", model.ClassicHealthCheck{
			Target: awssdk.ToString(h.Target), Interval: awssdk.ToInt32(h.Interval), Timeout: awssdk.ToInt32(h.Timeout),
			Healthy: awssdk.ToInt32(h.HealthyThreshold), Unhealthy: awssdk.ToInt32(h.UnhealthyThreshold),
		}))
	}
	if d.Policies != nil {
		for _, name := range d.Policies.OtherPolicies {
			// A policy's name shows its content but not its creator.
			pol := classicPart(lb, model.KindClassicPol, name, model.ClassicPolicy{Name: name})
			pol.Proof = stack.None
			out = append(out, pol)
		}
	}
	backends := map[int32][]string{}
	var ports []model.ClassicPort
	for _, l := range d.ListenerDescriptions {
		if l.Listener == nil {
			continue
		}
		port := classicPortOf(lb, *l.Listener)
		backends[port.InstancePort] = nil
		ports = append(ports, port)
		out = append(out, classicSSL(lb, port.Port, l.PolicyNames))
	}
	model.MarkTrials(ports)
	for _, port := range ports {
		out = append(out, classicListener(port))
	}
	for _, b := range d.BackendServerDescriptions {
		backends[awssdk.ToInt32(b.InstancePort)] = b.PolicyNames
	}
	for port, names := range backends {
		out = append(out, classicPart(lb, model.KindClassicBack, model.Decimal(port), model.ClassicPolicies{Port: port, Policies: policyRefs(names)}))
	}
	return out
}

func classicPortOf(lb string, l elbtypes.Listener) model.ClassicPort {
	return model.ClassicPort{
		Balancer: lb, Port: l.LoadBalancerPort, Protocol: strings.ToUpper(awssdk.ToString(l.Protocol)),
		InstancePort: awssdk.ToInt32(l.InstancePort), InstanceProtocol: strings.ToUpper(awssdk.ToString(l.InstanceProtocol)),
		Certificate: awssdk.ToString(l.SSLCertificateId),
	}
}

func classicListener(p model.ClassicPort) stack.Resource {
	out := classicPart(p.Balancer, model.KindClassicPort, model.Decimal(p.Port), p)
	out.Slot = model.PortSlot(p.Port)
	return out
}

func classicSSL(lb string, port int32, names []string) stack.Resource {
	out := classicPart(lb, model.KindClassicSSL, model.Decimal(port), model.ClassicPolicies{Port: port, Policies: policyRefs(names)})
	out.In = stack.Key{Kind: model.KindClassicPort, Name: model.Decimal(port)}
	return out
}

// policyRefs points to policies of ours by key, to others by name.
func policyRefs(names []string) []stack.Ref {
	var out []stack.Ref
	for _, n := range names {
		if n == model.ProxyPolicyName || strings.HasPrefix(n, model.SSLPolicyNamePrefix) {
			out = append(out, stack.RefTo(stack.Key{Kind: model.KindClassicPol, Name: n}))
			continue
		}
		out = append(out, stack.RefID(n))
	}
	return out
}
