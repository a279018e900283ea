package annotations

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-multierror"
)

// Severity reports whether a problem stops the Service or is only a warning.
type Severity int

// Error keeps the last valid load balancer and refuses the change; Warning is
// reported to the user, and the Service is served.
const (
	Error Severity = iota
	Warning
)

// String is "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// shownRunes bounds a quoted value: an Event message holds 1024 bytes, and the
// end of the sentence, which says what is legal, must survive.
const shownRunes = 100

// A Problem is one thing that is wrong with one key.
type Problem struct {
	Key      string   // the key as the user wrote it
	Value    string   // the value as the user wrote it; empty if it does not matter or is secret
	Legal    string   // what would be legal, as a noun phrase; may be empty
	Message  string   // what is wrong, read after the value or the key
	Severity Severity // Error unless said otherwise
	Code     Code     // empty: follows from key and severity, see CodeOf
	// Taken means that the requested resource is used by another Service or controller, or
	// does not exist yet: the request is repeated every few minutes.
	Taken bool
	// Unapplied marks a warning about a legal value that the live load balancer does not
	// have and does not get. The Service is not reported as programmed.
	Unapplied bool
}

// NotApplied returns the problems as warnings about values that the live load balancer
// does not have and does not get.
func NotApplied(problems ...Problem) Problems {
	out := slices.Clone(problems)
	for i := range out {
		out[i].Severity, out[i].Unapplied = Warning, true
	}
	return out
}

// Unapplied returns the problems with values that the live load balancer does not get.
func (ps Problems) Unapplied() Problems {
	var out Problems
	for _, p := range ps {
		if p.Unapplied {
			out = append(out, p)
		}
	}
	return out
}

// ProblemOf returns a problem with something that may not be an annotation, such as a
// field of the Service or a key of the configuration.
func ProblemOf(key, value, message, legal string, severity Severity) Problem {
	return Problem{Key: key, Value: value, Message: message, Legal: legal, Severity: severity}
}

// String is one sentence that names the key, the value and what is legal.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Key)
	b.WriteString(": ")
	if p.Value != "" {
		b.WriteString(quoteValue(p.Value))
		b.WriteString(" ")
	}
	b.WriteString(p.Message)
	// A message such as `is not an IPv4 address` has said it already.
	if p.Legal != "" && !strings.Contains(p.Message, p.Legal) {
		b.WriteString("; legal is ")
		b.WriteString(p.Legal)
	}
	return b.String()
}

// Error makes a problem usable as an error, so that errors.As finds it inside
// what Problems.Err returned.
func (p Problem) Error() string { return p.String() }

// Problems are all problems of one Service.
type Problems []Problem

// Refuse adds a problem of severity Error.
func (ps *Problems) Refuse(key, value, message, legal string) {
	*ps = append(*ps, Problem{Key: key, Value: value, Message: message, Legal: legal})
}

// Warn adds a problem of severity Warning.
func (ps *Problems) Warn(key, value, message, legal string) {
	*ps = append(*ps, Problem{Severity: Warning, Key: key, Value: value, Message: message, Legal: legal})
}

// Errors reports whether at least one problem has severity Error.
func (ps Problems) Errors() bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == Error })
}

// Err returns the problems of severity Error as one error with a one-line text,
// or nil if there are none. errors.As finds each Problem in it.
func (ps Problems) Err() error {
	all := &multierror.Error{ErrorFormat: oneLine}
	for _, p := range ps.Sorted() {
		if p.Severity == Error {
			all = multierror.Append(all, p)
		}
	}
	return all.ErrorOrNil()
}

// Warnings returns the problems of severity Warning.
func (ps Problems) Warnings() Problems {
	var out Problems
	for _, p := range ps {
		if p.Severity == Warning {
			out = append(out, p)
		}
	}
	return out
}

// Strings renders each problem as its sentence.
func (ps Problems) Strings() []string {
	out := make([]string, 0, len(ps))
	for _, p := range ps {
		out = append(out, p.String())
	}
	return out
}

// Sorted returns a copy, errors first, then by key, without duplicates.
func (ps Problems) Sorted() Problems {
	out := slices.Clone(ps)
	slices.SortFunc(out, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Value, b.Value),
			cmp.Compare(a.Message, b.Message),
			cmp.Compare(a.Legal, b.Legal),
			cmp.Compare(a.Code, b.Code),
		)
	})
	return slices.Compact(out)
}

// Distinct returns the problems in their order, each once, although several phases may
// have reported one.
func (ps Problems) Distinct() Problems {
	var out Problems
	seen := make(map[Problem]bool, len(ps))
	for _, p := range ps {
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// Outweigh returns the problems with the more serious ones added. A warning about one of
// their keys is dropped, since the serious one is more precise.
func (ps Problems) Outweigh(more Problems) Problems {
	out := slices.DeleteFunc(slices.Clone(ps), func(p Problem) bool {
		return p.Severity == Warning && slices.ContainsFunc(more, func(q Problem) bool { return q.Key == p.Key })
	})
	return append(out, more...).Sorted()
}

// oneLine joins errors for an Event or a condition, where line breaks are lost.
func oneLine(errs []error) string {
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, " | ")
}

// quoteValue quotes a value on one line and cuts long ones.
func quoteValue(value string) string {
	if runes := []rune(value); len(runes) > shownRunes {
		value = string(runes[:shownRunes]) + "..."
	}
	return strconv.Quote(value)
}
