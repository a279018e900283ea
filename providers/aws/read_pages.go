package aws

import (
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
)

const (
	// pageMachines is how many machines the load balancers of one page may name
	// together. A description lists every machine, so that a whole page of a large
	// cluster would be hundreds of megabytes.
	pageMachines = 400_000
	// smallestPage keeps the number of calls bearable in a very large cluster.
	smallestPage = 20
)

// classicPage is how many Classic Load Balancers to ask for at a time.
func (r *read) classicPage() int32 {
	machines := len(r.facts.remembered())
	for _, s := range r.scopes {
		machines = max(machines, s.Nodes.Len())
	}
	return int32(max(smallestPage, min(balancerPage, pageMachines/max(machines, 1))))
}

// keepClassic remembers a load balancer, its machines as a list that many of them
// share. Who only looks whether it is there needs no machines.
func (r *read) keepClassic(name string, d elbtypes.LoadBalancerDescription) {
	if r.deep(KindClassic, byName, name) {
		machines := instancesOfClassic(d.Instances)
		if slices.Equal(machines, r.lastMachines) {
			machines = r.lastMachines
		}
		r.lastMachines = machines
		r.classicMachines[name] = machines
	}
	d.Instances = nil
	r.classicLBs[name] = d
}

func instancesOfClassic(list []elbtypes.Instance) []string {
	out := make([]string, 0, len(list))
	for _, i := range list {
		out = append(out, awssdk.ToString(i.InstanceId))
	}
	slices.Sort(out)
	return out
}
