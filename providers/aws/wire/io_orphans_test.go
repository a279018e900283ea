package wire

import (
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestOrphans: resources with the cluster's marks are orphans unless their Service
// lives; lookalikes are not.
func TestOrphans(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{})
		gone, alive, foreign := ownerOf(1), ownerOf(2), ownerOf(3)
		build := func(o stack.Owner, tags, group model.Tags) {
			t.Helper()
			r.network(o, tags)
			_, err := r.session.ec2.CreateSecurityGroup(t.Context(), &ec2.CreateSecurityGroupInput{
				GroupName: awssdk.String(model.OwnGroupName(model.LoadBalancerName(o.UID))), Description: awssdk.String("of a load balancer (" + model.ServiceName(o) + ")"),
				VpcId:             &r.seed.VPC,
				TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeSecurityGroup, Tags: tagList(group, ec2Tag)}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		build(gone, r.ownedBy(gone), r.owned())
		build(alive, r.ownedBy(alive), r.owned())
		build(foreign, model.Tags{"kubernetes.io/cluster/another": "owned", "kubernetes.io/service-name": model.ServiceName(foreign)}, model.Tags{r.config.Cluster.Key(): "shared"})

		found, err := r.session.Orphans(t.Context(), providers.Live{Services: []stack.Owner{alive}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, have := range found {
			for _, res := range have.Resources {
				got = append(got, have.Owner.String()+" "+string(res.Key.Kind))
			}
		}
		slices.Sort(got)
		want := []string{"shop/web-1 network-attributes", "shop/web-1 network-load-balancer", "shop/web-1 security-group", "shop/web-1 security-group-ingress"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		r.session.config.Cluster = model.ClusterTag{}
		if _, err := r.session.Orphans(t.Context(), providers.Live{}); err == nil {
			t.Error("without a cluster id everything would be an orphan, and no error said so")
		}
	})
}

// network makes a bare Network Load Balancer with the name of a Service's.
func (r *rig) network(o stack.Owner, tags model.Tags) {
	r.Helper()
	in := &elbv2.CreateLoadBalancerInput{
		Name: awssdk.String(model.LoadBalancerName(o.UID)), Type: elbv2types.LoadBalancerTypeEnumNetwork, Tags: tagList(tags, networkTag),
		Subnets: r.seed.PublicSubnets(),
	}
	if _, err := r.session.network.CreateLoadBalancer(r.Context(), in); err != nil {
		r.Fatal(err)
	}
}
