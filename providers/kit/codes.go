package kit

import "github.com/berth-lb/berth/providers/fault"

// Codes is a cloud's table of refusals as data, for [Errors].
type Codes struct {
	// Meanings are by the cloud's own code.
	Meanings map[string]fault.Meaning
	// Statuses are by the status of HTTP, for refusals whose code has no meaning. They are
	// the statuses that mean something else on this cloud than on others.
	Statuses map[int]fault.Meaning
	// Causes are by the cloud's own code.
	Causes map[string]fault.Cause
}

// Meaning returns the meaning of a refusal; false: neither its code nor its status is in the
// table.
func (c Codes) Meaning(r Refusal) (fault.Meaning, bool) {
	if m, ok := c.Meanings[r.Code]; ok && r.Code != "" {
		return m, true
	}
	m, ok := c.Statuses[r.Status]
	return m, ok
}

// Cause returns what has to change before the call can succeed; Unspecified for a code that is
// not in the table.
func (c Codes) Cause(r Refusal) fault.Cause { return c.Causes[r.Code] }
