package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// matchFound gives target groups that were found without a listener the place of their
// name. The name is a hash of the immutable fields, so a group of the desired name is
// the desired group: after a stop between the creation of the new group and the switch
// of the listener, the next plan continues with it.
//
// The group that the listener still sends to has that place until now. It gets a place
// of its own, which is not desired, and is deleted once the listener has left it. Rules of the
// nodes get the marks that order their deletion.
func matchFound(want, have *stack.Stack) *stack.Stack {
	if want == nil || have == nil {
		return have
	}
	have = markShutting(want, joinShared(want, have))
	names := map[string]string{} // new key name by old one
	for w, wanted := range stack.Each[TargetGroup](want, KindTargetGroup) {
		holder, taken := have.Get(w.Key)
		if held, _ := holder.Spec.(TargetGroup); taken && held.Name == wanted.Name {
			continue
		}
		from, ok := targetGroupNamed(have, wanted.Name)
		if !ok {
			continue
		}
		names[from] = w.Key.Name
		if _, placed := names[w.Key.Name]; taken && !placed {
			held, _ := holder.Spec.(TargetGroup)
			names[w.Key.Name] = "old-" + held.Name
		}
	}
	nameLeaving(want, have, names)
	if len(names) == 0 {
		return have
	}
	return renameGroups(have, names)
}

// nameLeaving adds the names of target groups that are followed until their listener has
// left them.
func nameLeaving(want, have *stack.Stack, names map[string]string) {
	for _, w := range want.Of(KindTargets) {
		port, leaves := strings.CutPrefix(w.Key.Name, LeavingMark)
		_, kept := want.Get(w.In)
		_, named := have.Get(w.In)
		if l, ok := stack.SpecOf[Listener](have, stack.Key{Kind: KindListener, Name: port}); ok && leaves && !kept && !named && l.TargetGroup.To != (stack.Key{}) {
			names[l.TargetGroup.To.Name] = w.Key.Name
		}
	}
}

// targetGroupNamed finds the key name of the found target group of a name.
func targetGroupNamed(have *stack.Stack, name string) (string, bool) {
	for r, spec := range stack.Each[TargetGroup](have, KindTargetGroup) {
		if spec.Name == name && r.Proof != stack.None {
			return r.Key.Name, true
		}
	}
	return "", false
}

// renameGroups renames the keys of target groups, and of everything that belongs to
// them or refers to them, all at once.
func renameGroups(have *stack.Stack, names map[string]string) *stack.Stack {
	rename := func(k stack.Key) stack.Key {
		if name, ok := names[k.Name]; ok && (k.Kind == KindTargetGroup || k.Kind == KindTargets || k.Kind == KindTargetAttr) {
			k.Name = name
		}
		return k
	}
	out := have.Clone()
	for i := range out.Resources {
		r := &out.Resources[i]
		r.Key, r.In = rename(r.Key), rename(r.In)
		if l, ok := r.Spec.(Listener); ok {
			l.TargetGroup.To = rename(l.TargetGroup.To)
			l.Shares = slices.Clone(l.Shares)
			for i := range l.Shares {
				l.Shares[i].Of.To = rename(l.Shares[i].Of.To)
			}
			slices.SortFunc(l.Shares, CompareWeighted)
			r.Spec = l
		}
	}
	out.Sort()
	return out
}
