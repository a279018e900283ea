package meter

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

// Language is how a cloud's requests and refusals are read.
type Language struct {
	// Name names the operation that a request means.
	Name func(*http.Request) providers.Call
	// Refusal reads an answer with a status of 400 or more; body is its beginning.
	Refusal func(status int, header http.Header, body []byte) providers.Answer
	// Inside reads an answer with a status below 400, for a cloud that refuses calls with
	// status 200 and a code in the body; false: the call succeeded. body is its beginning. Nil:
	// the status decides.
	Inside func(header http.Header, body []byte) (providers.Answer, bool)
}

// callKey is the key of a context for the call that it is about.
type callKey struct{}

// WithCall returns a context whose requests count as the call.
func WithCall(ctx context.Context, c providers.Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallOf returns the call that the context's requests count as; false: it names none.
func CallOf(ctx context.Context) (providers.Call, bool) {
	c, ok := ctx.Value(callKey{}).(providers.Call)
	return c, ok
}

// refusalLimit is how much of a refusal is read to find its code, in bytes.
const refusalLimit = 64 << 10

// insideLimit is how much of an answer with a status below 400 is searched for a refusal, in
// bytes: clouds that refuse in this way put the code first.
const insideLimit = 4 << 10

// New wraps a transport. Without an observer nothing is counted. A closed fence of a
// request's context refuses the request, see [providers.WithFence]. An answer that is a page of
// HTML is the error [fault.PageError], unless it asks for fewer requests.
func New(next http.RoundTripper, observe providers.Observe, l Language) http.RoundTripper {
	next = fenced{next}
	if observe != nil {
		next = &meter{next: next, observe: observe, language: l}
	}
	return pageless{next, l.Name}
}

// pageless returns pages of HTML as errors. Clients read 404 as the absence of a resource, and
// proxies and gateways answer with it as well.
type pageless struct {
	next http.RoundTripper
	name func(*http.Request) providers.Call
}

// IsPage reports whether the body of an answer is a page of HTML.
func IsPage(header http.Header) bool {
	form, _, _ := mime.ParseMediaType(header.Get("Content-Type")) // a malformed one is none
	return form == "text/html"
}

// RoundTrip implements http.RoundTripper.
func (p pageless) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := p.next.RoundTrip(r)
	if err != nil || response.StatusCode == http.StatusTooManyRequests {
		return response, err
	}
	if !IsPage(response.Header) {
		return response, nil
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, refusalLimit)) // so that the connection can be used again
	_ = response.Body.Close()                                               // it was only read
	return nil, &fault.PageError{Operation: p.name(r).Operation, Status: response.StatusCode}
}

// fenced asks the fence as late as it can: after all waiting, and again for each
// repetition.
type fenced struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f fenced) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := providers.Fenced(r.Context()); err != nil {
		return nil, &fault.Fault{Meaning: fault.Unavailable, Text: "not sent: " + err.Error(), Err: err}
	}
	return f.next.RoundTrip(r)
}

type meter struct {
	next     http.RoundTripper
	observe  providers.Observe
	language Language
}

// RoundTrip implements http.RoundTripper. A connection that was closed while it
// was idle makes net/http send a reading request again without a word; only the
// trace tells.
func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	call := m.language.Name(r)
	var sent atomic.Int32
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err == nil && sent.Add(1) > 1 {
			m.observe(r.Context(), call)(providers.Answer{Code: providers.NoAnswer, Meaning: fault.Unavailable})
		}
	}})
	end := m.observe(r.Context(), call)
	response, err := m.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		end(providers.Answer{Code: providers.NoAnswer, Meaning: fault.Unavailable})
		return response, err
	}
	end(m.language.answer(response))
	return response, nil
}

// answer returns what a response is counted as; the zero value is a success.
func (l Language) answer(response *http.Response) providers.Answer {
	switch {
	case response.StatusCode >= http.StatusBadRequest:
		return l.Refusal(response.StatusCode, response.Header, peekBody(response, refusalLimit))
	case l.Inside == nil:
		return providers.Answer{}
	}
	refusal, refused := l.Inside(response.Header, peekBody(response, insideLimit))
	if !refused {
		return providers.Answer{}
	}
	return refusal
}

// peekBody reads the beginning of the body, up to a limit, and restores it.
func peekBody(response *http.Response, limit int64) []byte {
	begin, err := io.ReadAll(io.LimitReader(response.Body, limit))
	rest := io.Reader(response.Body)
	if err != nil {
		rest = failing{err}
	}
	response.Body = body{Reader: io.MultiReader(bytes.NewReader(begin), rest), Closer: response.Body}
	return begin
}

type body struct {
	io.Reader
	io.Closer
}

// failing returns the error of peekBody to the next reader.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
