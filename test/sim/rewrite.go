package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
)

// rewritten collects an answer whose body is changed before it is sent.
type rewritten struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *rewritten) WriteHeader(status int) { w.status = status }

func (w *rewritten) Write(p []byte) (int, error) { return w.body.Write(p) }

func (w *rewritten) send(change func([]byte) []byte) {
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(cmp.Or(w.status, http.StatusOK))
	_, _ = w.ResponseWriter.Write(change(w.body.Bytes())) // a disconnected client needs no answer
}

// ReverseLists returns a JSON document with every list in reverse order. Text that is no document
// stays.
func ReverseLists(body []byte) []byte { return rewriteJSON(body, reverseLists) }

// OmitEmpty returns a JSON document in which the entries of lists have no members that are null, false, 0, or an
// empty text, list or object. The document itself keeps them: one without its list is no answer.
func OmitEmpty(body []byte) []byte {
	return rewriteJSON(body, func(v any) any { return omitEmpty(v, false) })
}

// ChangeTexts returns a rewriting of JSON documents in which change returns each text. A text in a list has the name of the list.
func ChangeTexts(change func(name, text string) string) func([]byte) []byte {
	return func(body []byte) []byte {
		return rewriteJSON(body, func(v any) any { return changeTexts("", v, change) })
	}
}

func rewriteJSON(body []byte, change func(any) any) []byte {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return body
	}
	if _, err := d.Token(); err != io.EOF {
		return body
	}
	out, err := json.Marshal(change(v))
	if err != nil {
		return body
	}
	return out
}

func reverseLists(v any) any {
	switch v := v.(type) {
	case []any:
		slices.Reverse(v)
		for i := range v {
			v[i] = reverseLists(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = reverseLists(v[name])
		}
	}
	return v
}

func omitEmpty(v any, listed bool) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = omitEmpty(v[i], true)
		}
	case map[string]any:
		for name, member := range v {
			if listed && isEmpty(member) {
				delete(v, name)
				continue
			}
			v[name] = omitEmpty(member, listed)
		}
	}
	return v
}

func changeTexts(name string, v any, change func(name, text string) string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = changeTexts(name, v[i], change)
		}
	case map[string]any:
		for member := range v {
			v[member] = changeTexts(member, v[member], change)
		}
	case string:
		return change(name, v)
	}
	return v
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case json.Number:
		return v == "0"
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
