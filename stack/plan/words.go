package plan

import (
	"strings"
	"time"

	"github.com/berth-lb/berth/stack"
)

// header returns the first line of a block: action, resource and reason.
func (b block) header() string {
	s := b.main
	name := s.Target.Key.String()
	if s.Part != "" {
		name += " (" + s.Part + ")"
	}
	verb := " will be "
	if b.held != "" {
		verb = " would be "
	}
	switch {
	case b.other != nil:
		return name + verb + "replaced: " + replacedWhy(s)
	case s.Action == Create:
		return name + verb + "created: " + reasonText(s)
	case s.completes():
		return name + verb + "set: " + reasonText(s)
	case s.Action == Update:
		return name + verb + "updated: " + reasonText(s)
	case s.Action == Delete:
		return name + verb + "deleted: " + reasonText(s)
	case s.Why != "":
		return name + " " + s.Why
	default:
		return name + " stays, others use it"
	}
}

// reasonText returns the reason in the words of the step, or of its reason.
func reasonText(s StepDoc) string {
	if s.Why != "" {
		return s.Why
	}
	switch s.Reason {
	case Missing:
		return "it is wanted and was not found"
	case Initial:
		return "it completes what is created"
	case Changed:
		return "it differs from the desired state"
	case Replaced:
		return replacedHalf(s)
	case Unwanted:
		return "nothing wants it any more"
	case Shared:
		return "others use it"
	default:
		return "no reason is given"
	}
}

// replacedHalf returns the reason of one half of a replacement that is shown alone.
func replacedHalf(s StepDoc) string {
	if s.Action == Create {
		return "it replaces one that cannot be changed in place"
	}
	return "it cannot be changed in place and is replaced"
}

// replacedWhy returns the fields that force a replacement.
func replacedWhy(s StepDoc) string {
	if s.Why != "" {
		return s.Why
	}
	var fields []string
	for _, c := range s.Changes {
		if c.Forces {
			fields = append(fields, c.Field)
		}
	}
	if len(fields) == 0 {
		return "it cannot be changed in place"
	}
	return strings.Join(fields, ", ") + " cannot be changed in place"
}

// ownerText returns an owner inside a sentence.
func ownerText(o stack.Owner) string {
	if o.IsCluster() {
		return "the cluster"
	}
	return o.String()
}

// heldText returns the cause of a blocked step. A step that is blocked with another one
// names that one, which has the cause.
func heldText(h HeldDoc) string {
	if h.Needs != "" {
		return "held together with: " + h.Needs
	}
	if h.Why == "" {
		return "held by " + h.By
	}
	return "held by " + h.By + ": " + h.Why
}

// gateText returns the observation that is waited for.
func gateText(g GateDoc) string {
	after := shortDuration(g.After)
	switch {
	case after == "":
		return "after: " + g.Since
	case g.Since == "":
		return "after: " + after
	default:
		return "after: " + g.Since + ", for at least " + after
	}
}

// shortDuration returns a duration without the zeros that Go writes at the end.
func shortDuration(s string) string {
	d, err := time.ParseDuration(s)
	if err != nil {
		return s
	}
	if d < time.Minute {
		return d.String()
	}
	s = d.String()
	if cut, ok := strings.CutSuffix(s, "m0s"); ok {
		s = cut + "m"
	}
	if cut, ok := strings.CutSuffix(s, "h0m"); ok {
		s = cut + "h"
	}
	return s
}
