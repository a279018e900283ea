package sim

import (
	"context"
	"iter"
	"net/http"
	"slices"
	"strings"
)

// Visit is a call on its way through a cloud: what the journal will say of it, and
// whether its connection is cut instead of answered.
type Visit struct {
	Entry
	Cut bool
}

// Meet takes the call through the faults, which it notes.
func (v *Visit) Meet(ctx context.Context, f *Faults) Disturbance {
	d := f.Meet(ctx, v.Service, v.Operation, v.Write)
	v.Faults, v.Cut = d.Kinds, d.Cut
	return d
}

// Params are the first MaxEntryParams parameters in the order of their names.
func Params(names iter.Seq[string], value func(name string) string) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(names) {
		if len(out) == MaxEntryParams {
			break
		}
		out[name] = value(name)
	}
	return out
}

// Answer writes the answer of a call, given its number in the journal.
type Answer func(w http.ResponseWriter, seq int)

// Handle answers the control API, and hands all other calls to the cloud: do runs one
// and returns what writes its answer.
func (c *Control) Handle(w http.ResponseWriter, r *http.Request, do func() (*Visit, Answer)) {
	if strings.HasPrefix(r.URL.Path, ControlPath) {
		c.ServeHTTP(w, r)
		return
	}
	v, answer := do()
	v.Agent = r.UserAgent()
	if v.Cut {
		v.Status, v.Code = 0, ""
	}
	seq := c.Journal.Append(v.Entry)
	if v.Cut {
		HangUp(w)
		return
	}
	if c.Rewrite == nil {
		answer(w, seq)
		return
	}
	written := rewritten{ResponseWriter: w}
	answer(&written, seq)
	written.send(c.Rewrite)
}
