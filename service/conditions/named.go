package conditions

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/status"
)

// failedRun is Failed for a run: where the cloud's answer contains a value of the Service, the
// message has the annotation or field of that value, which the cloud does not know.
func failedRun(result reconcile.Result) status.Condition {
	plain := Failed(result.Err, sentBy(result)...)
	first := leadingFailure(result.Err)
	keys := strings.Join(keysIn(result.Draft, OneLine(first)), " or ")
	if keys == "" || fault.Helped(first) || fault.CauseOf(first) != fault.Unspecified {
		return plain
	}
	text := trimStop(Steady(lastingFailures(result.Err), sentBy(result)...))
	switch plain.Reason {
	case status.ReasonRefused:
		plain.Message = text + "; change " + keys + ", or the cloud resource that it names"
	case status.ReasonConflict:
		plain.Message = text + "; the value is from " + keys + ": change it, or the cloud resource that it names; the controller retries"
	default: // no value of the Service is the cause
	}
	return plain
}

// keysIn lists the annotations and fields of the Service whose values are words of a text, except
// the ones in the text.
func keysIn(draft *reconcile.Draft, text string) []string {
	if draft == nil || draft.Request.Service == nil {
		return nil
	}
	named := draft.Request.Values.Named()
	of := func(o annotations.Origin) bool {
		return slices.ContainsFunc(named, func(n annotations.Named) bool { return n.Key == o.Key })
	}
	var out []string
	add := func(key, value string) {
		if hasWord(text, value) && !strings.Contains(text, key) {
			out = append(out, key)
		}
	}
	for _, n := range named {
		if !n.Reported && len(n.Value) >= shortestName {
			add(n.Key, n.Value)
		}
	}
	for _, o := range draft.Request.Values.Origins() {
		for _, item := range itemsOf(o.Raw) {
			if !of(o) {
				add(o.Key, item)
			}
		}
	}
	spec := draft.Request.Service.Spec
	add("spec.loadBalancerIP", spec.LoadBalancerIP)
	for _, prefix := range spec.LoadBalancerSourceRanges {
		add("spec.loadBalancerSourceRanges", prefix)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Lengths from which on a value is no word of an answer by chance: the name of a thing, and
// an item of any other value.
const (
	shortestName = 3
	shortestItem = 5
)

// itemsOf returns the items, keys and values of an annotation that are no plain words or numbers.
func itemsOf(raw string) []string {
	items := strings.FieldsFunc(raw, func(r rune) bool { return r == ',' || r == '=' || r == ' ' })
	return slices.DeleteFunc(append(items, raw), func(item string) bool {
		return len(item) < shortestItem || isNumber(item) || !strings.ContainsFunc(item, func(r rune) bool { return !isAlphanumeric(r) })
	})
}

// hasWord reports whether a text contains a value that is not a part of a longer word.
func hasWord(text, value string) bool {
	if value == "" {
		return false
	}
	within := func(r rune) bool { return isAlphanumeric(r) || r == '-' || r == '_' }
	for rest := text; ; {
		before, after, found := strings.Cut(rest, value)
		if !found {
			return false
		}
		if !strings.ContainsFunc(lastOf(before), within) && !strings.ContainsFunc(after[:min(len(after), 1)], within) {
			return true
		}
		rest = after
	}
}

func lastOf(text string) string { return text[max(0, len(text)-1):] }

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
