package azure

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	azpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"golang.org/x/sync/errgroup"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

const (
	// patience is how long a step waits for its operation before it hands the
	// waiting to the caller.
	patience = 10 * time.Second
	// lateDelay is when to look again at what took longer.
	lateDelay = 5 * time.Second
	// readLimit bounds one reading call, with its retries.
	readLimit = 30 * time.Second
	// firstPause is the pause before an operation is asked about for the first
	// time, where its answer does not say one; it doubles up to longestPause.
	firstPause   = 250 * time.Millisecond
	longestPause = 2 * time.Second
	// inParallel bounds the calls that one read or step makes at the same time.
	inParallel = 8

	networkVersion   = "2025-05-01"
	computeVersion   = "2025-04-01"
	providersVersion = "2021-04-01"
)

// request is one call of the resource manager.
type request struct {
	method, path, version string
	query                 map[string]string
	body                  Object
	etag                  string // sent as If-Match; without one a write is never sent twice
}

// answer is what came back of a call that was not refused.
type answer struct {
	body   Object
	status int
	header http.Header
}

// slow is an operation that was accepted and has not ended in time.
type slow struct{ what string }

func (w *slow) Error() string { return w.what + " has not ended yet" }

// get reads a resource. One that is not there is a nil Object.
func (s *Session) get(ctx context.Context, path, version string) (Object, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	a, err := s.send(ctx, request{method: http.MethodGet, path: path, version: version})
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return a.body, err
}

// current is get for one who is about to write: it waits until what somebody
// else is doing to the resource has ended, for Azure takes one write at a time.
func (s *Session) current(ctx context.Context, path, version string) (Object, error) {
	o, err := s.get(ctx, path, version)
	if err != nil || stateOf(o) != stack.Pending {
		return o, err
	}
	err = s.until(ctx, path, nil, func(ctx context.Context) (bool, http.Header, error) {
		var err error
		o, err = s.get(ctx, path, version)
		return stateOf(o) != stack.Pending, nil, err
	})
	return o, err
}

// list reads all pages of a list. A group that does not exist has an empty list,
// and exists is false.
func (s *Session) list(ctx context.Context, path, version string, query map[string]string) (items []Object, exists bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	next := request{method: http.MethodGet, path: path, version: version, query: query}
	for {
		a, err := s.send(ctx, next)
		if fault.Is(err, fault.NotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		items = append(items, a.body.list("value")...)
		link := a.body.text("nextLink")
		if link == "" {
			return items, true, nil
		}
		next = request{method: http.MethodGet, path: link}
	}
}

// put writes a resource and returns it as it is when the operation has ended.
func (s *Session) put(ctx context.Context, path, version string, body Object, etag string) (Object, error) {
	o, err := s.write(ctx, path, version, body, etag)
	s.memory.note(path, o, err)
	return o, err
}

// write is put without memory.
func (s *Session) write(ctx context.Context, path, version string, body Object, etag string) (Object, error) {
	a, err := s.send(ctx, request{method: http.MethodPut, path: path, version: version, body: body, etag: etag})
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, a, path, version); err != nil {
		return nil, err
	}
	if a.header.Get(headerAsync) == "" && stateOf(a.body) != stack.Pending && a.body != nil {
		return a.body, nil
	}
	o, err := s.get(ctx, path, version)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, fault.New(fault.Conflict, "%s: was deleted while it was written", lastSegment(path))
	}
	return o, nil
}

// remove deletes a resource; one that is not there is deleted.
func (s *Session) remove(ctx context.Context, path string) error {
	a, err := s.send(ctx, request{method: http.MethodDelete, path: path, version: networkVersion})
	if err == nil {
		err = s.await(ctx, a, path, networkVersion)
	}
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	s.memory.note(path, nil, err)
	return err
}

// post calls an action and waits for its end. An answer that is not "accepted" is the
// end, even where it names an operation as well. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/azure_operations.go.
func (s *Session) post(ctx context.Context, path string, body Object) error {
	a, err := s.send(ctx, request{method: http.MethodPost, path: path, version: networkVersion, body: body})
	switch said := a.body.in("error"); {
	case err != nil:
		return err
	case a.status == http.StatusAccepted:
		return s.await(ctx, a, path, networkVersion)
	case said.text("code") != "":
		return faultOfOperation(said, lastSegment(path))
	}
	return nil
}

const (
	headerAsync    = "Azure-AsyncOperation"
	headerLocation = "Location"
)

// await waits for the operation that a write began. Sources: Azure Resource
// Manager reference, asynchronous operations.
func (s *Session) await(ctx context.Context, a answer, path, version string) error {
	switch at := a.header.Get(headerAsync); {
	case at != "":
		return s.until(ctx, path, a.header, func(ctx context.Context) (bool, http.Header, error) {
			now, err := s.send(ctx, request{method: http.MethodGet, path: at})
			if err != nil {
				return false, nil, err
			}
			return endOf(now.body, path, now.header)
		})
	case a.status == http.StatusAccepted && a.header.Get(headerLocation) != "":
		at := a.header.Get(headerLocation)
		return s.until(ctx, path, a.header, func(ctx context.Context) (bool, http.Header, error) {
			now, err := s.send(ctx, request{method: http.MethodGet, path: at})
			return now.status != http.StatusAccepted, now.header, err
		})
	case stateOf(a.body) == stack.Pending:
		_, err := s.current(ctx, path, version)
		return err
	case stateOf(a.body) == stack.Failed:
		return &fault.Fault{Meaning: fault.Ambiguous, Text: lastSegment(path) + ": Azure accepted the change and could not do it"}
	}
	return nil
}

// endOf reads the state of an operation.
func endOf(o Object, path string, header http.Header) (bool, http.Header, error) {
	switch lower(o.text("status")) {
	case "succeeded":
		return true, nil, nil
	case "failed", "canceled":
		return true, nil, faultOfOperation(o.in("error"), lastSegment(path))
	}
	return false, header, nil
}

// until asks again and again, with the pauses that the answers say, as long as
// the session's patience lasts.
func (s *Session) until(ctx context.Context, path string, header http.Header, ask func(context.Context) (bool, http.Header, error)) error {
	limited, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	pause := firstPause
	for {
		wait := pause
		if said, ok := retryAfter(header, s.now()); ok {
			wait = said
		}
		timer := time.NewTimer(wait)
		select {
		case <-limited.Done():
			timer.Stop()
			return &slow{what: lastSegment(path)}
		case <-timer.C:
		}
		done, next, err := ask(limited)
		switch {
		case limited.Err() != nil && err != nil:
			return &slow{what: lastSegment(path)}
		case fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Throttled):
			// What became of the operation, the next question tells.
		case err != nil || done:
			return err
		}
		header, pause = next, min(2*pause, longestPause)
	}
}

// send makes one call. Errors are faults.
func (s *Session) send(ctx context.Context, r request) (answer, error) {
	gate := gateOf(r.method, r.path)
	if err := s.gates.pass(gate, s.now()); err != nil {
		return answer{}, err
	}
	a, err := s.call(ctx, r)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Meaning == fault.Throttled {
		err = s.gates.close(gate, f, s.now())
	}
	return a, err
}

// call is send without gates.
func (s *Session) call(ctx context.Context, r request) (answer, error) {
	reads := r.method == http.MethodGet
	w := reading
	var left atomic.Bool
	if !reads {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { left.Store(true) }})
		if r.method == http.MethodPut && r.etag == "" || r.method == http.MethodPost {
			ctx = azpolicy.WithRetryOptions(ctx, azpolicy.RetryOptions{MaxRetries: -1})
		}
	}
	req, err := s.prepare(ctx, r)
	if err != nil {
		return answer{}, faultOf(err, stayed)
	}
	response, err := s.pipelineFor(r.path).Do(req)
	if !reads {
		w = stayed
		if left.Load() {
			w = sentOff
		}
	}
	if err != nil {
		return answer{}, faultOf(err, w)
	}
	text, err := runtime.Payload(response)
	if err != nil {
		return answer{}, faultOf(err, w)
	}
	body, err := ParseObject(text)
	if response.StatusCode >= http.StatusBadRequest {
		return answer{}, s.refusal(response, body, w)
	}
	if err != nil {
		return answer{}, faultOf(err, w)
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

func sameHost(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && strings.EqualFold(x.Host, y.Host)
}

// retryAfter is how long an answer asks to wait: seconds, or a date.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if ms, err := strconv.Atoi(h.Get("X-Ms-Retry-After-Ms")); err == nil && ms >= 0 {
		return time.Duration(ms) * time.Millisecond, true
	}
	text := h.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// forEach runs f for every item, some at a time. f keeps its own errors.
func forEach[T any](items []T, f func(T)) {
	var group errgroup.Group
	group.SetLimit(inParallel)
	for _, item := range items {
		group.Go(func() error { f(item); return nil })
	}
	_ = group.Wait() // no function returns an error
}
