package aws

import (
	"maps"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

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

// ofOtherController tells what the AWS Load Balancer Controller made, for which
// nothing else counts: its users may have it set the cluster's tag as well.
func ofOtherController(tags Tags) bool {
	_, marked := tags[tagOtherController]
	return marked
}
