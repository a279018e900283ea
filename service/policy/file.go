package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-multierror"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// File is the policy file of --policy-config. Patterns are names in which * stands
// for any text; nothing else in them is special.
type File struct {
	// AllowedNamespaces are patterns of the namespaces whose Services are served;
	// without it all are.
	AllowedNamespaces []string `json:"allowedNamespaces,omitempty"`
	// Rules apply together: every rule whose namespaces match must be kept, so their
	// order does not matter and another rule only ever forbids more.
	Rules []Rule `json:"rules,omitempty"`
}

// Rule is what Services of some namespaces may ask for. A list that is left out
// limits nothing; one that is empty allows nothing.
type Rule struct {
	// Name is reported to the user whose Service is refused.
	Name string `json:"name"`
	// Namespaces are patterns of the namespaces that the rule is for.
	Namespaces []string `json:"namespaces"`
	// ExceptNamespaces are patterns of those among them that it is not for.
	ExceptNamespaces []string `json:"exceptNamespaces,omitempty"`
	// ForbidAnnotations are patterns of annotations and labels that Services must not
	// have. Other spellings of the same key, such as deprecated names, are meant too.
	ForbidAnnotations []string `json:"forbidAnnotations,omitempty"`
	// ForbidInternet refuses load balancers that clients outside of the network
	// could reach.
	ForbidInternet bool `json:"forbidInternet,omitempty"`
	// ForbidOpenNodes refuses Services that name a security group which the nodes then let
	// in on all ports.
	ForbidOpenNodes bool `json:"forbidOpenNodes,omitempty"`
	// Classes are the values of spec.loadBalancerClass that may be used, as patterns;
	// "" is a Service without one.
	Classes []string `json:"classes,omitempty"`
	// Kinds are the kinds of load balancers that may be asked for, as patterns.
	Kinds []string `json:"kinds,omitempty"`
	// MaxPorts, MaxSourceRanges and MaxRules bound what one Service may ask for, as
	// providers.Size counts it; nil: as much as the kind can have.
	MaxPorts        *int `json:"maxPorts,omitempty"`
	MaxSourceRanges *int `json:"maxSourceRanges,omitempty"`
	MaxRules        *int `json:"maxRules,omitempty"`
	// MaxLoadBalancers is how many Services of type LoadBalancer of each namespace are
	// served, the older ones first; nil: all.
	MaxLoadBalancers *int `json:"maxLoadBalancers,omitempty"`
	// Names says, per thing, the patterns of what may be named. The key * is for
	// all things that have no key of their own.
	Names map[string][]string `json:"names,omitempty"`
}

// everyThing is the key of Rule.Names for all other things.
const everyThing = "*"

// errEmptyFile is a policy that could not refuse anything: more likely a mistake,
// such as a wrong file, than a wish.
var errEmptyFile = errors.New("it neither names namespaces nor has rules")

// Parse reads a policy file for a cloud with the annotations. Outputs are the
// annotations that the program writes itself, which are never refused. The error lists every
// mistake in the file. Unknown content is an error and never ignored, because
// ignoring it would allow what the operator meant to forbid.
func Parse(body []byte, keys *annotations.Set, outputs ...string) (*Policy, error) {
	var file File
	if err := yaml.UnmarshalStrict(body, &file); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	var tree any
	if err := yaml.Unmarshal(body, &tree); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	faults := &multierror.Error{ErrorFormat: inOneLine}
	for _, at := range findValueless("", tree) {
		faults = multierror.Append(faults, fmt.Errorf("%s has no value; [] allows nothing, and leaving it out limits nothing", at))
	}
	if len(file.AllowedNamespaces) == 0 && len(file.Rules) == 0 {
		faults = multierror.Append(faults, errEmptyFile)
	}
	seen := map[string]bool{}
	for i, r := range file.Rules {
		if seen[r.Name] {
			faults = multierror.Append(faults, fmt.Errorf("rules[%d]: the name %q is taken", i, r.Name))
		}
		seen[r.Name] = true
		for _, fault := range r.faults(keys) {
			faults = multierror.Append(faults, fmt.Errorf("rules[%d]: %s", i, fault))
		}
	}
	if err := faults.ErrorOrNil(); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return &Policy{file: file, keys: keys, outputs: outputs}, nil
}

// faults are what is wrong with a rule besides its form.
func (r Rule) faults(keys *annotations.Set) []string {
	var out []string
	if r.Name == "" {
		out = append(out, "name is missing")
	}
	if len(r.Namespaces) == 0 {
		out = append(out, `namespaces is missing; "*" means all`)
	}
	for _, l := range r.limits() {
		if l.most != nil && *l.most < 0 {
			out = append(out, fmt.Sprintf("%s: %d is less than 0", l.key, *l.most))
		}
	}
	if !r.forbids() {
		out = append(out, "it forbids nothing")
	}
	for _, pattern := range r.ForbidAnnotations {
		if !slices.ContainsFunc(keys.AllSpellings(), func(key string) bool { return matchPattern(pattern, key) || keys.Knows(pattern) }) {
			out = append(out, fmt.Sprintf("forbidAnnotations: %q is no annotation of %s", pattern, keys.Provider()))
		}
	}
	for _, thing := range sortedKeys(r.Names) {
		if thing != everyThing && !slices.Contains(annotations.Things(), providers.Thing(thing)) {
			out = append(out, fmt.Sprintf("names: %q is not known; legal: %s", thing, strings.Join(thingWords(), ", ")))
		}
	}
	return out
}

// forbids reports whether the rule forbids anything.
func (r Rule) forbids() bool {
	limited := false
	for _, l := range r.limits() {
		limited = limited || l.most != nil
	}
	return limited || len(r.ForbidAnnotations) > 0 || r.ForbidInternet || r.ForbidOpenNodes || r.Classes != nil || r.Kinds != nil || r.Names != nil
}

func thingWords() []string {
	out := []string{everyThing}
	for _, t := range annotations.Things() {
		out = append(out, string(t))
	}
	return out
}

// findValueless finds keys without a value. They decode like missing keys,
// which for a list of what is allowed is the opposite of what they look like.
func findValueless(at string, tree any) []string {
	var out []string
	switch v := tree.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if v[key] == nil {
				out = append(out, strings.TrimPrefix(at+"."+key, "."))
			}
			out = append(out, findValueless(at+"."+key, v[key])...)
		}
	case []any:
		for i, item := range v {
			out = append(out, findValueless(fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	}
	return out
}

func sortedKeys[T any](m map[string]T) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func inOneLine(errs []error) string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return strings.Join(out, "; ")
}
