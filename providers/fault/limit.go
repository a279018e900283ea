package fault

import (
	"errors"
	"strings"
)

// Limit is the quota that a refusal is about. Its fields are as the cloud reports them; empty
// ones are unknown.
type Limit struct {
	Name string // the cloud's name of the quota
	Most string // its highest value
	Used string // its current use
}

// String returns the name and the figures, as in "the quota target-groups (limit 3000)". A
// quota without a name is called "this quota"; without any field the text is empty.
func (l Limit) String() string {
	if l == (Limit{}) {
		return ""
	}
	text := "the quota " + l.Name
	if l.Name == "" {
		text = "this quota"
	}
	var figures []string
	if l.Most != "" {
		figures = append(figures, "limit "+l.Most)
	}
	if l.Used != "" {
		figures = append(figures, "in use "+l.Used)
	}
	if len(figures) == 0 {
		return text
	}
	return text + " (" + strings.Join(figures, ", ") + ")"
}

// LimitOf returns the quota of the first fault in the chain of an error.
func LimitOf(err error) Limit {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Limit
	}
	return Limit{}
}
