package reconcile

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
)

// manualActions are actions for a Service that need more permissions, by the resource. They are
// valid until the next read.
type manualActions map[stack.Key]string

// after returns the actions that remain after a run: its own, and earlier ones that it has not
// performed.
func (e manualActions) after(report engine.Report) manualActions {
	out := maps.Clone(e)
	for _, res := range report.Results {
		key, text := res.Step.ID.Key, res.Outcome.Manual
		switch {
		case res.State != engine.Done:
		case text == "":
			delete(out, key)
		default:
			if out == nil {
				out = manualActions{}
			}
			out[key] = text
		}
	}
	return out
}

// texts lists the actions in the order of their resources.
func (e manualActions) texts() []string {
	var out []string
	for _, key := range slices.SortedFunc(maps.Keys(e), stack.Key.Compare) {
		out = append(out, e[key])
	}
	return out
}

// without returns the found resources except the ones that an administrator was asked to delete.
func (e manualActions) without(found providers.Read) *stack.Stack {
	if found.Have == nil || len(e) == 0 {
		return found.Have
	}
	out := found.Have.Clone()
	out.Resources = slices.DeleteFunc(out.Resources, func(res stack.Resource) bool { return e[res.Key] != "" })
	return out
}
