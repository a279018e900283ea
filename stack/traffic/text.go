package traffic

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// shown is how many ranges or backends a text names; it counts the others.
const shown = 4

// String returns one line such as
// "shop/web 203.0.113.5 443/TCP from 0.0.0.0/0 to node-1:30443, node-2:30443".
func (f Flow) String() string {
	return fmt.Sprintf("%s %s from %s to %s", f.Owner, f.Name(), RangesText(f.From), backendsText(f.To))
}

// Name returns address, port and protocol, such as "203.0.113.5 443/TCP".
func (f Flow) Name() string { return f.Address + " " + f.PortName() }

// PortName returns port and protocol, such as "443/TCP".
func (f Flow) PortName() string { return fmt.Sprintf("%d/%s", f.Port, f.Protocol) }

// Text returns the flows, one a line, in order.
func Text(flows []Flow) string {
	var out strings.Builder
	for _, f := range Merge(flows) {
		fmt.Fprintln(&out, f)
	}
	return out.String()
}

// String returns the difference, one flow a line. Lines begin with "-" for what is lost,
// "+" for what is gained and "~" for what changes.
func (d Difference) String() string {
	var out strings.Builder
	for _, f := range d.Lost {
		fmt.Fprintln(&out, "-", f)
	}
	for _, f := range d.Gained {
		fmt.Fprintln(&out, "+", f)
	}
	for _, c := range d.Changed {
		fmt.Fprintln(&out, "~", c)
	}
	return out.String()
}

// String names the flow as it was before, and what changes about it.
func (c Change) String() string {
	var parts []string
	if c.Moved() {
		parts = append(parts, "moves to "+c.After.Name())
	}
	if set := c.Opened(); len(set) > 0 {
		parts = append(parts, "opens to "+RangesText(set))
	}
	if set := c.Closed(); len(set) > 0 {
		parts = append(parts, "closes to "+RangesText(set))
	}
	if added := c.Added(); len(added) > 0 {
		parts = append(parts, "gains "+backendsText(added))
	}
	if removed := c.Removed(); len(removed) > 0 {
		parts = append(parts, "loses "+backendsText(removed))
	}
	if len(c.After.To) == 0 {
		parts = append(parts, "has no backend left")
	}
	return fmt.Sprintf("%s %s: %s", c.Before.Owner, c.Before.Name(), strings.Join(parts, ", "))
}

// RangesText returns the ranges for a message; no one for an empty set.
func RangesText(set []netip.Prefix) string { return listTexts(set, "no one") }

// RangeTexts returns the ranges for a document. An address of the network 0.0.0.0/8, which
// no client has, stands for clients that the cloud keeps in a list of its own.
func RangeTexts(set []netip.Prefix) []string {
	var out []string
	for _, p := range set {
		text := p.String()
		if p.Addr().Is4() && p.Addr().As4()[0] == 0 && p.IsSingleIP() {
			text = "a prefix list"
		}
		out = append(out, text)
	}
	return slices.Compact(out)
}

func backendsText(list []Backend) string { return listTexts(list, "nothing") }

// String returns name and port.
func (b Backend) String() string {
	if strings.Contains(b.Name, ":") {
		return fmt.Sprintf("[%s]:%d", b.Name, b.Port)
	}
	return fmt.Sprintf("%s:%d", b.Name, b.Port)
}

func listTexts[T fmt.Stringer](list []T, none string) string {
	if len(list) == 0 {
		return none
	}
	var texts []string
	for _, v := range list[:min(shown, len(list))] {
		texts = append(texts, v.String())
	}
	text := strings.Join(texts, ", ")
	if more := len(list) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
