package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit/codec"
	"github.com/berth-lb/berth/providers/meter"
)

// request is one call of one of the APIs.
type request struct {
	bucket    string // of its rate, which is the name of the API for metrics
	operation string // for metrics
	method    string
	url       string
	header    map[string]string
	body      any
}

// clientOf returns the client of the API that a bucket is for.
func (s *Session) clientOf(bucket string) *gophercloud.ServiceClient {
	switch bucket {
	case bucketBalancer:
		return s.balancer
	case bucketKeys:
		return s.keys
	}
	return s.network
}

// callAbout returns a call about resources of a kind: about the collection, or about what the
// path leads to below it.
func callAbout[T any](s *Session, method string, kind codec.Kind[T], path ...string) request {
	r := s.request(method, kind.Path, path...)
	r.operation = kind.Operation(method)
	return r
}

// request returns a call about what the path below a collection leads to.
func (s *Session) request(method, collection string, path ...string) request {
	bucket := bucketNetwork
	if strings.HasPrefix(collection, "lbaas/") {
		bucket = bucketBalancer
	}
	at := strings.Join(append([]string{collection}, path...), "/")
	return request{bucket: bucket, operation: method + " " + collection, method: method, url: s.clientOf(bucket).ServiceURL(at)}
}

// createCall returns the call that creates a resource with the body.
func createCall[T any](s *Session, kind codec.Kind[T], body codec.Object) request {
	r := callAbout(s, http.MethodPost, kind)
	r.body = codec.Object{kind.One: body}
	return r
}

// updateCall returns the call that updates a resource with the body.
func updateCall[T any](s *Session, kind codec.Kind[T], id string, body codec.Object) request {
	r := callAbout(s, http.MethodPut, kind, id)
	r.body = codec.Object{kind.One: body}
	return r
}

// deleteCall returns the call that deletes a resource.
func deleteCall[T any](s *Session, kind codec.Kind[T], id string) request {
	return callAbout(s, http.MethodDelete, kind, id)
}

// send makes a call and decodes its answer into out, which may be nil.
func (s *Session) send(ctx context.Context, r request, out any) error {
	ctx = meter.WithCall(ctx, providers.Call{API: r.bucket, Operation: r.operation})
	ok := []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent, http.StatusMultipleChoices}
	_, err := s.clientOf(r.bucket).Request(ctx, r.method, r.url, &gophercloud.RequestOpts{JSONBody: r.body, JSONResponse: out, MoreHeaders: r.header, OkCodes: ok})
	return err
}

// read makes a reading call. Errors are faults.
func (s *Session) read(ctx context.Context, r request, out any) error {
	err := s.limits.Read(ctx, errorTable(), r.bucket, func(ctx context.Context) error { return s.send(ctx, r, out) })
	if err != nil {
		return fmt.Errorf("read %s: %w", r.operation[strings.LastIndexAny(r.operation, "/ ")+1:], err)
	}
	return nil
}

// write makes a writing call. Errors are faults; Ambiguous if the call may have taken
// effect without an answer.
func (s *Session) write(ctx context.Context, r request, out any) error {
	return s.limits.Write(ctx, errorTable(), r.bucket, func(ctx context.Context) error { return s.send(ctx, r, out) })
}

// link is the identifier of another resource in an answer.
type link struct {
	ID string `json:"id"`
}

// item is a resource in an answer: its spec, and what the API shows besides.
type item[T any] struct {
	ID           string   `json:"id"`
	Provisioning string   `json:"provisioning_status"`
	Operating    string   `json:"operating_status"`
	Up           bool     `json:"admin_state_up"`
	Created      string   `json:"created_at"` // in a form that sorts by time
	Tags         []string `json:"tags"`
	Balancers    []link   `json:"loadbalancers"`
	Listeners    []link   `json:"listeners"`
	Pools        []link   `json:"pools"`
	Monitor      string   `json:"healthmonitor_id"`
	Port         string   `json:"port_id"` // of a floating IP

	Rules []json.RawMessage `json:"security_group_rules"`

	Spec T `json:"-"`
}

// isOf reports whether the resource belongs to a load balancer.
func (i item[T]) isOf(balancer string) bool {
	return len(i.Balancers) > 0 && i.Balancers[0].ID == balancer
}

// answer is the answer to a call about one resource of a kind.
type answer[T any] struct {
	kind codec.Kind[T]
	item item[T]
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *answer[T]) UnmarshalJSON(text []byte) error {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	var err error
	a.item, err = decodeItem(a.kind, all[a.kind.One])
	return err
}

func decodeItem[T any](kind codec.Kind[T], text []byte) (item[T], error) {
	var i item[T]
	err := json.Unmarshal(text, &i)
	if err == nil {
		i.Spec, err = kind.Decode(text)
	}
	return i, err
}

// getItem reads one resource. Errors are faults.
func getItem[T any](ctx context.Context, s *Session, kind codec.Kind[T], id string) (item[T], error) {
	a := answer[T]{kind: kind}
	err := s.read(ctx, callAbout(s, http.MethodGet, kind, url.PathEscape(id)), &a)
	return a.item, err
}

// listItems reads all resources of a kind that the query selects. Errors are faults.
func listItems[T any](ctx context.Context, s *Session, kind codec.Kind[T], query url.Values) ([]item[T], error) {
	return listPages(ctx, s, callAbout(s, http.MethodGet, kind), query, kind.Many, func(text []byte) (item[T], error) { return decodeItem(kind, text) })
}

// listPlain reads all entries of a collection that is no kind of ours. Errors are faults.
func listPlain[T any](ctx context.Context, s *Session, collection string, query url.Values) ([]T, error) {
	return listPages(ctx, s, s.request(http.MethodGet, collection), query, collection, func(text []byte) (v T, err error) {
		err = json.Unmarshal(text, &v)
		return v, err
	})
}

// listPages reads all pages of a list, which has the name of its family in the answers.
func listPages[T any](ctx context.Context, s *Session, r request, query url.Values, family string, decode func([]byte) (T, error)) (all []T, err error) {
	if len(query) > 0 {
		r.url += "?" + query.Encode()
	}
	for {
		var p map[string]json.RawMessage
		if err := s.read(ctx, r, &p); err != nil {
			return nil, err
		}
		entries, next, err := pageOf(p, family)
		if err != nil {
			return nil, err
		}
		for _, text := range entries {
			v, err := decode(text)
			if err != nil {
				return nil, fault.New(fault.Unavailable, "the answer of %s cannot be read: %v", r.operation, err)
			}
			all = append(all, v)
		}
		if r.url = next; next == "" || len(entries) == 0 {
			return all, nil
		}
	}
}

// pageOf returns the entries of a page and the address of the next one; empty after the
// last one. It returns an error if the answer is not a list, which must not be mistaken for
// an empty one. Source: Networking and Octavia API references, pagination: links of the list.
func pageOf(p map[string]json.RawMessage, family string) (entries []json.RawMessage, next string, err error) {
	if err := json.Unmarshal(p[family], &entries); err != nil || entries == nil {
		return nil, "", fault.New(fault.Unavailable, "an answer has no list of %s", family)
	}
	var links []struct {
		Rel  string `json:"rel"`
		Href string `json:"href"`
	}
	_ = json.Unmarshal(p[family+"_links"], &links) // without links it is the last page
	for _, l := range links {
		if l.Rel == "next" {
			next = l.Href
		}
	}
	return entries, next, nil
}

// nameOf returns the name that the session gives a call. Calls of the SDK to the identity API
// are named here.
func nameOf(r *http.Request) providers.Call {
	if strings.HasSuffix(r.URL.Path, "/tokens") {
		return providers.Call{API: "identity", Operation: r.Method + " tokens"}
	}
	if call, named := meter.CallOf(r.Context()); named {
		return call
	}
	return providers.Call{API: "openstack", Operation: r.Method}
}
