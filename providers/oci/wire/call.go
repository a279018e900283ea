package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/berth-lb/berth/providers"
)

// request is one call.
type request struct {
	method, path string
	query        url.Values
	header       map[string]string
	body         any
}

// Headers of the APIs. Source: API reference, request and response headers.
const (
	headerToken = "Opc-Retry-Token" //nolint:gosec // the name of a header
	headerMatch = "If-Match"
	headerWork  = "Opc-Work-Request-Id"
	headerPage  = "Opc-Next-Page"
	headerETag  = "Etag"
)

// send makes a call and reads its answer into out, which may be nil.
func (a *service) send(ctx context.Context, r request, out any) (http.Header, error) {
	var body io.Reader = http.NoBody
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	target := url.URL{Path: r.path, RawQuery: r.query.Encode()}
	hr, err := http.NewRequestWithContext(ctx, r.method, target.String(), body)
	if err != nil {
		return nil, err
	}
	hr.Header.Set("Content-Type", "application/json")
	hr.Header.Set("Accept", "application/json")
	for name, value := range r.header {
		hr.Header.Set(name, value)
	}
	answer, err := a.client.Call(ctx, hr)
	if answer != nil && answer.Body != nil {
		defer func() { _ = answer.Body.Close() }()
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return answer.Header, err
	}
	if out != nil && len(text) > 0 {
		err = json.Unmarshal(text, out)
	}
	return answer.Header, err
}

// get reads one thing.
func (s *Session) get(ctx context.Context, a *service, path string, out any) (http.Header, error) {
	return s.read(ctx, a, request{method: http.MethodGet, path: path}, out)
}

// read makes a reading call. Errors are faults.
func (s *Session) read(ctx context.Context, a *service, r request, out any) (header http.Header, err error) {
	err = s.limits.Read(ctx, errorTable(), bucketRead, func(ctx context.Context) (err error) {
		header, err = a.send(ctx, r, out)
		return err
	})
	if err != nil {
		err = fmt.Errorf("read %s: %w", collectionsOf(strings.Split(strings.Trim(r.path, "/"), "/")), err)
	}
	return header, err
}

// pageSize is how much of a list is asked for at once.
const pageSize = "1000"

// listAll reads all pages of a list. Some APIs wrap them.
func listAll[T any](ctx context.Context, s *Session, a *service, path string, query url.Values, wrapped bool) ([]T, error) {
	var out []T
	query.Set("limit", pageSize)
	for {
		var items []T
		var wrapper struct {
			Items []T `json:"items"`
		}
		var into any = &items
		if wrapped {
			into = &wrapper
		}
		header, err := s.read(ctx, a, request{method: http.MethodGet, path: path, query: query}, into)
		if err != nil {
			return nil, err
		}
		out = append(append(out, items...), wrapper.Items...)
		next := header.Get(headerPage)
		if next == "" {
			return out, nil
		}
		query.Set("page", next)
	}
}

// write makes a writing call. Errors are faults; Ambiguous if the call may have taken
// effect without an answer.
func (s *Session) write(ctx context.Context, a *service, r request, out any) (header http.Header, err error) {
	err = s.limits.Write(ctx, errorTable(), bucketWrite, func(ctx context.Context) (err error) {
		header, err = a.send(ctx, r, out)
		return err
	})
	return header, err
}

// nameOf names a call by its method and what it is about: the path without identifiers.
func nameOf(r *http.Request) providers.Call {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	apis := map[string]string{"20170115": apiLB, "20200501": apiNLB, "20160918": apiCore}
	call := providers.Call{API: apis[parts[0]], Operation: r.Method}
	if call.API == "" {
		call.API = "identity"
		return call
	}
	call.Operation += " " + collectionsOf(parts[1:])
	return call
}

// collectionsOf returns the parts of a path without the identifiers.
func collectionsOf(parts []string) string {
	var out []string
	for i, p := range parts {
		if i%2 == 0 || p == "actions" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " ")
}
