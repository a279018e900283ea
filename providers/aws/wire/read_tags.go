package wire

import (
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
)

// tagJobs read the tags of target groups and listeners where they follow, twenty a call.
func (r *read) tagJobs() []kit.Detail {
	var arns []string
	for _, scope := range r.scopes {
		if scope.Depth != providers.Deep {
			continue
		}
		if !r.tagsFollow(scope) {
			arns = append(arns, r.mixed(scope)...)
			continue
		}
		own := r.ownARNs(r.view(scope))
		lbs, _ := r.sharedBalancers(scope)
		for _, lb := range append(lbs, arnOf(r.networkLBs[r.balancerOf(scope)])) {
			for _, l := range r.listeners[lb] {
				if slices.Contains(own, targetOf(l, own)) {
					arns = append(arns, awssdk.ToString(l.ListenerArn))
				}
			}
		}
		arns = append(arns, own...)
	}
	arns = slices.DeleteFunc(eachOnce(arns), func(arn string) bool { return r.tags[arn] != nil })
	var jobs []kit.Detail
	for chunk := range slices.Chunk(arns, tagsPerCall) {
		jobs = append(jobs, kit.Detail{Of: chunk, Run: func() error { return r.readNetworkTags(chunk) }})
	}
	return jobs
}

// tagsFollow reports whether the target groups and listeners of a scope are given the
// desired tags: those of kind LBC, and those of a load balancer that has been of that
// kind.
func (r *read) tagsFollow(scope providers.Scope) bool {
	lb, found := r.networkLBs[r.balancerOf(scope)]
	return wantsDetails(scope, model.KindTargetGroup) || found && wantsDetails(scope, model.KindNetwork) && r.facts.stackOf(arnOf(lb)) != ""
}
