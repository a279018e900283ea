package wire

import (
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
)

// Tags go to the wire sorted by key, so that equal requests are equal bytes.

// readTags reads tags or attributes of any of the SDK's types.
func readTags[T any](list []T, pair func(T) (key, value *string)) model.Tags {
	out := make(model.Tags, len(list))
	for _, t := range list {
		key, value := pair(t)
		out[awssdk.ToString(key)] = awssdk.ToString(value)
	}
	return out
}

func tagsOfEC2(list []ec2types.Tag) model.Tags {
	return readTags(list, func(t ec2types.Tag) (key, value *string) { return t.Key, t.Value })
}

// tagList writes tags as any of the SDK's tag types; nil for no tags, because an
// empty list would be sent as a parameter without a value.
func tagList[T any](tags model.Tags, of func(key, value *string) T) []T {
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
