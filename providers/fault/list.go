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

// InOneLine is the text of several errors, one after the other: users read it in
// conditions and events, which have no line breaks.
func InOneLine(errs []error) string {
	out := make([]string, 0, len(errs))
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return strings.Join(out, "; ")
}
