package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
)

// request is one call.
type request struct {
	method, path string
	header       map[string]string
	body         any
}

// Codes of refusals that the session acts on.
const (
	codeBusy      = "BalancerBusy"
	codeTokenUsed = "TokenUsed"
)

// refusedError is an answer that refuses the call.
type refusedError struct {
	Status int    `json:"-"`
	Code   string `json:"code"`
	Text   string `json:"message"`
}

// Error implements error.
func (r *refusedError) Error() string { return r.Code + ": " + r.Text }

// codeOf returns the code of a fault; empty if it has none.
func codeOf(err error) string {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.Code
	}
	return ""
}

// errorTable gives errors their meaning: the table of codes, and the kit for all others.
func errorTable() kit.Errors {
	return kit.Errors{
		Read: func(err error) (kit.Refusal, bool) {
			r, ok := errors.AsType[*refusedError](err)
			if !ok {
				return kit.Refusal{}, false
			}
			return kit.Refusal{Code: r.Code, Status: r.Status, Text: r.Text}, true
		},
		Meaning: kit.Codes{Meanings: map[string]fault.Meaning{
			"NameTaken": fault.Exists, "QuotaExceeded": fault.Quota, codeBusy: fault.Pending, codeTokenUsed: fault.Conflict,
		}}.Meaning,
		Conflict: fault.Conflict, Busy: usualChange,
	}
}

// meterLanguage says how requests and refusals are counted.
func meterLanguage() meter.Language {
	return meter.Language{
		Name: func(r *http.Request) providers.Call {
			call, _ := meter.CallOf(r.Context())
			return call
		},
		Refusal: func(status int, _ http.Header, body []byte) providers.Answer {
			r := refusalIn(status, body)
			return errorTable().Answer(kit.Refusal{Code: r.Code, Status: status})
		},
		// Quay refuses with status 200 as well: the code says so.
		Inside: func(_ http.Header, body []byte) (providers.Answer, bool) {
			r := refusalIn(http.StatusOK, body)
			return errorTable().Answer(kit.Refusal{Code: r.Code}), r.Code != ""
		},
	}
}

// refusalIn reads an answer as a refusal; one without a code and with a status below 400 is a
// success.
func refusalIn(status int, body []byte) *refusedError {
	r := &refusedError{Status: status}
	if err := json.Unmarshal(body, r); err != nil && status >= http.StatusBadRequest {
		r.Text = string(body)
	}
	return r
}

// read makes a reading call. Errors are faults.
func (s *Session) read(ctx context.Context, r request, out any) error {
	return s.limits.Read(ctx, errorTable(), bucketRead, func(ctx context.Context) error { return s.send(ctx, r, out) })
}

// write makes a writing call. Errors are faults; Ambiguous if the call may have taken effect
// without an answer.
func (s *Session) write(ctx context.Context, r request, out any) error {
	return s.limits.Write(ctx, errorTable(), bucketWrite, func(ctx context.Context) error { return s.send(ctx, r, out) })
}

// listAll reads all pages of a list.
func listAll[T any](ctx context.Context, s *Session, collection string) (all []T, err error) {
	for after := ""; ; {
		var page struct {
			Items *[]T   `json:"items"`
			Next  string `json:"next"`
		}
		if err := s.read(ctx, request{method: http.MethodGet, path: "/" + collection + "?after=" + url.QueryEscape(after)}, &page); err != nil {
			return nil, fmt.Errorf("list of %s: %w", collection, err)
		}
		if page.Items == nil { // an answer without a list is no empty list
			return nil, fault.New(fault.Unavailable, "the answer of GET /%s has no items", collection)
		}
		all = append(all, *page.Items...)
		if after = page.Next; after == "" {
			return all, nil
		}
	}
}

// operationOf returns the name of a call for metrics: its method and its last collection.
func (r request) operationOf() string {
	path, _, _ := strings.Cut(strings.Trim(r.path, "/"), "?")
	parts := strings.Split(path, "/")
	return r.method + " " + parts[len(parts)/3*2]
}

// send makes one HTTP request.
func (s *Session) send(ctx context.Context, r request, out any) error {
	body, err := json.Marshal(r.body)
	if err != nil {
		return err
	}
	ctx = meter.WithCall(ctx, providers.Call{API: "quay", Operation: r.operationOf()})
	req, err := http.NewRequestWithContext(ctx, r.method, s.config.Endpoint+r.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if refusal := refusalIn(resp.StatusCode, answer); refusal.Code != "" || refusal.Status >= http.StatusBadRequest {
		return refusal
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
