package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack"
)

// errNoHealth means that a cloud is not asked how members are.
var errNoHealth = errors.New("does not tell how members are; see docs/guides/status.md")

// Examine completes the standings of named Services with what the cloud says of their
// members. It reads the cloud, for these Services alone.
func (s *Standings) Examine(ctx context.Context, in Input, t Target) error {
	world, err := Gather(ctx, in)
	if err != nil {
		return err
	}
	world.Items = slices.DeleteFunc(world.Items, func(i Item) bool { return !i.Asked })
	t.Settings.Classes = append(slices.Clone(t.Settings.Classes), recordedClasses(world.Items)...)
	run, err := draftWorld(ctx, world, t)
	if err != nil {
		return err
	}
	for _, task := range run.tasks {
		i := slices.IndexFunc(s.Services, func(one view.Service) bool { return one.Owner == task.item.Owner() })
		if i >= 0 {
			run.examine(ctx, task, &s.Services[i])
		}
	}
	return nil
}

// examine adds the tree of one Service, or why there is none.
func (p *planning) examine(ctx context.Context, t task, s *view.Service) {
	switch {
	case t.err != nil:
		s.Unseen = conditions.OneLine(t.err)
	case t.draft == nil:
		s.Unseen = t.left
	case t.draft.Have == nil:
		s.Unseen = "the Service is not accepted, and what was made for it is not known"
	default:
		health, err := p.reconciler.Health(ctx, t.draft)
		if errors.Is(err, reconcile.ErrNoHealth) {
			err = fmt.Errorf("the provider %s %w", p.target.Cloud.Name, errNoHealth)
		}
		if err != nil {
			s.Unseen = conditions.OneLine(err)
		}
		s.Balancers = growBranches(t.draft.Have, health, p.reconciler.Serves)
		compareService(s, t.draft)
	}
}

// growBranches returns the paths from the resources that clients connect to, down to the
// members: a resource is below the ones that refer to it, else below its parent.
func growBranches(have *stack.Stack, health []providers.MemberHealth, serves func(stack.Kind) bool) []view.Branch {
	onWay := map[stack.Key]bool{}
	var climb func(stack.Key)
	climb = func(k stack.Key) {
		if onWay[k] {
			return
		}
		onWay[k] = true
		for _, above := range aboveOf(have, k) {
			climb(above)
		}
	}
	for _, h := range health {
		climb(h.Of)
	}
	var grow func(stack.Resource) view.Branch
	grow = func(r stack.Resource) view.Branch {
		b := view.Branch{Key: r.Key, ID: r.ID, Label: labelOf(r)}
		for _, h := range health {
			if h.Of == r.Key {
				b.Take(h)
			}
		}
		for _, below := range have.Resources {
			if onWay[below.Key] && slices.Contains(aboveOf(have, below.Key), r.Key) {
				b.Below = append(b.Below, grow(below))
			}
		}
		return b
	}
	var out []view.Branch
	for _, r := range have.Resources {
		if serves(r.Key.Kind) && r.Proof != stack.None {
			out = append(out, grow(r))
		}
	}
	return out
}

// labelOf is the kind of a resource, the name by which plans call it, and the one that it
// has in the cloud where that is another.
func labelOf(r stack.Resource) string {
	label, name := r.Key.String(), reconcile.NameOf(r)
	switch {
	case r.Key.Name == "":
		return strings.TrimSpace(string(r.Key.Kind) + " " + name)
	case name == r.Key.Name:
		return string(r.Key.Kind) + " " + name
	}
	return strings.Replace(label, "/", " ", 1) + " (" + name + ")"
}

// aboveOf lists what stands between a resource and the clients, one step up.
func aboveOf(have *stack.Stack, k stack.Key) []stack.Key {
	var out []stack.Key
	for _, r := range have.Resources {
		for _, f := range stack.Fields(r.Spec) {
			if slices.ContainsFunc(stack.Refs(f.Value), func(ref stack.Ref) bool { return ref.To == k }) {
				out = append(out, r.Key)
				break
			}
		}
	}
	if r, ok := have.Get(k); ok && len(out) == 0 && r.In != (stack.Key{}) {
		out = append(out, r.In)
	}
	return out
}

// writeBranch shows a branch, indented.
func writeBranch(out *strings.Builder, width int, indent string, b view.Branch) {
	healthy := 0
	for _, m := range b.AllMembers() {
		if m.Healthy {
			healthy++
		}
	}
	writeWrapped(out, width, fmt.Sprintf("%s%s: %d of %s healthy", indent, b.Label, healthy, countOf(len(b.AllMembers()), "member")))
	for _, below := range b.Below {
		writeBranch(out, width, indent+"  ", below)
	}
	for _, m := range b.Members {
		line := indent + "  " + m.Member + " " + m.State
		if m.Why != "" {
			line += ": " + m.Why
		}
		writeWrapped(out, width, line)
	}
}
