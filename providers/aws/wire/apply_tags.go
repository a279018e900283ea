package wire

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// tagging is one batch of steps that add tags.
type tagging struct {
	steps    []*change
	outcomes []plan.Outcome
	add      func(ids []string, tags model.Tags) error
}

// applyTags adds the tags that are missing or differ; what others added stays. What lacks the
// same ones is tagged in one call, as far as AWS takes that many.
func (s *Session) applyTags(ctx context.Context, b plan.Batch) []plan.Outcome {
	t := &tagging{outcomes: make([]plan.Outcome, len(b.Steps)), add: func(ids []string, tags model.Tags) error { return s.tagNetworks(ctx, ids, tags) }}
	if b.Steps[0].ID.Key.Kind == model.KindGroup {
		t.add = func(ids []string, tags model.Tags) error { return s.tagGroups(ctx, ids, tags) }
	}
	var order []string
	alike := map[string][]int{} // places of the steps, by the tags that their things lack
	for i, step := range b.Steps {
		c := &change{Session: s, Ctx: ctx, Batch: b, Step: step}
		want, found := model.TagsIn(step.Target.Spec), model.TagsIn(step.Found)
		t.steps = append(t.steps, c)
		t.outcomes[i] = c.Updated(stack.With(step.Target.Spec, "Tags", model.Over(found, want)), nil)
		text := fmt.Sprint(model.MissingTags(want, found)) // sorted by key
		if alike[text] == nil {
			order = append(order, text)
		}
		alike[text] = append(alike[text], i)
	}
	var err error
	for _, text := range order {
		for places := range slices.Chunk(alike[text], tagsPerCall) {
			err = t.write(places, err)
		}
	}
	return t.outcomes
}

// write tags everything that lacks the same tags in one call, and searches for the
// rejected member where AWS refuses it. After a fault that is about none of them it
// makes no call, and returns it.
func (t *tagging) write(places []int, before error) error {
	err, refused := before, []fault.Refused[int](nil)
	if err == nil {
		first := t.steps[places[0]].Step
		lacks := model.MissingTags(model.TagsIn(first.Target.Spec), model.TagsIn(first.Found))
		refused, err = fault.Split(places, fault.MaxSplits, func(some []int) error {
			var ids []string
			for _, i := range some {
				ids = append(ids, t.steps[i].ID())
			}
			return t.add(ids, lacks)
		})
	}
	if err != nil {
		for _, i := range places {
			t.outcomes[i] = kit.Failed(err)
		}
	}
	for _, r := range refused {
		t.outcomes[r.Member] = kit.Failed(r.Err)
	}
	return err
}

func (s *Session) tagNetworks(ctx context.Context, arns []string, tags model.Tags) error {
	_, err := writeCall(ctx, s.network.AddTags, &elbv2.AddTagsInput{ResourceArns: arns, Tags: tagList(tags, networkTag)})
	return err
}

// tagGroups tags security groups. What was just made may be unknown for some seconds.
func (s *Session) tagGroups(ctx context.Context, ids []string, tags model.Tags) error {
	_, err := writeCall(ctx, s.ec2.CreateTags, &ec2.CreateTagsInput{Resources: ids, Tags: tagList(tags, ec2Tag)})
	return notYet(err, true)
}
