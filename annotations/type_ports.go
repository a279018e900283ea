package annotations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Ports says for which Service ports something holds. The zero value holds for
// none.
type Ports struct {
	All     bool
	Numbers []int32  // sorted
	Names   []string // sorted
}

// AllPorts holds for every port.
func AllPorts() Ports { return Ports{All: true} }

// Has reports whether the set holds for a Service port.
func (p Ports) Has(port corev1.ServicePort) bool {
	return p.All || slices.Contains(p.Numbers, port.Port) || port.Name != "" && slices.Contains(p.Names, port.Name)
}

// PortOptions change how a port list is read.
type PortOptions struct {
	// Names allows Service port names besides numbers.
	Names bool
	// Star allows "*" for all ports.
	Star bool
	// EmptyIsAll makes a list without entries mean all ports, else none.
	EmptyIsAll bool
	// MustMatch makes an entry that fits no Service port bad; else it is noted
	// with a warning and has no effect.
	MustMatch bool
}

// PortList is a comma separated list of Service ports; items are trimmed and
// empty ones dropped.
func PortList(o PortOptions) Type[Ports] {
	legal := "a comma separated list of port numbers of the Service"
	if o.Names {
		legal = "a comma separated list of port numbers or names of the Service"
	}
	if o.Star {
		legal += `, or "*" for all`
	}
	return Type[Ports]{
		facts: facts{name: "port list", head: legal},
		parse: func(raw string, sc scope) (Ports, []string, error) { return parsePorts(o, raw, sc) },
	}
}

func parsePorts(o PortOptions, raw string, sc scope) (Ports, []string, error) {
	items := splitList(ListOptions{Separator: ","}, raw)
	if len(items) == 0 && o.EmptyIsAll || o.Star && slices.Contains(items, "*") {
		return AllPorts(), nil, nil
	}
	var out Ports
	var notes []string
	for _, item := range items {
		number, err := strconv.ParseInt(item, 10, 32)
		isName := err != nil
		if isName && !o.Names {
			return Ports{}, nil, fmt.Errorf("has item %s, which is not a port number", quoteValue(item))
		}
		one := Ports{Names: []string{item}}
		if !isName {
			one = Ports{Numbers: []int32{int32(number)}}
		}
		if !slices.ContainsFunc(sc.ports, one.Has) {
			if o.MustMatch {
				return Ports{}, nil, fmt.Errorf("has item %s, which is no port of the Service (%s)", quoteValue(item), servicePorts(sc.ports))
			}
			notes = append(notes, fmt.Sprintf("has item %s, which is no port of the Service (%s), so it has no effect", quoteValue(item), servicePorts(sc.ports)))
			continue
		}
		out.Numbers = append(out.Numbers, one.Numbers...)
		out.Names = append(out.Names, one.Names...)
	}
	slices.Sort(out.Numbers)
	slices.Sort(out.Names)
	out.Numbers, out.Names = slices.Compact(out.Numbers), slices.Compact(out.Names)
	return out, notes, nil
}

// servicePorts lists the ports of a Service for a message: "http 80, https 443".
func servicePorts(ports []corev1.ServicePort) string {
	texts := make([]string, 0, len(ports))
	for _, port := range ports {
		texts = append(texts, strings.TrimSpace(port.Name+" "+strconv.Itoa(int(port.Port))))
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
