package offline

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/service/policy"
	"github.com/berth-lb/berth/service/vap"
)

// errNoPolicy asks for something to render.
var errNoPolicy = errors.New("there is no policy: name a file with --policy-config, or namespaces with --allowed-namespaces")

// RenderPolicy returns the policy of a target as ValidatingAdmissionPolicies, YAML documents, and
// notes about what the API server does not enforce. It fails if there is no policy or its file is
// invalid.
func RenderPolicy(t Target) (text string, notes []string, err error) {
	p := &policy.Policy{}
	if t.Settings.PolicyConfig != "" {
		body, err := os.ReadFile(t.Settings.PolicyConfig)
		if err != nil {
			return "", nil, fmt.Errorf("policy: %w", err)
		}
		if p, err = policy.Parse(body, t.Cloud.Annotations, t.Cloud.Outputs.Annotations...); err != nil {
			return "", nil, err
		}
	} else if len(t.Settings.AllowedNamespaces) == 0 {
		return "", nil, errNoPolicy
	}
	classes := t.classes()
	rendered := vap.Render(p.Within(t.Settings.AllowedNamespaces), vap.CloudOf(t.Cloud), vap.Served{Default: classes.Default, Classes: classes.Names})
	for _, left := range rendered.Left {
		notes = append(notes, left+" is enforced by the controller alone")
	}
	if len(rendered.Policies) == 0 {
		notes = append(notes, "the API server can enforce no part of this policy")
	}
	var documents []string
	for i := range rendered.Policies {
		for _, object := range []any{rendered.Policies[i], rendered.Bindings[i]} {
			document, err := marshalObject(object)
			if err != nil {
				return "", nil, err
			}
			documents = append(documents, document)
		}
	}
	return strings.Join(documents, "---\n"), notes, nil
}

// marshalObject returns an object as a user would write it.
func marshalObject(object any) (string, error) {
	body, err := yaml.Marshal(object)
	if err != nil {
		return "", err
	}
	var tree map[string]any
	if err := yaml.Unmarshal(body, &tree); err != nil {
		return "", err
	}
	delete(tree, "status")
	if meta, ok := tree["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
	}
	body, err = yaml.Marshal(tree)
	return string(body), err
}
