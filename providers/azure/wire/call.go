package wire

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	azpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

const (
	// lateDelay is the requeue delay for an operation that outlasts its step.
	lateDelay = 5 * time.Second
	// tries is how often an idempotent call is sent while its effect is unknown, and
	// firstRetry the pause before the second attempt, which doubles.
	tries      = 3
	firstRetry = 200 * time.Millisecond

	networkVersion   = "2025-05-01"
	computeVersion   = "2025-04-01"
	providersVersion = "2021-04-01"
)

// request is one call of the resource manager.
type request struct {
	method, path, version string
	query                 map[string]string
	body                  model.Object
	etag                  string // sent as If-Match; without one a write is never sent twice
}

// answer is the response to a call that was not refused.
type answer struct {
	body   model.Object
	status int
	header http.Header
}

// get reads a resource. If it is not found the Object is nil.
func (s *Session) get(ctx context.Context, path, version string) (model.Object, error) {
	a, err := s.send(ctx, request{method: http.MethodGet, path: path, version: version})
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return a.body, err
}

// list reads all pages of a list. A group that does not exist has an empty list,
// and exists is false.
func (s *Session) list(ctx context.Context, path, version string, query map[string]string) (items []model.Object, exists bool, err error) {
	next := request{method: http.MethodGet, path: path, version: version, query: query}
	for {
		a, err := s.send(ctx, next)
		if fault.Is(err, fault.NotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		items = append(items, a.body.List("value")...)
		link := a.body.Text("nextLink")
		if link == "" {
			return items, true, nil
		}
		next = request{method: http.MethodGet, path: link}
	}
}

// put writes a resource and returns it as it is when the operation has ended.
func (s *Session) put(ctx context.Context, path string, body model.Object, etag string) (model.Object, error) {
	began := s.now()
	o, err := s.write(ctx, path, networkVersion, body, etag)
	s.memory.enter(write{path: path, object: o, unsure: err != nil, began: began}, s.now())
	return o, err
}

// write is put without memory.
func (s *Session) write(ctx context.Context, path, version string, body model.Object, etag string) (model.Object, error) {
	a, err := s.accept(ctx, path, version, body, etag)
	if err != nil {
		return nil, err
	}
	if a.header.Get(headerAsync) == "" && model.StateOf(a.body) != stack.Pending && a.body != nil {
		return a.body, nil
	}
	o, err := s.get(ctx, path, version)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, fault.New(fault.Conflict, "%s: was deleted while it was written", model.LastSegment(path))
	}
	return o, nil
}

// accept writes a resource and waits until the operation has ended.
func (s *Session) accept(ctx context.Context, path, version string, body model.Object, etag string) (answer, error) {
	r := request{method: http.MethodPut, path: path, version: version, body: body, etag: etag}
	a, err := s.send(ctx, r)
	if err != nil {
		return a, err
	}
	return a, s.await(ctx, r.method, a, path, version)
}

// remove deletes a resource; one that is not found counts as deleted.
func (s *Session) remove(ctx context.Context, path string) error {
	a, err := s.send(ctx, request{method: http.MethodDelete, path: path, version: networkVersion})
	if err == nil {
		err = s.await(ctx, http.MethodDelete, a, path, networkVersion)
	}
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	s.memory.note(path, nil, err, s.now())
	return err
}

// post calls an action and waits for its end. An answer that is not "accepted" is the
// end, even where it names an operation as well. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/azure_operations.go.
func (s *Session) post(ctx context.Context, path string, body model.Object) error {
	a, err := s.send(ctx, request{method: http.MethodPost, path: path, version: networkVersion, body: body})
	switch said := a.body.In("error"); {
	case err != nil:
		return err
	case a.status == http.StatusAccepted:
		return s.await(ctx, http.MethodPost, a, path, networkVersion)
	case said.Text("code") != "":
		return faultOfOperation(said, model.LastSegment(path))
	}
	return nil
}

// send makes one call in its turn. It retries if the effect is unknown and the call is
// idempotent. Errors are faults.
func (s *Session) send(ctx context.Context, r request) (answer, error) {
	pause := firstRetry
	for n := 1; ; n++ {
		var a answer
		err := s.limits.Do(ctx, func(ctx context.Context) error {
			var err error
			a, err = s.call(ctx, r)
			return err
		}, bucketsOf(r.method, r.path)...)
		if n == tries || !r.repeats() || !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Ambiguous) {
			return a, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			pause *= 2
		case <-ctx.Done():
			timer.Stop()
			return a, err
		}
	}
}

// repeats reports whether the call is idempotent.
func (r request) repeats() bool {
	return r.method == http.MethodGet || r.method == http.MethodDelete || r.etag != ""
}

// call is send once.
func (s *Session) call(ctx context.Context, r request) (answer, error) {
	var response *http.Response
	do := func(ctx context.Context) error {
		req, err := s.prepare(ctx, r)
		if err == nil {
			response, err = s.pipelineFor(r.path).Do(req)
		}
		return err
	}
	var came kit.Progress
	var err error
	if r.method == http.MethodGet {
		err = do(ctx)
	} else {
		came, err = kit.Write(ctx, do)
	}
	if err != nil {
		return answer{}, errorsOf().Fault(err, came)
	}
	s.heed(r, response.Header)
	text, err := runtime.Payload(response)
	if err != nil {
		return answer{}, errorsOf().Fault(err, came)
	}
	body, err := model.ParseObject(text)
	if response.StatusCode >= http.StatusBadRequest {
		return answer{}, errorsOf().Refused(refusalIn(response.StatusCode, response.Header, body, s.now()), came)
	}
	if err != nil {
		return answer{}, errorsOf().Fault(err, came)
	}
	return answer{body: body, status: response.StatusCode, header: response.Header}, nil
}

var errElsewhere = errors.New("the answer leads to another host, to which no token is sent")

// prepare makes the request. A path that is a whole URL is one that Azure told.
func (s *Session) prepare(ctx context.Context, r request) (*azpolicy.Request, error) {
	target := s.endpoint + (&url.URL{Path: r.path}).EscapedPath()
	if strings.Contains(r.path, "://") {
		if !sameHost(r.path, s.endpoint) {
			return nil, errElsewhere
		}
		target = r.path
	}
	req, err := runtime.NewRequest(ctx, r.method, target)
	if err != nil {
		return nil, err
	}
	q := req.Raw().URL.Query()
	if r.version != "" {
		q.Set("api-version", r.version)
	}
	for k, v := range r.query {
		q.Set(k, v)
	}
	req.Raw().URL.RawQuery = q.Encode()
	req.Raw().Header.Set("Accept", "application/json")
	if r.etag != "" {
		req.Raw().Header.Set("If-Match", r.etag)
	}
	if r.body != nil {
		err = req.SetBody(streaming.NopCloser(bytes.NewReader(r.body.Bytes())), "application/json")
	}
	return req, err
}

// sameHost reports whether two addresses have the same host. The lists of Compute name the
// port of their scheme, the endpoint does not. Source: Azure/azure-xplat-cli issue 2961.
func sameHost(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && strings.EqualFold(x.Scheme, y.Scheme) && strings.EqualFold(x.Hostname(), y.Hostname()) && portOf(x) == portOf(y)
}

func portOf(u *url.URL) string {
	if u.Port() == "" {
		return map[string]string{"https": "443", "http": "80"}[strings.ToLower(u.Scheme)]
	}
	return u.Port()
}
