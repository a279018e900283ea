package status

import (
	"fmt"
	"strings"
)

// Reference is the page of the documentation that lists the conditions and the
// reasons of conditions and events, in Markdown.
func Reference() string {
	var b strings.Builder
	b.WriteString("# Conditions and events\n\n")
	b.WriteString("Berth writes these conditions to `status.conditions` of a Service. It never touches any other.\n\n")
	b.WriteString("| Condition | True means |\n|---|---|\n")
	for _, t := range [][2]string{
		{TypeAccepted, "The Service asks for something that can be built."},
		{TypeProgrammed, "The cloud has what the Service asks for."},
		{TypeReplacing, "A new load balancer replaces another, and both exist. Absent otherwise."},
		{TypePortsError, "The cloud can not serve the ports as they are put together. Defined by Kubernetes. Absent otherwise."},
	} {
		fmt.Fprintf(&b, "| `%s` | %s |\n", t[0], t[1])
	}
	for _, t := range Types() {
		fmt.Fprintf(&b, "\n## Reasons of `%s`\n\n| Reason | Status | Meaning |\n|---|---|---|\n", t)
		for _, r := range Reasons() {
			if r.Type != t {
				continue
			}
			status := "False"
			if r.True {
				status = "True"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Reason, status, r.Doc)
		}
	}
	b.WriteString("\n## Events\n\n| Reason | Type | Meaning |\n|---|---|---|\n")
	for _, e := range EventReasons() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Reason, e.Type, e.Doc)
	}
	return b.String()
}
