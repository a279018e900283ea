package fault

import (
	"strings"

	"github.com/hashicorp/go-multierror"
)

// Listed returns errors that belong together as one, nil if there are none; its text is
// one line, and each of them can be asked for with errors.Is and errors.As.
func Listed(errs ...error) error {
	all := multierror.Append(&multierror.Error{ErrorFormat: InOneLine}, errs...)
	return all.ErrorOrNil()
}

// InOneLine returns the texts of several errors joined by semicolons, for conditions and
// events, which have no line breaks. Clouds end sentences with a full stop.
func InOneLine(errs []error) string {
	out := make([]string, 0, len(errs))
	for i, err := range errs {
		text := err.Error()
		if i < len(errs)-1 {
			text = strings.TrimRight(text, ".")
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}
