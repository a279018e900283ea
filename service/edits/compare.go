package edits

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Impact is what a difference does to a live load balancer.
type Impact string

// The impacts, the gravest last.
const (
	None      Impact = "none"
	InPlace   Impact = "in place"
	Created   Impact = "created"
	Unknown   Impact = "unknown"
	Ignored   Impact = "ignored after creation"
	Brief     Impact = "brief interruption"
	Closes    Impact = "closes a port"
	Forbidden Impact = "refused"
	Replaced  Impact = "replaced"
	Deleted   Impact = "deleted"
	Invalid   Impact = "invalid"
)

// Impacts lists the impacts, the gravest last.
func Impacts() []Impact {
	return []Impact{None, InPlace, Created, Unknown, Ignored, Brief, Closes, Forbidden, Replaced, Deleted, Invalid}
}

// rank returns the gravity of an impact.
func (i Impact) rank() int { return slices.Index(Impacts(), i) }

// Side is a Service in one version of the manifests.
type Side struct {
	Owner   stack.Owner // without a UID: the same Service has none in a file
	Service *corev1.Service
	// Place is the file of the Service, relative to what is compared.
	Place string
	// Provider is the cloud that serves the Service; empty: it cannot be determined.
	Provider string
	Kind     string
	Internet bool   // clients outside of the network can connect
	Left     string // why the Service is left alone; empty: it is served
	Problems []Problem
	// Declared returns the declaration of an annotation key.
	Declared func(key string) (annotations.Row, bool)
	// At returns the position of a field or annotation as file:line:column.
	At func(where string) string
}

// NewSide returns a Service without problems and positions, which no cloud is known to serve.
func NewSide(svc *corev1.Service) Side {
	return Side{
		Owner: stack.Owner{Namespace: svc.Namespace, Name: svc.Name}, Service: svc,
		Declared: func(string) (annotations.Row, bool) { return annotations.Row{}, false },
		At:       func(string) string { return "" },
	}
}

// ServeBy sets the properties of a Service that follow from its cloud.
func (s *Side) ServeBy(provider, kind string, internet bool, declared *annotations.Set) {
	s.Provider, s.Kind, s.Internet, s.Declared = provider, kind, internet, declared.Row
}

// served reports whether a load balancer results from this version.
func (s *Side) served() bool { return s != nil && s.Left == "" }

// Problem is a problem of a Service, with its position.
type Problem struct {
	plan.Problem
	At string `json:"at,omitempty"`
}

// Document is the comparison of two versions.
type Document struct {
	FormatVersion string    `json:"formatVersion"`
	Base          string    `json:"base"`
	Services      []Service `json:"services"`             // the gravest impact first; never nil
	Same          int       `json:"same"`                 // Services without a difference that concerns a load balancer
	Unreadable    []Problem `json:"unreadable,omitempty"` // documents that cannot be read in one of the versions
}

// Service is a Service that differs.
type Service struct {
	Owner    stack.Owner `json:"owner"`
	Provider string      `json:"provider,omitempty"`
	Kind     string      `json:"kind,omitempty"`
	At       string      `json:"at,omitempty"`
	Impact   Impact      `json:"impact"`
	Exposure string      `json:"exposure,omitempty"` // what changes for clients in the internet
	Edits    []Edit      `json:"edits"`              // never nil
	Problems []Problem   `json:"problems,omitempty"` // that the base does not have
	Solved   []Problem   `json:"solved,omitempty"`   // that only the base has
}

// Edit is one difference.
type Edit struct {
	Where  string `json:"where"` // an annotation key or a field
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Impact Impact `json:"impact"`
	Text   string `json:"text,omitempty"`
	At     string `json:"at,omitempty"`

	exposes bool // it decides which clients can connect
}

// takesEffect reports whether a live load balancer follows.
func (e Edit) takesEffect() bool { return e.Impact != Ignored && e.Impact != Forbidden }

// Version is one version of the manifests.
type Version struct {
	Name     string
	Services []Side
	Faults   []Fault
}

// Fault is a document that cannot be read.
type Fault struct {
	Problem
	Place string // as that of a Side
}

// Compare compares the Services of a base with those of a newer version. A Service is found
// again by namespace and name; where one version has several of that name, also by file.
func Compare(base, head Version) Document {
	doc := Document{FormatVersion: plan.FormatVersion, Base: base.Name, Services: []Service{}}
	for _, p := range matchSides(base.Services, head.Services) {
		one := compareService(p.before, p.after)
		switch {
		case p.after == nil && head.cannotRead(p.before.Place), p.before == nil && base.cannotRead(p.after.Place):
			one.Impact, one.Exposure = Unknown, ""
			one.Edits = []Edit{{Where: "file", Impact: Unknown, At: one.At, Text: "a document of the file cannot be read in the other version"}}
		case len(one.Edits)+len(one.Problems)+len(one.Solved) == 0:
			doc.Same++
			continue
		}
		doc.Services = append(doc.Services, one)
	}
	slices.SortStableFunc(doc.Services, func(a, b Service) int {
		return cmp.Or(b.Impact.rank()-a.Impact.rank(), a.Owner.Compare(b.Owner), cmp.Compare(a.At, b.At))
	})
	doc.Unreadable = append(onlyIn(base, head), onlyIn(head, base)...)
	return doc
}

func (v Version) cannotRead(place string) bool {
	return slices.ContainsFunc(v.Faults, func(f Fault) bool { return f.Place == place })
}

// onlyIn returns the faults of a version that the other one does not have.
func onlyIn(one, other Version) []Problem {
	var out []Problem
	for _, f := range one.Faults {
		if !slices.ContainsFunc(other.Faults, func(o Fault) bool { return o.Place == f.Place && o.Text == f.Text }) {
			out = append(out, f.Problem)
		}
	}
	return out
}

// ExitCode is plan.ExitNothing, plan.ExitChanges or plan.ExitError.
func (d Document) ExitCode() int {
	bad := func(s Service) bool { return s.Impact == Invalid }
	switch {
	case len(d.Unreadable) > 0 || slices.ContainsFunc(d.Services, bad):
		return plan.ExitError
	case len(d.Services) > 0:
		return plan.ExitChanges
	}
	return plan.ExitNothing
}

// pair is a Service in both versions; nil: the version does not have it.
type pair struct{ before, after *Side }

// matchSides finds each Service of one version in the other.
func matchSides(before, after []Side) []pair {
	var out []pair
	taken := map[*Side]bool{}
	find := func(one *Side, fits func(a, b *Side) bool) *Side {
		for i := range before {
			if old := &before[i]; !taken[old] && old.Owner == one.Owner && fits(old, one) {
				taken[old] = true
				return old
			}
		}
		return nil
	}
	found := make([]*Side, len(after))
	for i := range after {
		found[i] = find(&after[i], func(a, b *Side) bool { return a.Place == b.Place })
	}
	for i := range after {
		if found[i] == nil {
			found[i] = find(&after[i], func(*Side, *Side) bool { return true })
		}
		out = append(out, pair{found[i], &after[i]})
	}
	for i := range before {
		if !taken[&before[i]] {
			out = append(out, pair{&before[i], nil})
		}
	}
	return out
}

// compareService compares one Service.
func compareService(before, after *Side) Service {
	named := after
	if named == nil {
		named = before
	}
	out := Service{Owner: named.Owner, Provider: named.Provider, Kind: named.Kind, At: named.At(""), Edits: []Edit{}, Impact: None}
	switch {
	case before.served() && after.served():
		out.Edits = append(out.Edits, compareKinds(before, after)...)
		out.Edits = append(out.Edits, compareFields(before, after)...)
		out.Edits = append(out.Edits, compareKeys(before, after)...)
		if !slices.ContainsFunc(out.Edits, func(e Edit) bool { return e.exposes && !e.takesEffect() }) {
			out.Exposure = describeExposure(before.Internet, after.Internet)
		}
	case after.served():
		out.Edits = append(out.Edits, describeNew(before, after))
		out.Exposure = describeExposure(false, after.Internet)
	case before.served():
		out.Edits = append(out.Edits, describeRemoved(before, after))
	}
	out.Problems, out.Solved = newProblems(before, after), newProblems(after, before)
	for _, e := range out.Edits {
		out.Impact = graverImpact(out.Impact, e.Impact)
	}
	for _, p := range out.Problems {
		if p.Severity == plan.Error {
			out.Impact = Invalid
		}
	}
	return out
}

func graverImpact(a, b Impact) Impact {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// describeExposure describes a change of the clients that can connect.
func describeExposure(before, after bool) string {
	switch {
	case after && !before:
		return "becomes reachable from the internet"
	case before && !after:
		return "is no longer reachable from the internet"
	}
	return ""
}

// describeNew describes a Service that the base does not have, or leaves alone.
func describeNew(before, after *Side) Edit {
	e := Edit{Where: "metadata.name", After: after.Service.Name, Impact: Created, Text: "the Service is new", At: after.At("metadata.name")}
	if before != nil {
		e.Where, e.Before, e.After, e.At = "spec.type", string(before.Service.Spec.Type), string(after.Service.Spec.Type), after.At("spec.type")
		e.Text = "the Service was left alone: " + before.Left
	}
	return e
}

// describeRemoved describes a Service that the newer version does not have, or leaves alone.
func describeRemoved(before, after *Side) Edit {
	e := Edit{Where: "metadata.name", Before: before.Service.Name, Impact: Deleted, Text: "the Service is removed", At: before.At("metadata.name")}
	if after != nil {
		e.Where, e.Before, e.After, e.At = "spec.type", string(before.Service.Spec.Type), string(after.Service.Spec.Type), after.At("spec.type")
		e.Text = "the Service is left alone: " + after.Left
	}
	return e
}

// compareKinds describes another cloud or kind of load balancer.
func compareKinds(before, after *Side) []Edit {
	if before.Provider != after.Provider {
		return []Edit{{Where: "cloud", Before: before.Provider, After: after.Provider, Impact: Replaced, Text: "another cloud serves the Service", At: after.At("")}}
	}
	if before.Kind != after.Kind {
		return []Edit{{Where: "kind", Before: before.Kind, After: after.Kind, Impact: Replaced, Text: "the kind of load balancer changes", At: after.At("")}}
	}
	return nil
}

// newProblems returns the problems that only the second version has.
func newProblems(before, after *Side) []Problem {
	if after == nil {
		return nil
	}
	var out []Problem
	for _, p := range after.Problems {
		known := before != nil && slices.ContainsFunc(before.Problems, func(old Problem) bool { return old.Code == p.Code && old.Where == p.Where && old.Text == p.Text })
		if !known {
			out = append(out, p)
		}
	}
	return out
}
