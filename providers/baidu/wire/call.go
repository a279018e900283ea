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
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 16 << 20

// request is one call of an API.
type request struct {
	api, method, path string
	query             url.Values
	body              any
}

// The APIs, by the first part of their hosts.
const (
	apiBLB = "blb"
	apiEIP = "eip"
	// apiQuota is read by berth doctor alone.
	apiQuota = "quota-center"
)

// newRequest returns a call. Parameters are pairs of names and values.
func newRequest(api, method, path string, body any, parameters ...string) request {
	r := request{api: api, method: method, path: path, query: url.Values{}, body: body}
	for i := 0; i+1 < len(parameters); i += 2 {
		r.query.Set(parameters[i], parameters[i+1])
	}
	return r
}

// refusedError is an answer that refuses the call.
type refusedError struct {
	status int
	body   []byte
}

// Error implements error.
func (r *refusedError) Error() string { return fmt.Sprintf("HTTP %d", r.status) }

// send makes a signed call and reads its answer into out, which may be nil.
func (s *Session) send(ctx context.Context, r request, out any) error {
	var text []byte
	if r.body != nil {
		var err error
		if text, err = json.Marshal(r.body); err != nil {
			return err
		}
	}
	hr, err := http.NewRequestWithContext(ctx, r.method, s.base(r.api)+r.path+"?"+r.query.Encode(), bytes.NewReader(text))
	if err != nil {
		return err
	}
	hr.Header.Set("User-Agent", s.agent)
	hr.Header.Set("Content-Type", "application/json;charset=utf-8")
	s.keys.sign(hr, s.now())
	answer, err := s.client.Do(hr)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it is only read
	text, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return err
	case answer.StatusCode >= http.StatusBadRequest:
		return &refusedError{answer.StatusCode, text}
	case out == nil:
		return nil
	}
	return json.Unmarshal(text, out)
}

// read makes a reading call. Errors are faults.
func (s *Session) read(ctx context.Context, r request, out any) error {
	return s.limits.Read(ctx, errorTable(), bucketRead, func(ctx context.Context) error { return s.send(ctx, r, out) })
}

// write makes a writing call. Errors are faults; Ambiguous if the call may have taken effect without an
// answer.
func (s *Session) write(ctx context.Context, r request, out any) error {
	return s.limits.Write(ctx, errorTable(), bucketWrite, func(ctx context.Context) error { return s.send(ctx, r, out) })
}

// pageSize is the most objects of a page. Source: bce-sdk-go:services/appblb/appblb.go.
const pageSize = "1000"

// listAll reads all pages of a list, which has a name in the answers. An answer without the list is no
// empty list.
func listAll[T any](ctx context.Context, s *Session, name string, r request) ([]T, error) {
	r.query.Set("maxKeys", pageSize)
	var out []T
	for {
		var page map[string]json.RawMessage
		if err := s.read(ctx, r, &page); err != nil {
			return nil, err
		}
		if page[name] == nil {
			return nil, fault.New(fault.Unavailable, "the answer of %s has no %s", r.path, name)
		}
		var items []T
		var truncated bool
		var next string
		err := errors.Join(json.Unmarshal(page[name], &items), readField(page, "isTruncated", &truncated), readField(page, "nextMarker", &next))
		if err != nil {
			return nil, fault.New(fault.Unavailable, "the answer of %s cannot be read: %v", r.path, err)
		}
		out = append(out, items...)
		switch {
		case !truncated:
			return out, nil
		case next == "":
			return nil, fault.New(fault.Unavailable, "the answer of %s is truncated and names no next page", r.path)
		}
		r.query.Set("marker", next)
	}
}

func readField(page map[string]json.RawMessage, name string, out any) error {
	if page[name] == nil {
		return nil
	}
	return json.Unmarshal(page[name], out)
}

// nameOf names a call by its method and path, without ids, and by what a change of the path's object does.
func nameOf(r *http.Request) providers.Call {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	call := providers.Call{API: parts[min(1, len(parts)-1)], Operation: r.Method}
	for i, p := range parts {
		if i > 2 || i == 1 {
			call.Operation += " " + p
		}
	}
	for _, action := range []string{"batchdelete", "delete", "update", "bind", "unbind", "resize"} {
		if r.URL.Query().Has(action) {
			call.Operation += "?" + action
		}
	}
	return call
}
