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

// The version of the VPC API, which decides on its behaviour. Source: VPC API reference, "Versioning".
const (
	apiVersion    = "2026-08-18"
	apiGeneration = "2"
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 16 << 20

// request is one call.
type request struct {
	method, url string
	query       url.Values
	header      map[string]string
	body        any
}

// vpc returns a call of the VPC API.
func (s *Session) vpc(method string, body any, path ...string) request {
	return request{method: method, url: s.base + "/" + strings.Join(path, "/"), query: url.Values{"version": {apiVersion}, "generation": {apiGeneration}}, body: body}
}

// refusedError is an answer that refuses the call.
type refusedError struct {
	status int
	header http.Header
	body   []byte
}

// Error implements error.
func (r *refusedError) Error() string { return fmt.Sprintf("HTTP %d", r.status) }

// send makes a call and reads its answer into out, which may be nil.
func (s *Session) send(ctx context.Context, r request, out any) (http.Header, error) {
	var body io.Reader = http.NoBody
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	hr, err := http.NewRequestWithContext(ctx, r.method, r.url+"?"+r.query.Encode(), body)
	if err != nil {
		return nil, err
	}
	hr.Header.Set("Accept", "application/json")
	hr.Header.Set("User-Agent", strings.TrimSpace("berth "+s.agent))
	if r.body != nil {
		hr.Header.Set("Content-Type", contentType(r.method))
	}
	for name, value := range r.header {
		hr.Header.Set(name, value)
	}
	if err := s.identity.authenticate(ctx, hr); err != nil {
		return nil, err
	}
	answer, err := s.client.Do(hr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return answer.Header, err
	case answer.StatusCode >= http.StatusBadRequest:
		return answer.Header, &refusedError{answer.StatusCode, answer.Header, text}
	case out != nil && len(text) > 0:
		return answer.Header, json.Unmarshal(text, out)
	}
	return answer.Header, nil
}

// contentType returns the type of the body of a method.
func contentType(method string) string {
	if method == http.MethodPatch {
		return "application/merge-patch+json"
	}
	return "application/json"
}

// read makes a reading call. Errors are faults.
func (s *Session) read(ctx context.Context, r request, out any) (header http.Header, err error) {
	err = s.limits.Read(ctx, errorTable(), bucketRead, func(ctx context.Context) (err error) {
		header, err = s.send(ctx, r, out)
		return err
	})
	return header, err
}

// write makes a writing call. Errors are faults; Ambiguous if the call may have taken effect
// without an answer.
func (s *Session) write(ctx context.Context, r request, out any) error {
	return s.limits.Write(ctx, errorTable(), bucketWrite, func(ctx context.Context) error {
		_, err := s.send(ctx, r, out)
		return err
	})
}

// pageSize is the most objects of a page. Source: VPC API reference, "Pagination".
const pageSize = "100"

// listAll reads all pages of a list, which has the name of its collection in the answers.
func listAll[T any](ctx context.Context, s *Session, collection string) ([]T, error) {
	var out []T
	r := s.vpc(http.MethodGet, nil, collection)
	r.query.Set("limit", pageSize)
	for {
		var page map[string]json.RawMessage
		if _, err := s.read(ctx, r, &page); err != nil {
			return nil, err
		}
		var items []T
		if err := json.Unmarshal(page[collection], &items); err != nil {
			return nil, fmt.Errorf("list of %s: %w", collection, err)
		}
		out = append(out, items...)
		var next struct {
			Href string `json:"href"`
		}
		if page["next"] != nil {
			if err := json.Unmarshal(page["next"], &next); err != nil {
				return nil, fmt.Errorf("list of %s: %w", collection, err)
			}
		}
		link, err := url.Parse(next.Href)
		if err != nil {
			return nil, fmt.Errorf("list of %s: %w", collection, err)
		}
		start := link.Query().Get("start")
		if start == "" {
			return out, nil
		}
		r.query.Set("start", start)
	}
}

// listParts reads the listeners, pools or members of something, which are on one page.
func listParts[T any](ctx context.Context, s *Session, collection string, path ...string) ([]T, error) {
	var page map[string]json.RawMessage
	if _, err := s.read(ctx, s.vpc(http.MethodGet, nil, append(path, collection)...), &page); err != nil {
		return nil, err
	}
	var items []T
	if err := json.Unmarshal(page[collection], &items); err != nil {
		return nil, fmt.Errorf("list of %s: %w", collection, err)
	}
	return items, nil
}

// nameOf names a call by its method and the collections of its path.
func nameOf(r *http.Request) providers.Call {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case strings.HasPrefix(r.URL.Path, "/instance_identity/"):
		return providers.Call{API: "metadata", Operation: r.Method + " " + parts[len(parts)-1]}
	case strings.HasSuffix(r.URL.Path, "/identity/token"):
		return providers.Call{API: "iam", Operation: "POST token"}
	case strings.HasSuffix(r.URL.Path, "/v2/resource_groups"):
		return providers.Call{API: "resource-controller", Operation: "GET resource_groups"}
	}
	call := providers.Call{API: "vpc", Operation: r.Method}
	for i, p := range parts {
		if i%2 == 1 { // after the version, collections and identifiers alternate
			call.Operation += " " + p
		}
	}
	return call
}
