package model

import (
	"maps"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Over are the found tags with those of want written over them.
func Over(found, want Tags) Tags {
	out := Tags{}
	maps.Copy(out, found)
	maps.Copy(out, want)
	return out
}

// MissingTags are those of want that found lacks or has with another value.
// Others on a found thing are its own business.
func MissingTags(want, found Tags) Tags {
	out := Tags{}
	for k, v := range want {
		if have, ok := found[k]; !ok || have != v {
			out[k] = v
		}
	}
	return out
}

// PartTags names the call that writes tags.
const PartTags = "tags"

// tagBatch: one call tags what lacks the same tags, of whatever Services.
func tagBatch(r stack.Resource, _ plan.Action, part string) string {
	switch {
	case part != PartTags:
		return ""
	case r.Key.Kind == KindGroup:
		return "ec2/" + PartTags
	}
	return "elbv2/" + PartTags
}

// sameMarkedTags updates the tags of resources that carry the mark of kind LBC, also
// when they are of kind NLB by now: only then are they found whatever kinds are served.
// Other resources keep the tags of their creation. Where the tags were not read, they
// are unknown.
func sameMarkedTags(want, have any) bool {
	w, _ := want.(Tags)
	h, _ := have.(Tags)
	return !OfOtherController(h) || len(MissingTags(w, h)) == 0
}

// Shown are the tags of a listener or target group as a read shows them: it does only where
// they follow.
func (t Tags) Shown() Tags {
	if OfOtherController(t) {
		return t
	}
	return nil
}

// TagsIn are the tags of what can be tagged.
func TagsIn(spec stack.Spec) Tags {
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

// OfOtherController tells what the AWS Load Balancer Controller made, for which
// nothing else counts: its users may have it set the cluster's tag as well.
func OfOtherController(tags Tags) bool {
	_, marked := tags[tagOtherController]
	return marked
}
