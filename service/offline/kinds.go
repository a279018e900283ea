package offline

import (
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack/plan"
)

// judgeKinds reads the annotations once for every kind of load balancer that
// the cloud has, because only an open cloud tells which one a Service asks for.
// What holds for every kind is said as it is. A value that only some kinds
// refuse is an error if each kind refuses something, so that there is no way
// out, and a warning otherwise. Keys without effect on some kinds are no mistake.
func judgeKinds(item Item, cloud providers.Entry) []plan.Problem {
	found := make([][]plan.Problem, len(cloud.Kinds))
	hopeless := len(cloud.Kinds) > 0
	for i, kind := range cloud.Kinds {
		found[i] = judge(item, kind, cloud.Annotations)
		hopeless = hopeless && failed(found[i])
	}
	var out []plan.Problem
	for i, kind := range cloud.Kinds {
		for _, p := range found[i] {
			common := !slices.ContainsFunc(found, func(other []plan.Problem) bool { return !slices.Contains(other, p) })
			switch {
			case common && i == 0:
				out = append(out, p)
			case common || p.Severity != plan.Error:
				continue
			default:
				if !hopeless {
					p.Severity = plan.Warning
				}
				p.Text += " (on " + kind + ")"
				out = append(out, p)
			}
		}
	}
	return out
}

// judge reads the annotations for one kind of load balancer.
func judge(item Item, kind string, set *annotations.Set) []plan.Problem {
	_, problems := set.Parse(kind, annotations.SourceOf(item.Service))
	return publicProblems(problems)
}
