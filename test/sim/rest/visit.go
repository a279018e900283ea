package rest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/berth-lb/berth/test/sim"
)

// Visit is what all clouds know of a call on its way.
type Visit[S any] struct {
	sim.Visit
	HTTP   *http.Request
	Open   bool              // needs no authentication
	Params map[string]string // of the path
	Raw    []byte            // the body
	Body   Object
	State  S // that the call sees
	Answer Answer
	Breaks bool // what the call does fails later
	Fails  bool // only the part that the call changes fails later
	Again  bool // nothing was done: the answer is that of an earlier call
}

// Shared is the part of a call that all clouds share.
func (v *Visit[S]) Shared() *Visit[S] { return v }

// maxBody bounds the body of a request, in bytes.
const maxBody = 8 << 20

func (v *Visit[S]) read(malformed Error) error {
	raw, err := io.ReadAll(io.LimitReader(v.HTTP.Body, maxBody))
	if err != nil || len(raw) == 0 {
		return err
	}
	v.Raw = raw
	if strings.HasPrefix(v.HTTP.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return Refuse(malformed.Status, malformed.Code, "%s: %v", malformed.Text, err)
		}
		v.Body = Object{}
		for name := range form {
			v.Body[name] = form.Get(name)
		}
		return nil
	}
	if err := json.Unmarshal(raw, &v.Body); err != nil {
		return Refuse(malformed.Status, malformed.Code, "%s: %v", malformed.Text, err)
	}
	return nil
}

// note completes what the journal says of the call.
func (v *Visit[S]) note(secret map[string]bool) {
	v.Status, v.Code = v.Answer.Status, v.Answer.Code
	flat := map[string]string{}
	Flatten(flat, "", v.Body, secret)
	for k, values := range v.HTTP.URL.Query() {
		flat["?"+k] = strings.Join(values, ",")
	}
	maps.Copy(flat, v.Params)
	maps.Copy(flat, v.Request)
	v.Request = sim.Params(maps.Keys(flat), func(name string) string { return flat[name] })
}

// Answer is the response.
type Answer struct {
	Status int
	Body   any // nil: none; bytes are a text, all else is JSON
	Header http.Header
	Code   string // as the journal has it
}

func (a Answer) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
	text, is := a.Body.([]byte)
	switch {
	case is:
		w.Header().Set("Content-Type", "text/plain")
	case a.Body != nil:
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.Status)
	// A disconnected client is no fault of the simulator.
	switch {
	case is:
		_, _ = w.Write(text)
	case a.Body != nil:
		_ = json.NewEncoder(w).Encode(a.Body)
	}
}
