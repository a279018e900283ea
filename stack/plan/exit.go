package plan

// Exit codes of a command that plans.
const (
	// ExitNothing means that the cloud is as the Services want it.
	ExitNothing = 0
	// ExitError means that a plan could not be made or is not whole.
	ExitError = 1
	// ExitChanges means that the cloud differs from what is wanted.
	ExitChanges = 2
	// ExitUnjudged means that nothing was found, and that not everything could be
	// judged: no script may take it for a clean cloud.
	ExitUnjudged = 3
)

// ExitCode is the exit code for a document and the error of making it. A
// problem of severity Error counts as an error. Held steps count as changes:
// a script that asks "does the cloud match?" must not hear yes.
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

// failed tells whether a problem stands in the way of the plan.
func (p Doc) failed() bool {
	for _, problem := range p.Problems {
		if problem.Severity == Error {
			return true
		}
	}
	return false
}
