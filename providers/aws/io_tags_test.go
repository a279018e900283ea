package aws_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// kindIn takes the kind of a thing out of its ARN.
func kindIn(arn string) string {
	return strings.Split(strings.Split(arn, ":")[5], "/")[0]
}

// tagsHere are the tags of all load balancers, listeners, target groups and managed security
// groups, by the kind and identifier of each.
func (f *traffic) tagsHere() map[string]map[string]string {
	f.Helper()
	arns := balancersOf(f.subject)
	for _, l := range f.listeners() {
		arns = append(arns, awssdk.ToString(l.ListenerArn))
	}
	groups, err := f.cloud.DescribeTargetGroups(f.Context(), &elasticloadbalancingv2.DescribeTargetGroupsInput{})
	if err != nil {
		f.Fatal(err)
	}
	for _, g := range groups.TargetGroups {
		arns = append(arns, awssdk.ToString(g.TargetGroupArn))
	}
	out := map[string]map[string]string{}
	for chunk := range slices.Chunk(arns, 20) {
		answer, err := f.cloud.DescribeTags(f.Context(), &elasticloadbalancingv2.DescribeTagsInput{ResourceArns: chunk})
		if err != nil {
			f.Fatal(err)
		}
		for _, d := range answer.TagDescriptions {
			tags := map[string]string{}
			for _, t := range d.Tags {
				tags[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
			}
			out[kindIn(*d.ResourceArn)+" "+*d.ResourceArn] = tags
		}
	}
	found, err := ec2.NewFromConfig(f.subject.running.Config).DescribeSecurityGroups(f.Context(), &ec2.DescribeSecurityGroupsInput{
		Filters: []ec2types.Filter{{Name: awssdk.String("tag:service.k8s.aws/resource"), Values: []string{"ManagedLBSecurityGroup"}}},
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, g := range found.SecurityGroups {
		tags := map[string]string{}
		for _, t := range g.Tags {
			tags[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
		}
		out["security-group "+awssdk.ToString(g.GroupId)] = tags
	}
	return out
}

// haveTags fails where a thing lacks a tag, and counts the things by kind.
func (f *traffic) haveTags(want map[string]string) map[string]int {
	f.Helper()
	kinds := map[string]int{}
	for thing, tags := range f.tagsHere() {
		kind, _, _ := strings.Cut(thing, " ")
		kinds[kind]++
		for k, v := range want {
			if tags[k] != v {
				f.Errorf("%s: tag %s is %q, want %q", thing, k, tags[k], v)
			}
		}
	}
	return kinds
}

// counted are the calls of some operations since the journal was emptied.
func (f *traffic) counted(operations ...string) string {
	counts := f.subject.Control().Journal.Counts()
	f.subject.Control().Journal.Reset()
	var out []string
	for _, name := range operations {
		out = append(out, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(out, ", ")
}

// tenPorts are more things than AWS tags in one call: 21, and a security group.
func tenPorts(s *corev1.ServiceSpec) {
	first := s.Ports[0]
	s.Ports = nil
	for n := range int32(10) {
		p := first
		p.Name, p.Port, p.NodePort = fmt.Sprintf("p%d", n), 8000+n, 31000+n
		s.Ports = append(s.Ports, p)
	}
}

// TestTagsFollow: tags of a load balancer of kind LBC, and of everything created for it,
// follow the Service and the cloud configuration, within few calls, in this process and
// in one with empty caches. Tags that others have added stay.
func TestTagsFollow(t *testing.T) {
	setCredentials(t)
	virtual.Test(t, func(t *testing.T) {
		f := newTraffic(t, "", 0)
		c := controllerService("tags", map[string]string{"aws-load-balancer-additional-resource-tags": "team=shop,stage=test"}, tenPorts)
		f.serve(c.Service, false, false)
		writes := []string{"elbv2.AddTags", "elbv2.RemoveTags", "ec2.CreateTags", "ec2.DeleteTags", "elbv2.DescribeTags"}
		f.counted(writes...)
		kinds := f.haveTags(map[string]string{"team": "shop", "stage": "test"})
		if want := map[string]int{"loadbalancer": 1, "listener": 10, "targetgroup": 10, "security-group": 1}; !maps.Equal(kinds, want) {
			t.Fatalf("things: got %v, want %v", kinds, want)
		}
		f.byOthers("owner", "else")

		svc := c.Service.DeepCopy()
		svc.Annotations[prefix+"aws-load-balancer-additional-resource-tags"] = "team=web,stage=test"
		f.counted(writes...)
		f.serve(svc, false, false)
		// 21 resources in calls of 20, and one that was sent alone before the others arrived.
		if got, want := f.counted(writes...), "elbv2.AddTags 2, elbv2.RemoveTags 0, ec2.CreateTags 1, ec2.DeleteTags 0, elbv2.DescribeTags 0"; got != want {
			t.Errorf("a changed tag: calls %s, want %s", got, want)
		}
		f.haveTags(map[string]string{"team": "web", "stage": "test", "owner": "else"})

		f.subject.config += "DefaultTags = bill=sea\n"
		f.restart()
		f.counted(writes...)
		f.serve(svc, false, false)
		// One look is whose the load balancers are, and one at the tags of the Service's own.
		if got, want := f.counted(writes...), "elbv2.AddTags 2, elbv2.RemoveTags 0, ec2.CreateTags 1, ec2.DeleteTags 0, elbv2.DescribeTags 3"; got != want {
			t.Errorf("a default tag after a restart: calls %s, want %s", got, want)
		}
		f.haveTags(map[string]string{"team": "web", "bill": "sea", "owner": "else"})

		f.restart()
		f.counted(writes...)
		f.serve(svc, false, false)
		if got, want := f.counted(writes...), "elbv2.AddTags 0, elbv2.RemoveTags 0, ec2.CreateTags 0, ec2.DeleteTags 0, elbv2.DescribeTags 3"; got != want {
			t.Errorf("nothing changed: calls %s, want %s", got, want)
		}
	})
}

// byOthers tags every existing resource as another client would.
func (f *traffic) byOthers(key, value string) {
	f.Helper()
	for thing := range f.tagsHere() {
		kind, id, _ := strings.Cut(thing, " ")
		var err error
		if kind == "security-group" {
			_, err = ec2.NewFromConfig(f.subject.running.Config).CreateTags(f.Context(), &ec2.CreateTagsInput{
				Resources: []string{id}, Tags: []ec2types.Tag{{Key: &key, Value: &value}},
			})
		} else {
			_, err = f.cloud.AddTags(f.Context(), &elasticloadbalancingv2.AddTagsInput{
				ResourceArns: []string{id}, Tags: []types.Tag{{Key: &key, Value: &value}},
			})
		}
		if err != nil {
			f.Fatal(err)
		}
	}
}

// TestTagsBesideAFullOne: a thing that has no room for a tag keeps none of the others from
// theirs, and is tagged once it has.
func TestTagsBesideAFullOne(t *testing.T) {
	setCredentials(t)
	virtual.Test(t, func(t *testing.T) {
		f := newTraffic(t, "", 0)
		c := controllerService("tags", nil, tenPorts)
		f.serve(c.Service, false, false)
		full := awssdk.ToString(f.listeners()[4].ListenerArn)
		var more []types.Tag
		var keys []string
		for n := range 47 {
			keys = append(keys, fmt.Sprint("more", n))
			more = append(more, types.Tag{Key: &keys[n], Value: awssdk.String("")})
		}
		if _, err := f.cloud.AddTags(t.Context(), &elasticloadbalancingv2.AddTagsInput{ResourceArns: []string{full}, Tags: more}); err != nil {
			t.Fatal(err)
		}
		svc := c.Service.DeepCopy()
		svc.Annotations[prefix+"aws-load-balancer-additional-resource-tags"] = "team=web"
		d, err := f.r.Draft(t.Context(), reconcile.Job{Service: svc, Slices: f.subject.Slices(svc)})
		if err != nil {
			t.Fatal(err)
		}
		if res := f.r.Run(t.Context(), d, f.gates); res.Err == nil {
			t.Error("no warning for the one that is full")
		}
		for thing, tags := range f.tagsHere() {
			if has := tags["team"] == "web"; has == strings.HasSuffix(thing, full) {
				t.Errorf("%s: tags %v", thing, tags)
			}
		}
		if _, err := f.cloud.RemoveTags(t.Context(), &elasticloadbalancingv2.RemoveTagsInput{ResourceArns: []string{full}, TagKeys: keys}); err != nil {
			t.Fatal(err)
		}
		f.serve(svc, false, false)
		f.haveTags(map[string]string{"team": "web"})
	})
}
