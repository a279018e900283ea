package aws

import (
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Tags go to the wire sorted by key, so that equal requests are equal bytes.

func tagsOfEC2(list []ec2types.Tag) Tags {
	out := make(Tags, len(list))
	for _, t := range list {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
}

func tagsOfClassic(list []elbtypes.Tag) Tags {
	out := make(Tags, len(list))
	for _, t := range list {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
}

func tagsOfNetwork(list []elbv2types.Tag) Tags {
	out := make(Tags, len(list))
	for _, t := range list {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
}

// tagList writes tags as any of the SDK's tag types; nil for no tags, because an
// empty list would be sent as a parameter without a value.
func tagList[T any](tags Tags, of func(key, value *string) T) []T {
	if len(tags) == 0 {
		return nil
	}
	out := make([]T, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, of(awssdk.String(k), awssdk.String(tags[k])))
	}
	return out
}

func ec2Tag(k, v *string) ec2types.Tag       { return ec2types.Tag{Key: k, Value: v} }
func classicTag(k, v *string) elbtypes.Tag   { return elbtypes.Tag{Key: k, Value: v} }
func networkTag(k, v *string) elbv2types.Tag { return elbv2types.Tag{Key: k, Value: v} }

// over are the found tags with those of want written over them.
func over(found, want Tags) Tags {
	out := Tags{}
	maps.Copy(out, found)
	maps.Copy(out, want)
	return out
}

// missingTags are those of want that found lacks or has with another value.
// Others on a found thing are its own business.
func missingTags(want, found Tags) Tags {
	out := Tags{}
	for k, v := range want {
		if have, ok := found[k]; !ok || have != v {
			out[k] = v
		}
	}
	return out
}

// partTags names the call that writes tags.
const partTags = "tags"

// tagBatch: one call tags what lacks the same tags, of whatever Services.
func tagBatch(r stack.Resource, _ plan.Action, part string) string {
	switch {
	case part != partTags:
		return ""
	case r.Key.Kind == KindGroup:
		return "ec2/" + partTags
	}
	return "elbv2/" + partTags
}

// sameMarkedTags has tags follow on what carries the mark of kind LBC, also when it is of
// kind NLB by now: only then is it found whatever kinds are served. Other things keep the tags
// of their creation, and of those nobody has read the tags nothing is known.
func sameMarkedTags(want, have any) bool {
	w, _ := want.(Tags)
	h, _ := have.(Tags)
	return !ofOtherController(h) || len(missingTags(w, h)) == 0
}

// shown are the tags of a listener or target group as a read shows them: it does only where
// they follow.
func (t Tags) shown() Tags {
	if ofOtherController(t) {
		return t
	}
	return nil
}

// tagsIn are the tags of what can be tagged.
func tagsIn(spec stack.Spec) Tags {
	switch s := spec.(type) {
	case Network:
		return s.Tags
	case TargetGroup:
		return s.Tags
	case Listener:
		return s.Tags
	case Group:
		return s.Tags
	}
	return nil
}
