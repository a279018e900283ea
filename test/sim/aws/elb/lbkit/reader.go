package lbkit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Reader reads the parameters of one call. Faults of shape (a missing member, a
// number out of range, a word that is not in the enumeration) are collected and
// reported together by Err, because the real services do so.
type Reader struct {
	query.Params
	at    string
	state *readerState
}

type readerState struct {
	faults []string
	first  error
}

// Read starts reading a request.
func Read(p query.Params) *Reader { return &Reader{Params: p, state: &readerState{}} }

// Err gives the collected faults as one ValidationError, or nil.
func (r *Reader) Err() error {
	if n := len(r.state.faults); n > 0 {
		plural := "s"
		if n == 1 {
			plural = ""
		}
		return query.Errorf("ValidationError", "%d validation error%s detected: %s", n, plural, strings.Join(r.state.faults, "; "))
	}
	return r.state.first
}

// Path is how AWS writes the place of a member in messages: tags.1.member.key.
func (r *Reader) Path(name string) string {
	return r.at + strings.ToLower(name[:1]) + name[1:]
}

// Fault records that a member breaks a constraint; the text continues "Member must".
func (r *Reader) Fault(name, value, constraint string) {
	r.state.faults = append(r.state.faults, fmt.Sprintf("Value %s at '%s' failed to satisfy constraint: Member must %s", value, r.Path(name), constraint))
}

// Rule is one constraint of a text. It gives the words after "Member must", or "".
type Rule func(value string) string

// OneOf allows only the words of an enumeration.
func OneOf(words ...string) Rule {
	return func(v string) string {
		if slices.Contains(words, v) {
			return ""
		}
		return "satisfy enum value set: [" + strings.Join(words, ", ") + "]"
	}
}

// Length bounds the number of characters.
func Length(lo, hi int) Rule {
	return func(v string) string {
		n := utf8.RuneCountInString(v)
		switch {
		case n < lo:
			return "have length greater than or equal to " + strconv.Itoa(lo)
		case n > hi:
			return "have length less than or equal to " + strconv.Itoa(hi)
		}
		return ""
	}
}

// Matches demands that a text matches a regular expression as a whole.
func Matches(re *regexp.Regexp) Rule {
	return func(v string) string {
		if re.MatchString(v) {
			return ""
		}
		return "satisfy regular expression pattern: " + re.String()
	}
}

// Text reads an optional text; "" when it is absent.
func (r *Reader) Text(name string, rules ...Rule) string {
	if !r.Has(name) {
		return ""
	}
	v := r.Str(name)
	for _, rule := range rules {
		if c := rule(v); c != "" {
			r.Fault(name, "'"+v+"'", c)
		}
	}
	return v
}

// Need reads a text that must be there.
func (r *Reader) Need(name string, rules ...Rule) string {
	r.Required(name)
	return r.Text(name, rules...)
}

// Required records a fault when a member of any kind is absent.
func (r *Reader) Required(names ...string) {
	for _, name := range names {
		if !r.Has(name) {
			r.Fault(name, "null", "not be null")
		}
	}
}

// Number reads an optional whole number between lo and hi; nil when it is absent.
func (r *Reader) Number(name string, lo, hi int) *int {
	v, ok, err := r.Int(name)
	switch {
	case err != nil:
		r.keep(err)
		return nil
	case !ok:
		return nil
	case v < lo:
		r.Fault(name, "'"+strconv.Itoa(v)+"'", "have value greater than or equal to "+strconv.Itoa(lo))
	case v > hi:
		r.Fault(name, "'"+strconv.Itoa(v)+"'", "have value less than or equal to "+strconv.Itoa(hi))
	}
	return &v
}

// Flag reads an optional boolean; nil when it is absent.
func (r *Reader) Flag(name string) *bool {
	v, ok, err := r.Bool(name)
	if err != nil {
		r.keep(err)
		return nil
	}
	if !ok {
		return nil
	}
	return &v
}

func (r *Reader) keep(err error) {
	if r.state.first == nil {
		r.state.first = err
	}
}

// Each reads a list of structures, one after the other.
func (r *Reader) Each(name string, read func(e *Reader)) {
	for i, p := range r.List(name) {
		read(&Reader{Params: p, at: r.Path(name) + "." + strconv.Itoa(i+1) + ".member.", state: r.state})
	}
}

// EachText checks and reads a list of texts.
func (r *Reader) EachText(name string, rules ...Rule) []string {
	values := r.Strs(name)
	for i, v := range values {
		for _, rule := range rules {
			if c := rule(v); c != "" {
				r.state.faults = append(r.state.faults, fmt.Sprintf("Value '%s' at '%s.%d.member' failed to satisfy constraint: Member must %s", v, r.Path(name), i+1, c))
			}
		}
	}
	return values
}

// Within reads a nested structure; nil when it is absent.
func (r *Reader) Within(name string) *Reader {
	if !r.Has(name) {
		return nil
	}
	return &Reader{Params: r.Sub(name), at: r.Path(name) + ".", state: r.state}
}

// Paging reads Marker and PageSize. The size is 400 unless told otherwise.
func (r *Reader) Paging() (marker string, size int) {
	size = 400
	if n := r.Number("PageSize", 1, 400); n != nil {
		size = *n
	}
	return r.Text("Marker"), size
}

// Page cuts a page of a listing that is sorted by key.
func Page[T any](items []T, key func(T) string, marker string, size int) ([]T, string, error) {
	page, next, ok := query.Page(items, key, marker, size)
	if !ok {
		return nil, "", query.Errorf("ValidationError", "The marker '%s' is not valid", marker)
	}
	return page, next, nil
}
