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

func tagsOfEC2(list []ec2types.Tag) model.Tags {
	out := make(model.Tags, len(list))
	for _, t := range list {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
}

func tagsOfClassic(list []elbtypes.Tag) model.Tags {
	out := make(model.Tags, len(list))
	for _, t := range list {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
}

func tagsOfNetwork(list []elbv2types.Tag) model.Tags {
	out := make(model.Tags, len(list))
	for _, t := range list {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
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
