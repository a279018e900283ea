package wire

import (
	"fmt"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
)

// vpcRead holds the security groups that one read shows, and the facts for builds.
type vpcRead struct {
	*query
	own     map[string]ec2types.SecurityGroup // of Services, by name
	missing []string                          // groups that Services name and that EC2 does not show
	sources map[string]string                 // names of groups of load balancers that no list of names has, by id
	unnamed []string                          // groups that rules name as their source and that EC2 does not show

	shared model.Facts             // of all scopes, with the instances of all
	from   factsKey                // the versions of what they are made of
	made   map[string]*model.Facts // by the digest of a scope's nodes
}

func newVPCRead(q *query) *vpcRead {
	return &vpcRead{
		query: q, own: map[string]ec2types.SecurityGroup{}, sources: map[string]string{}, made: map[string]*model.Facts{},
		shared: model.Facts{Cluster: q.config.Cluster, OwnSubnet: q.config.Subnet, VPC: q.config.VPC},
	}
}

// factsOf are shared between all scopes with the same nodes, and with those of the
// read before if nothing has changed: in a large cluster their instances are most
// of what a read holds.
func (r *vpcRead) factsOf(scope providers.Scope) *model.Facts {
	digest := scope.Nodes.Digest()
	if f, ok := r.made[digest]; ok {
		return f
	}
	absent := eachOnce(append(r.facts.refused.lately(r.now()), r.missing...))
	of, f := r.from, r.shared
	of.nodes, of.quota, of.absent = digest, r.facts.targetQuota(), fmt.Sprint(absent)
	of.subnets, of.groups, of.names = firstOf(f.Subnets), firstOf(f.NodeGroups), len(f.GroupNames)
	of.unseen, of.named, of.given = f.PodsUnseen, fmt.Sprint(f.NamedGroups), fmt.Sprint(f.Given)
	r.made[digest] = r.facts.same(of, func() *model.Facts {
		f.PodGroups, f.Servers, f.Quota = r.facts.pods.All(), r.facts.servers.All(), of.quota
		f.Absent, f.Instances = map[string]bool{}, map[string]model.Instance{}
		for _, name := range absent {
			f.Absent[name] = true
		}
		for _, id := range instanceIDs(scope.Nodes) {
			if i, ok := r.shared.Instances[id]; ok {
				f.Instances[id] = i
			}
		}
		f.Prepare(scope.Nodes)
		return &f
	})
	return r.made[digest]
}

// firstOf returns a pointer to the first element of a list.
func firstOf[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}
