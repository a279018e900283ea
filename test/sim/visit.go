package sim

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
)

// Visit is a call on its way through a cloud: what the journal will say of it, and
// whether its connection is cut, or a page is sent, instead of an answer of the cloud.
type Visit struct {
	Entry
	Cut  bool
	Page int // the status
}

// Meet takes the call through the faults, which it notes.
func (v *Visit) Meet(ctx context.Context, f *Faults) Disturbance {
	d := f.Meet(ctx, v.Service, v.Operation, v.Write)
	v.Faults, v.Cut, v.Page = d.Kinds, d.Cut, d.Page
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
	if v.Page != 0 {
		v.Status, v.Code = v.Page, ""
	}
	seq := c.Journal.Append(v.Entry)
	switch {
	case v.Cut:
		HangUp(w)
	case v.Page != 0:
		sendPage(w, v.Page)
	case c.Rewrite != nil:
		written := rewritten{ResponseWriter: w}
		answer(&written, seq)
		written.send(c.Rewrite)
	default:
		answer(w, seq)
	}
}

// sendPage writes a page of HTML.
func sendPage(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\">\n<title>%[1]d %[2]s</title>\n<h1>%[2]s</h1>\n<hr>gateway\n", status, http.StatusText(status)) // a disconnected client needs no answer
}
