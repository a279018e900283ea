package wire

import "strings"

// SelfBase is what selfLinks begin with, whatever host was asked.
const SelfBase = "https://www.googleapis.com/compute/v1/"

// Ref is a reference to a resource inside a scope of a project.
type Ref struct {
	Project string
	// Scope is "global", "regions/NAME" or "zones/NAME".
	Scope string
	// Collection is a word such as "forwardingRules"; it is empty in references
	// to a zone or region itself.
	Collection string
	Name       string
}

// Path is the reference from "projects/" on.
func (r Ref) Path() string {
	if r.Collection == "" {
		return "projects/" + r.Project + "/" + r.Scope
	}
	return "projects/" + r.Project + "/" + r.Scope + "/" + r.Collection + "/" + r.Name
}

// Parent is the path of the collection.
func (r Ref) Parent() string { return "projects/" + r.Project + "/" + r.Scope + "/" + r.Collection }

// URL is the whole reference as answers give it.
func (r Ref) URL() string { return SelfBase + r.Path() }

// Place is the name of the region or zone of the scope, empty for global.
func (r Ref) Place() string {
	_, name, _ := strings.Cut(r.Scope, "/")
	return name
}

// ZoneOf reports whether the scope is a zone, and of which region.
func (r Ref) ZoneOf() (region string, ok bool) {
	if !strings.HasPrefix(r.Scope, "zones/") {
		return "", false
	}
	zone := r.Place()
	at := strings.LastIndex(zone, "-")
	return zone[:max(at, 0)], true
}

// ParseRef reads a reference to a resource of a collection. Whole URLs of any
// host and version are taken, and partial ones from "projects/", "regions/",
// "zones/" or "global/" on, also behind a slash. Field names the place for the refusal.
func ParseRef(text, project, collection, field string) (Ref, error) {
	ref, ok := parsePath(text, project)
	if !ok {
		return Ref{}, Invalid(field, text, "The URL is malformed.")
	}
	if ref.Collection != collection {
		return Ref{}, Invalid(field, text, "Unexpected resource collection '%s', want '%s'.", ref.Collection, collection)
	}
	return ref, nil
}

// ParseAny reads a reference to a resource of any collection.
func ParseAny(text, project, field string) (Ref, error) {
	ref, ok := parsePath(text, project)
	if !ok {
		return Ref{}, Invalid(field, text, "The URL is malformed.")
	}
	return ref, nil
}

func parsePath(text, project string) (Ref, bool) {
	rest := text
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		_, after, ok := strings.Cut(text, "/projects/")
		if !ok {
			return Ref{}, false
		}
		rest = "projects/" + after
	}
	parts := strings.Split(strings.TrimPrefix(rest, "/"), "/")
	if parts[0] == "projects" && len(parts) > 2 {
		project, parts = parts[1], parts[2:]
	}
	if parts[0] == "regions" || parts[0] == "zones" {
		if len(parts) != 4 || parts[1] == "" {
			return Ref{}, false
		}
		parts = append([]string{parts[0] + "/" + parts[1]}, parts[2:]...)
	}
	if len(parts) != 3 || (parts[0] != "global" && !strings.Contains(parts[0], "/")) {
		return Ref{}, false
	}
	for _, p := range append(parts[1:], project) {
		if p == "" {
			return Ref{}, false
		}
	}
	return Ref{Project: project, Scope: parts[0], Collection: parts[1], Name: parts[2]}, true
}

// CheckName checks a resource name. Source: field "name" of every resource in
// the Compute Engine API reference.
func CheckName(field, name string) error {
	if !IsName(name) {
		return Invalid(field, name, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'")
	}
	return nil
}

// IsName reports whether a text is valid as a resource name or a network tag.
func IsName(s string) bool {
	if s == "" || len(s) > 63 || s[0] < 'a' || s[0] > 'z' || s[len(s)-1] == '-' {
		return false
	}
	for _, c := range []byte(s) {
		if c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
