package arm

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxBody is the largest request that is read, in bytes.
const maxBody = 8 << 20

// Request is one call after parsing.
type Request struct {
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   Doc
	// Form is the body of a request that is no JSON.
	Form string
	// Base is scheme and host that the caller used, for links in the answer.
	Base string
	Now  time.Time
	// Number counts the calls, for request ids that differ.
	Number int
}

// ReadRequest reads a call; the error tells of a body that is no JSON object.
func ReadRequest(r *http.Request) (*Request, *Error) {
	req := &Request{Method: r.Method, Path: r.URL.Path, Query: lowerKeys(r.URL.Query()), Header: r.Header, Base: "http://" + r.Host}
	if r.TLS != nil {
		req.Base = "https://" + r.Host
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return req, Badf("InvalidRequestContent", "The request content could not be read: %v.", err)
	}
	if len(strings.TrimSpace(string(data))) == 0 || !strings.Contains(r.Header.Get("Content-Type"), "json") {
		req.Form = string(data)
		return req, nil
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	if err := dec.Decode(&req.Body); err != nil || req.Body == nil {
		return req, Badf("InvalidRequestContent", "The request content was invalid and could not be deserialized: '%v'.", errors.Join(err))
	}
	return req, nil
}

func lowerKeys(in url.Values) url.Values {
	out := url.Values{}
	for k, v := range in {
		out[strings.ToLower(k)] = v
	}
	return out
}

// checkVersion wants an api-version of the usual form and accepts every date.
func (r *Request) checkVersion() *Error {
	version := r.Query.Get("api-version")
	if version == "" {
		return Badf("MissingApiVersionParameter", "The api-version query parameter (?api-version=) is required for all requests.")
	}
	date, _, _ := strings.Cut(strings.TrimSuffix(version, "-preview"), "_")
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return Badf("InvalidApiVersionParameter", "The api-version '%s' is invalid. The supported versions are dates in the form yyyy-MM-dd with an optional suffix '-preview'.", version)
	}
	return nil
}

// Response is one answer.
type Response struct {
	Status int
	Header http.Header
	// Body is marshalled; nil sends none.
	Body any
	// Code is that of the refusal, empty for a success.
	Code string
}

// Reply makes an answer with a body.
func Reply(status int, body any) *Response {
	return &Response{Status: status, Header: http.Header{}, Body: body}
}

// Refuse makes an answer from an error.
func Refuse(e *Error) *Response {
	out := &Response{Status: e.Status, Header: http.Header{}, Body: e.Body(), Code: e.Code}
	if e.Status == http.StatusNotFound || e.Status == http.StatusTooManyRequests {
		out.Header.Set("x-ms-failure-cause", "gateway")
	}
	if e.RetryAfter > 0 {
		out.Header.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	return out
}

// Send writes the answer.
func (a *Response) Send(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range a.Header {
		h[name] = values
	}
	h.Set("Cache-Control", "no-cache")
	if a.Body == nil {
		w.WriteHeader(a.Status)
		return
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.Status)
	// A disconnected client is no fault of the simulator.
	_ = json.NewEncoder(w).Encode(a.Body)
}
