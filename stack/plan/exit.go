package plan

// Exit codes of commands that plan.
const (
	// ExitNothing means that the cloud is as desired.
	ExitNothing = 0
	// ExitError means that there is no plan, or only a part of it.
	ExitError = 1
	// ExitChanges means that the cloud differs from the desired state.
	ExitChanges = 2
	// ExitUnjudged means that nothing was found, and that not everything could be
	// judged: it does not mean a clean cloud.
	ExitUnjudged = 3
)

// ExitCode returns the exit code for a document and the error of its computation. A
// problem of severity Error counts as an error. Blocked steps count as changes: the
// cloud does not match.
func ExitCode(doc Document, err error) int {
	if err != nil {
		return ExitError
	}
	code := ExitNothing
	for _, p := range doc.Plans {
		if p.failed() {
			return ExitError
		}
		if len(p.Steps) > 0 || len(p.Held) > 0 {
			code = ExitChanges
		}
	}
	return code
}

// failed reports whether a problem prevents the plan.
func (p Doc) failed() bool {
	for _, problem := range p.Problems {
		if problem.Severity == Error {
			return true
		}
	}
	return false
}
