package plan

import (
	"fmt"
	"slices"
	"strings"
)

// PortDoc is what a plan does to the clients of one port of a Service.
type PortDoc struct {
	Port     uint16 `json:"port"`
	Protocol string `json:"protocol"`
	Family   string `json:"family"` // IPv4 or IPv6
	// Effect is the gravest effect on clients that are served before and after the plan;
	// empty: there are none.
	Effect Effect `json:"effect,omitempty"`
	// Lost is the step after which these clients are not served, Restored the one after
	// which they are again; both are one step if it interrupts while it is performed. Empty
	// Restored with Lost: not within this plan.
	Lost     string `json:"lost,omitempty"`
	Restored string `json:"restored,omitempty"`
	Moves    bool   `json:"moves,omitempty"` // they must use another address afterwards
	// Ranges of clients: served only after the plan, only before it, and not after it although
	// the Service asks for it.
	Opens   []string `json:"opens,omitempty"`
	Closes  []string `json:"closes,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

// Effect is what a plan does to clients that are served before and after it.
type Effect string

// The effects.
const (
	Uninterrupted Effect = "uninterrupted"
	// Briefly means that a step may interrupt new connections for seconds.
	Briefly Effect = "brief"
	// Interrupted means that clients are not served between two steps, or while one is performed.
	Interrupted Effect = "interrupted"
)

// Text returns the effect in words, such as "uninterrupted; opens for 10.0.0.0/8".
func (p PortDoc) Text() string {
	var parts []string
	switch {
	case p.Effect == Uninterrupted:
		parts = append(parts, "uninterrupted")
	case p.Effect == Briefly:
		parts = append(parts, "interrupted for seconds by "+p.Lost)
	case p.Effect == Interrupted && p.Lost == p.Restored:
		parts = append(parts, "interrupted by "+p.Lost)
	case p.Effect == Interrupted && p.Restored == "":
		parts = append(parts, "interrupted by "+p.Lost+", and not restored by this plan")
	case p.Effect == Interrupted:
		parts = append(parts, "interrupted between "+p.Lost+" and "+p.Restored)
	}
	if p.Moves {
		parts = append(parts, "moves to another address")
	}
	for _, set := range []struct {
		verb   string
		ranges []string
	}{{"opens for", p.Opens}, {"closes for", p.Closes}, {"stays closed for", p.Missing}} {
		if len(set.ranges) > 0 {
			parts = append(parts, set.verb+" "+rangesText(set.ranges))
		}
	}
	return strings.Join(parts, "; ")
}

// shownRanges is how many ranges a text names; it counts the others.
const shownRanges = 4

func rangesText(ranges []string) string {
	text := strings.Join(ranges[:min(len(ranges), shownRanges)], ", ")
	if more := len(ranges) - shownRanges; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// showTraffic writes the ports of a plan.
func showTraffic(p *page, ports []PortDoc) {
	if len(ports) == 0 {
		return
	}
	p.blank()
	p.prose(2, 2, "Traffic:")
	wide := 0
	for _, port := range ports {
		wide = max(wide, textWidth(nameOf(port, ports)))
	}
	for _, port := range ports {
		color := normal
		switch port.Effect {
		case Interrupted:
			color = red
		case Briefly:
			color = yellow
		case Uninterrupted:
		}
		p.mark(4, padRight(nameOf(port, ports), wide), color, port.Text())
	}
}

// nameOf returns port and protocol, and the family where a port serves both.
func nameOf(of PortDoc, among []PortDoc) string {
	name := fmt.Sprintf("%d/%s", of.Port, of.Protocol)
	if slices.ContainsFunc(among, func(p PortDoc) bool { return p.Family != of.Family }) {
		name += " " + of.Family
	}
	return name
}
