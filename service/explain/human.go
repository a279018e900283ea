package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack/plan"
)

// Human shows an explanation to people. Of one resource it shows each field, with the inputs on
// which it depends and the values without them; of several only the inputs of each. An
// explanation of a single field also describes the inputs.
func Human(e Explanation) string {
	var b strings.Builder
	common := e.common()
	for _, c := range common {
		fmt.Fprintf(&b, "everything follows from %s\n\n", describeOrigin(c.Origin, c.Hints))
	}
	for i, r := range e.Resources {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintln(&b, r.Key)
		for _, c := range r.Causes {
			if !slices.Contains(common, c) {
				fmt.Fprintf(&b, "  exists because of %s\n", describeOrigin(c.Origin, c.Hints))
			}
		}
		for _, c := range r.Named {
			fmt.Fprintf(&b, "  its name follows from %s\n", describeOrigin(c.Origin, c.Hints))
		}
		if len(e.Resources) == 1 {
			showDetails(&b, r)
		} else {
			showOrigins(&b, r)
		}
	}
	for _, r := range e.Required {
		fmt.Fprintf(&b, "\nrequired: %s\n  without it: %s\n", describeOrigin(r.Origin, r.Hints), r.Text)
	}
	return b.String()
}

// common returns the causes of all resources, if there are several.
func (e Explanation) common() []Cause {
	if len(e.Resources) < 2 {
		return nil
	}
	out := slices.Clone(e.Resources[0].Causes)
	for _, r := range e.Resources[1:] {
		out = slices.DeleteFunc(out, func(c Cause) bool { return !slices.Contains(r.Causes, c) })
	}
	return out
}

// showOrigins writes the fields on which inputs have an effect, with the inputs.
func showOrigins(b *strings.Builder, r Resource) {
	rest := 0
	for _, f := range r.Fields {
		if len(f.Causes) == 0 {
			if !isUnset(f.Value) {
				rest++
			}
			continue
		}
		var from []string
		for _, c := range f.Causes {
			from = append(from, describeOrigin(c.Origin, c.Hints))
		}
		fmt.Fprintf(b, "  %s: %s\n", f.Name, strings.Join(from, "; "))
	}
	if rest > 0 {
		fmt.Fprintf(b, "  others: %d, defaults or found in the cloud\n", rest)
	}
}

// showDetails writes the fields of a resource with their values; without a selection the empty
// ones that no input sets are left out.
func showDetails(b *strings.Builder, r Resource) {
	single := len(r.Fields) == 1
	for _, f := range r.Fields {
		if !single && len(f.Causes) == 0 && isUnset(f.Value) {
			continue
		}
		fmt.Fprintf(b, "  %s = %s\n", f.Name, plan.ValueText(f.Value))
		if len(f.Causes) == 0 {
			b.WriteString("      default, or found in the cloud\n")
		}
		for _, c := range f.Causes {
			fmt.Fprintf(b, "      %s\n", describeCause(c))
			if !single {
				continue
			}
			for _, line := range [][2]string{{"legal", c.Legal}, {"a change", string(c.Change)}} {
				if line[1] != "" {
					fmt.Fprintf(b, "        %s: %s\n", line[0], line[1])
				}
			}
		}
	}
}

func isUnset(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func describeCause(c Cause) string {
	text := describeOrigin(c.Origin, c.Hints)
	if c.Compared {
		text += ", without it: " + plan.ValueText(c.Without)
	}
	return text
}

// describeOrigin names an input as users know it.
func describeOrigin(o annotations.Origin, h Hints) string {
	text := o.String()
	switch o.Source {
	case annotations.FromField, FromMetadata:
		text = o.Key + " " + o.Raw
	case annotations.FromConfig:
		text = "cloud configuration: " + o.Key
	case FromCloud:
		text = o.Key
	case FromNodes:
		text = "the nodes of the cluster"
	case FromPods:
		text = "the pods of the Service"
	case FromSeveral:
		text = "several annotations or fields that request the same"
	default: // its name says all
	}
	text = strings.TrimSpace(text)
	if h.At != "" {
		text += " (" + h.At + ")"
	}
	return text
}
