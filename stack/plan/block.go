package plan

import (
	"strings"

	"github.com/berth-lb/berth/stack"
)

// block is a unit of output: one step, or both halves of a replacement.
type block struct {
	main  StepDoc  // the create of a replacement
	other *StepDoc // the delete of a replacement
	held  string   // cause of the block; empty: not blocked
}

// pairBlocks pairs the halves of replacements, at the position of the first half.
func pairBlocks(steps []StepDoc) []block {
	creations, deletions := map[stack.Key]*StepDoc{}, map[stack.Key]*StepDoc{}
	for i := range steps {
		s := &steps[i]
		switch {
		case s.Replacement == NoReplacement:
		case s.Action == Create:
			creations[s.Target.Key] = s
		case s.Action == Delete:
			deletions[s.Target.Key] = s
		}
	}
	var out []block
	shown := map[stack.Key]bool{}
	for _, s := range steps {
		key := s.Target.Key
		creation, deletion := creations[key], deletions[key]
		switch {
		case s.Replacement == NoReplacement || creation == nil || deletion == nil:
			out = append(out, block{main: s})
		case !shown[key]:
			shown[key] = true
			out = append(out, block{main: *creation, other: deletion})
		}
	}
	return out
}

func (b block) symbols(used map[string]bool) {
	used[symbolOf(b.main, b.other != nil).sign] = true
	if len(b.main.With) > 0 {
		used["+"] = true
	}
}

// The columns of a block: the symbol ends at symbolEnd, text starts one
// further, details are indented by two.
const (
	symbolEnd = 5
	bodyAt    = 8
	nestedAt  = 12
)

func (b block) show(p *page) {
	s := symbolOf(b.main, b.other != nil)
	p.mark(symbolEnd-len(s.sign), s.sign, s.color, b.header())
	b.impact(p)
	if b.held != "" {
		p.note(bodyAt, b.held)
	}
	b.notes(p)
	b.fields(p)
	for _, r := range b.main.With {
		p.mark(bodyAt, "+", green, r.Key.String()+", in the same call")
		showFields(p, nestedAt-2, r.Fields)
	}
}

func (b block) impact(p *page) {
	worst := b.main.Impact
	if b.other != nil && (worst == NoImpact || b.other.Impact == Interrupts) {
		worst = b.other.Impact
	}
	switch worst {
	case Interrupts:
		p.mark(bodyAt, "!", red, "interrupts traffic")
	case Brief:
		p.mark(bodyAt, "!", yellow, "brief interruption")
	case NoImpact:
	}
}

// notes returns remarks about the step itself. Remarks of a replacement name the half
// that they are about.
func (b block) notes(p *page) {
	if b.other == nil {
		stepNotes(p, b.main, "")
		return
	}
	first, second := b.main, *b.other
	if b.main.Replacement == DeleteFirst {
		first, second = second, first
	}
	for _, s := range []StepDoc{first, second} {
		s.Needs = removeNeeds(s.Needs, b.main.ID, b.other.ID) // implied by the symbol
		stepNotes(p, s, string(s.Action)+" ")
	}
}

func stepNotes(p *page, s StepDoc, which string) {
	if s.Target.ID != "" {
		p.line(bodyAt, faintSpan("# id "+s.Target.ID))
	}
	if len(s.Needs) > 0 {
		p.note(bodyAt, which+"needs "+needsText(s.Needs))
	}
	if s.Gate != nil {
		p.note(bodyAt, which+gateText(*s.Gate))
	}
}

func removeNeeds(needs []NeedDoc, ids ...string) []NeedDoc {
	var out []NeedDoc
	for _, n := range needs {
		drop := false
		for _, id := range ids {
			drop = drop || (n.Owner == nil && n.Step == id)
		}
		if !drop {
			out = append(out, n)
		}
	}
	return out
}

// needsText lists the first needs and counts the rest.
func needsText(needs []NeedDoc) string {
	const shown = 6
	list := make([]string, 0, shown+1)
	for _, n := range needs[:min(len(needs), shown)] {
		text := n.Step
		if n.Owner != nil {
			text += " of " + ownerText(*n.Owner)
		}
		list = append(list, text)
	}
	text := strings.Join(list, ", ")
	if rest := len(needs) - shown; rest > 0 {
		text += " and " + formatCount(rest, "more", "more")
	}
	return text
}

func (b block) fields(p *page) {
	s := b.main
	switch {
	case len(s.Changes) > 0:
		showChanges(p, bodyAt, s.Changes)
		if s.Unchanged > 0 {
			p.note(bodyAt, formatCount(s.Unchanged, "unchanged field", "unchanged fields")+" not shown")
		}
	case s.Action == Create:
		showFields(p, bodyAt, s.Target.Fields)
	default: // a resource that is deleted or stays is named by its key and id
	}
}
