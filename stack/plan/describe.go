package plan

import (
	"reflect"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// NewDocument describes plans of one provider, in owner order. Fields of a spec
// with the struct tag `plan:"secret"` are shown as [Secret].
func NewDocument(provider string, plans []Plan) Document {
	doc := Document{FormatVersion: FormatVersion, Provider: validUTF8(provider), Plans: make([]Doc, 0, len(plans))}
	for _, p := range plans {
		doc.Plans = append(doc.Plans, describePlan(p))
	}
	doc.sort()
	return doc
}

func describePlan(p Plan) Doc {
	d := describer{owner: p.Owner, wanted: plainer{made: createdKeys(p)}}
	out := Doc{Owner: validOwner(p.Owner), Steps: make([]StepDoc, 0, len(p.Steps)), Held: make([]HeldDoc, 0, len(p.Blocked))}
	open, held := map[StepID]bool{}, map[StepID]bool{}
	for _, s := range p.Steps {
		open[s.ID] = true
	}
	for _, h := range p.Blocked {
		held[h.Step.ID] = true
	}
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, d.step(s, open))
	}
	for _, h := range p.Blocked {
		out.Held = append(out.Held, heldDoc(d.step(h.Step, held), h))
	}
	out.Summary = summarizeDoc(out)
	return out
}

func heldDoc(step StepDoc, b Blocked) HeldDoc {
	out := HeldDoc{Step: step, By: validUTF8(b.Cause()), Why: validUTF8(b.Why)}
	if b.By == ByNeeds {
		out.Needs = validUTF8(b.Needs.String())
	}
	return out
}

// createdKeys returns the keys that do not exist before the plan runs, including those
// whose creation is blocked.
func createdKeys(p Plan) map[stack.Key]bool {
	out := map[stack.Key]bool{}
	mark := func(s Step) {
		if s.ID.Action == Create {
			out[s.ID.Key] = true
		}
		for _, r := range s.With {
			out[r.Key] = true
		}
	}
	for _, s := range p.Steps {
		mark(s)
	}
	for _, h := range p.Blocked {
		mark(h.Step)
	}
	return out
}

// describer converts steps of one plan to their public form. Observed resources refer to
// existing ones, desired resources need not: their values are therefore converted by two
// plainers.
type describer struct {
	owner  stack.Owner
	wanted plainer
	found  plainer
}

func (d describer) step(s Step, among map[StepID]bool) StepDoc {
	values := d.wanted
	if s.ID.Action == Delete || s.ID.Action == Forget {
		values = d.found
	}
	out := StepDoc{
		ID:          validUTF8(s.ID.String()),
		Action:      s.ID.Action,
		Part:        validUTF8(s.ID.Part),
		Target:      values.resource(s.Target, s.ID.Key),
		Unchanged:   countUnchanged(s),
		Reason:      s.Reason,
		Why:         validUTF8(s.Why),
		Replacement: replacementOrder(s, among),
		Impact:      s.Impact,
		Gate:        gateDoc(s.Gate),
		Needs:       d.needs(s.AllNeeds()),
		Batch:       validUTF8(s.Batch),
	}
	for _, r := range s.With {
		out.With = append(out.With, values.resource(r, r.Key))
	}
	for _, c := range s.Changes {
		out.Changes = append(out.Changes, d.change(s, c))
	}
	return out
}

// resource describes a resource under the key of its step, because a step can omit the
// key of its target.
func (p plainer) resource(r stack.Resource, key stack.Key) ResourceDoc {
	out := ResourceDoc{Key: validKey(key), ID: validUTF8(r.ID)}
	for _, f := range stack.Fields(r.Spec) {
		if f.Evidence {
			continue
		}
		v := p.value(f.Value)
		if secretField(r.Spec, f.Name) {
			v = p.redacted(reflect.ValueOf(f.Value))
		}
		out.Fields = append(out.Fields, FieldDoc{Name: f.Name, Value: v})
	}
	return out
}

func (d describer) change(s Step, c Change) ChangeDoc {
	from, to := d.found.value, d.wanted.value
	if secretField(s.Target.Spec, c.Field) || secretField(s.Found, c.Field) {
		from = func(v any) any { return d.found.redacted(reflect.ValueOf(v)) }
		to = func(v any) any { return d.wanted.redacted(reflect.ValueOf(v)) }
	}
	return ChangeDoc{
		Field:   validUTF8(c.Field),
		From:    from(c.From),
		To:      to(c.To),
		Added:   mapValues(c.Added, to),
		Removed: mapValues(c.Removed, from),
		Forces:  c.Forces,
	}
}

func mapValues(in []any, plain func(any) any) []any {
	if len(in) == 0 {
		return nil
	}
	out := make([]any, 0, len(in))
	for _, v := range in {
		out = append(out, plain(v))
	}
	return out
}

func (d describer) needs(ids []StepID) []NeedDoc {
	var out []NeedDoc
	for _, id := range ids {
		need := NeedDoc{Step: validUTF8(id.String())}
		if id.Owner != d.owner {
			owner := validOwner(id.Owner)
			need.Owner = &owner
		}
		out = append(out, need)
	}
	return out
}

func gateDoc(g Gate) *GateDoc {
	if g.IsZero() {
		return nil
	}
	out := &GateDoc{Since: validUTF8(g.Since)}
	if g.After != 0 {
		out.After = g.After.String()
	}
	return out
}

// countUnchanged counts the unchanged fields of a resource that is updated or replaced;
// a part of an update leaves all others unchanged.
func countUnchanged(s Step) int {
	again := s.ID.Action == Create && s.Reason == Replaced && len(s.Changes) > 0
	if s.ID.Action != Update && !again {
		return 0
	}
	changed := map[string]bool{}
	for _, c := range s.Changes {
		field, _, _ := strings.Cut(c.Field, ".")
		changed[field] = true
	}
	n := 0
	for _, f := range stack.Fields(s.Target.Spec) {
		if !changed[f.Name] && !f.Evidence {
			n++
		}
	}
	return n
}

// replacementOrder returns the order of a replacement whose halves are in the same list
// and belong to one resource.
func replacementOrder(s Step, among map[StepID]bool) Replacement {
	if s.Pair.IsZero() || s.Pair.Create.Key != s.Pair.Delete.Key || !among[s.Pair.Create] || !among[s.Pair.Delete] {
		return NoReplacement
	}
	return s.Pair.Order
}

// validUTF8 replaces invalid UTF-8: a cloud can answer with any bytes, JSON carries
// only UTF-8.
func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func validKey(k stack.Key) stack.Key {
	return stack.Key{Kind: stack.Kind(validUTF8(string(k.Kind))), Name: validUTF8(k.Name)}
}

func validOwner(o stack.Owner) stack.Owner {
	return stack.Owner{Namespace: validUTF8(o.Namespace), Name: validUTF8(o.Name), UID: validUTF8(o.UID)}
}

// Describe converts a resource to its public form: plain values, and a mark in place of the
// values of secret fields.
func Describe(r stack.Resource) ResourceDoc { return plainer{}.resource(r, r.Key) }

// ValueText returns a value of a document on one line, for people. Strings are quoted.
func ValueText(v any) string { return valueText(v) }

// PrintableText replaces the characters of a text that control a terminal.
func PrintableText(s string) string { return replaceUnprintable(s) }

// DOTText returns a quoted string of DOT with one line for each text, without characters that
// control a terminal.
func DOTText(lines ...string) string { return dotText(cleanAll(lines)...) }

// MermaidText returns a quoted label of Mermaid with one line for each text.
func MermaidText(lines ...string) string { return mermaidText(cleanAll(lines)...) }

func cleanAll(lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out = append(out, replaceUnprintable(l))
	}
	return out
}
