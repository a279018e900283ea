package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// MaxBody is how much of a request body is read, in bytes.
const MaxBody = 16 << 20

// Request is one call, understood as far as every operation needs it.
type Request struct {
	// ID names the operation, such as "forwardingRules.insert".
	ID string
	// Version is the version of the API in the path: "v1", "beta" or "alpha".
	Version string
	Path    map[string]string
	// Segments are the parts of the path behind the version.
	Segments []string
	Query    url.Values
	Body     Object
	Now      time.Time
	// User is the caller, an e-mail address.
	User string
	// Unreachable are scopes that a list over all of them cannot reach.
	Unreachable []string
	// FailLate lets a change be taken and its operation fail so; nothing is done.
	FailLate *Error
}

// Answer is the response.
type Answer struct {
	Status int
	// Reason is the word of a refusal, for the journal.
	Reason string
	Body   Object
}

// OK answers a document.
func OK(body Object) *Answer { return &Answer{Status: http.StatusOK, Body: body} }

// Refuse answers an error.
func Refuse(err error) *Answer {
	e := AsError(err)
	return &Answer{Status: e.Status, Reason: e.Reason, Body: e.Document()}
}

// Write sends the answer. Links are given in the version that was asked for.
func (a *Answer) Write(w http.ResponseWriter, version string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if a.Body == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	status := a.Status
	if err := enc.Encode(a.Body); err != nil {
		status = http.StatusInternalServerError
	}
	data := b.Bytes()
	if version != "" && version != "v1" {
		data = bytes.ReplaceAll(data, []byte(SelfBase), []byte(strings.Replace(SelfBase, "/v1/", "/"+version+"/", 1)))
	}
	w.WriteHeader(status)
	// A disconnected client is no fault of the simulator.
	_, _ = w.Write(data)
}

// ReadBody reads the JSON body of a request; none gives nil.
func ReadBody(r *http.Request) (Object, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, MaxBody))
	if err != nil {
		return nil, Malformed("%v", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	return Decode(data)
}

// Flat gives everything that the request says as texts by name, for the
// journal: "region", "requestId", "ports.0", "backends.1.group".
func (r *Request) Flat() map[string]string {
	out := map[string]string{}
	rest.Flatten(out, "", r.Body, nil)
	for name := range r.Query {
		out[name] = r.Query.Get(name)
	}
	maps.Copy(out, r.Path)
	return out
}
