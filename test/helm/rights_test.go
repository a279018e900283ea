package helm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// role is a Role or ClusterRole with the comments of its rules.
type role struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Rules    []rule
}

type rule struct {
	APIGroups     []string `yaml:"apiGroups"`
	Resources     []string
	ResourceNames []string `yaml:"resourceNames"`
	URLs          []string `yaml:"nonResourceURLs"`
	Verbs         []string
	Why           string `yaml:"-"`
}

// UnmarshalYAML reads the rule and the comment above it.
func (r *rule) UnmarshalYAML(node *yaml.Node) error {
	type plain rule
	if err := node.Decode((*plain)(r)); err != nil {
		return err
	}
	comment := node.HeadComment
	if comment == "" && len(node.Content) > 0 {
		comment = node.Content[0].HeadComment
	}
	r.Why = strings.Join(strings.Fields(strings.ReplaceAll(comment, "#", " ")), " ")
	return nil
}

// parseRoles returns the roles in rendered manifests.
func parseRoles(manifests []byte) ([]role, error) {
	var out []role
	docs := yaml.NewDecoder(bytes.NewReader(manifests))
	for {
		var r role
		err := docs.Decode(&r)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(r.Kind, "Role") {
			out = append(out, r)
		}
	}
}

// row is one line of the table of rights.
func (r rule) row(where, only string) string {
	var what []string
	for _, resource := range r.Resources {
		if group := r.APIGroups[0]; group != "" {
			resource += "." + group
		}
		what = append(what, "`"+resource+"`")
	}
	for _, url := range r.URLs {
		what = append(what, "`"+url+"`")
	}
	text := strings.Join(what, ", ")
	if len(r.ResourceNames) > 0 {
		text += " named `" + strings.Join(r.ResourceNames, "`, `") + "`"
	}
	why := strings.TrimSuffix(r.Why, ".")
	if only != "" {
		why = only + ": " + why
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", text, where, strings.Join(r.Verbs, ", "), why)
}

// rightsTable lists the rules of every cloud; a rule that not every cloud has names its
// clouds. A rule without a comment has the comment of the one above.
func rightsTable(clouds []string, manifests map[string][]byte) (string, error) {
	var order []string
	found := map[string][]string{}
	rows := map[string]func(only string) string{}
	for _, cloud := range clouds {
		all, err := parseRoles(manifests[cloud])
		if err != nil {
			return "", fmt.Errorf("%s: %w", cloud, err)
		}
		for _, ro := range all {
			why := ""
			for _, ru := range ro.Rules {
				if ru.Why != "" {
					why = ru.Why
				}
				ru.Why = why
				where := "everywhere"
				if ro.Kind == "Role" {
					where = "`" + ro.Metadata.Namespace + "`"
				}
				if strings.HasSuffix(ro.Metadata.Name, ":metrics-reader") {
					continue // the right of others, not Berth's
				}
				key := ru.row(where, "")
				if _, ok := rows[key]; !ok {
					order = append(order, key)
					rows[key] = func(only string) string { return ru.row(where, only) }
				}
				found[key] = append(found[key], cloud)
			}
		}
	}
	return printRows(order, rows, func(key string) string {
		if len(found[key]) == len(clouds) {
			return ""
		}
		return strings.Join(slices.Compact(found[key]), ", ")
	}), nil
}

func printRows(order []string, rows map[string]func(string) string, only func(string) string) string {
	var out strings.Builder
	out.WriteString("| What | Where | Verbs | Why |\n|---|---|---|---|\n")
	for _, key := range order {
		out.WriteString(rows[key](only(key)))
	}
	return out.String()
}
