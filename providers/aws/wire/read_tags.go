package wire

import (
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
)

// tagJobs read the tags of target groups and listeners where they follow, twenty a call.
func (r *networkRead) tagJobs() []kit.Detail {
	var arns []string
	for _, scope := range r.deep {
		if !r.tagsFollow(scope) {
			arns = append(arns, r.mixed(scope)...)
			continue
		}
		own := r.view(scope).forOwnPods
		for _, lb := range r.balancersOf(scope) {
			for _, l := range r.listeners[lb] {
				if slices.Contains(own, targetOf(l, own)) {
					arns = append(arns, awssdk.ToString(l.ListenerArn))
				}
			}
		}
		arns = append(arns, own...)
	}
	return tagDetails(slices.DeleteFunc(eachOnce(arns), func(arn string) bool { return r.tags[arn] != nil }), r.readNetworkTags)
}

// tagDetails read the tags of things in as many calls as AWS requires.
func tagDetails(ids []string, readTags func([]string) error) []kit.Detail {
	var out []kit.Detail
	for chunk := range slices.Chunk(ids, tagsPerCall) {
		out = append(out, kit.Detail{Of: chunk, Run: func() error { return readTags(chunk) }})
	}
	return out
}

// tagsFollow reports whether the target groups and listeners of a scope are given the
// desired tags: those of kind LBC, and those of a load balancer that has been of that
// kind.
func (r *networkRead) tagsFollow(scope providers.Scope) bool {
	return wantsDetails(scope, model.KindTargetGroup) || wantsDetails(scope, model.KindNetwork) && r.facts.stackOf(arnOf(r.balancerOf(scope))) != ""
}
