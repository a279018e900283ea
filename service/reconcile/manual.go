package reconcile

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
)

// errands are what only somebody with more rights than ours can do for a Service,
// by what it is done to. They hold until a read shows how it is.
type errands map[stack.Key]string

// after is what is left to others after a run: what we could not do, unless we
// could later.
func (e errands) after(report engine.Report) errands {
	out := maps.Clone(e)
	for _, res := range report.Results {
		key, text := res.Step.ID.Key, res.Outcome.Manual
		switch {
		case res.State != engine.Done:
		case text == "":
			delete(out, key)
		default:
			if out == nil {
				out = errands{}
			}
			out[key] = text
		}
	}
	return out
}

// texts lists them in the order of what they are done to.
func (e errands) texts() []string {
	var out []string
	for _, key := range slices.SortedFunc(maps.Keys(e), stack.Key.Compare) {
		out = append(out, e[key])
	}
	return out
}

// without leaves out of what was found what others were asked to remove.
func (e errands) without(found providers.Read) *stack.Stack {
	if found.Have == nil || len(e) == 0 {
		return found.Have
	}
	out := found.Have.Clone()
	out.Resources = slices.DeleteFunc(out.Resources, func(res stack.Resource) bool { return e[res.Key] != "" })
	return out
}
