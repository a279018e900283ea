package meter

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

// notes are the answers in the order in which they were reported.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) observe(_ context.Context, c providers.Call) func(providers.Answer) {
	return func(a providers.Answer) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.all = append(n.all, c.Operation+" "+a.Code)
	}
}

func testLanguage() Language {
	return Language{
		Name: func(r *http.Request) providers.Call { return providers.Call{Operation: r.Method} },
		Refusal: func(status int, _ http.Header, body []byte) providers.Answer {
			return providers.Answer{Code: strconv.Itoa(status) + string(body[:min(len(body), 4)]), Meaning: fault.Internal}
		},
	}
}

func sendRequest(t *testing.T, client *http.Client, url string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// TestEveryRequestCounts: also one that net/http sends again by itself because the
// connection was closed, and one that is never answered.
func TestEveryRequestCounts(t *testing.T) {
	var seen atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n := seen.Add(1); n != 2 && n < 4 {
			_, _ = io.WriteString(w, "fine")
			return
		}
		panic(http.ErrAbortHandler) // closes the connection
	}))
	defer server.Close()
	var told notes
	wire := &http.Transport{}
	client := &http.Client{Transport: New(wire, told.observe, testLanguage())}
	for range 2 {
		if body, err := sendRequest(t, client, server.URL); err != nil || body != "fine" {
			t.Fatalf("got %q, %v", body, err)
		}
	}
	wire.CloseIdleConnections() // so that the last one uses a new connection, and is not sent again
	if _, err := sendRequest(t, client, server.URL); err == nil {
		t.Error("want no answer")
	}
	want := []string{"GET ", "GET " + providers.NoAnswer, "GET ", "GET " + providers.NoAnswer}
	if d := cmp.Diff(want, told.all); d != "" || int(seen.Load()) != len(want) {
		t.Errorf("the server saw %d requests; told (-want +got):\n%s", seen.Load(), d)
	}
}

// TestRefusalInside: a refusal with status 200 is counted under its code, once for each
// request, and the caller reads all of it. A long answer that is none is counted as a success.
func TestRefusalInside(t *testing.T) {
	long := strings.Repeat("x", 2*insideLimit)
	answers := []string{`{"Error": {"Code": "LimitExceeded"}, "Rest": "` + long + `"}`, `{"Error": {"Code": "LimitExceeded"}}`, `{"Items": "` + long + `"}`, ""}
	var seen atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answers[seen.Add(1)-1])
	}))
	defer server.Close()
	var told notes
	l := testLanguage()
	l.Inside = func(_ http.Header, body []byte) (providers.Answer, bool) {
		if len(body) > insideLimit {
			t.Errorf("%d bytes were read", len(body))
		}
		return providers.Answer{Code: "LimitExceeded", Meaning: fault.Quota}, strings.HasPrefix(string(body), `{"Error": {"Code": "LimitExceeded"}`)
	}
	client := &http.Client{Transport: New(&http.Transport{}, told.observe, l)}
	for _, want := range answers {
		if body, err := sendRequest(t, client, server.URL); err != nil || body != want {
			t.Errorf("read %d bytes, %v; want %d", len(body), err, len(want))
		}
	}
	if d := cmp.Diff([]string{"GET LimitExceeded", "GET LimitExceeded", "GET ", "GET "}, told.all); d != "" {
		t.Errorf("counted (-want +got):\n%s", d)
	}
}

// TestRefusalIsWhole: the caller reads the whole of a refusal, however long.
func TestRefusalIsWhole(t *testing.T) {
	long := strings.Repeat("refused ", 3*refusalLimit/8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, long)
	}))
	defer server.Close()
	var told notes
	body, err := sendRequest(t, &http.Client{Transport: New(server.Client().Transport, told.observe, testLanguage())}, server.URL)
	if err != nil || body != long {
		t.Errorf("got %d of %d bytes, %v", len(body), len(long), err)
	}
	if d := cmp.Diff([]string{"GET 409refu"}, told.all); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestWithoutObserver: without an observer requests pass as they are.
func TestWithoutObserver(t *testing.T) {
	next := &answering{}
	request := httptest.NewRequest(http.MethodPut, "/", nil)
	if _, err := New(next, nil, Language{}).RoundTrip(request); err != nil || next.got != request { //nolint:bodyclose // it has none
		t.Errorf("got %v, %v", next.got, err)
	}
}

// TestClosedFence: a request whose fence is closed when it is to be sent is not sent, with
// and without an observer.
func TestClosedFence(t *testing.T) {
	closed := errors.New("the Lease is over")
	observe := func(context.Context, providers.Call) func(providers.Answer) { return func(providers.Answer) {} }
	for _, o := range []providers.Observe{nil, observe} {
		next := &answering{}
		ctx := providers.WithFence(t.Context(), func() error { return closed })
		language := Language{Name: func(*http.Request) providers.Call { return providers.Call{} }}
		_, err := New(next, o, language).RoundTrip(httptest.NewRequestWithContext(ctx, http.MethodPut, "/", nil)) //nolint:bodyclose // there is no answer
		if !errors.Is(err, closed) || !fault.Is(err, fault.Unavailable) || next.got != nil {
			t.Errorf("got %v, sent %v", err, next.got)
		}
	}
}

type answering struct{ got *http.Request }

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a.got = r
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// TestPages: a page of HTML is an error with its status, whatever it is, and is counted once. An answer
// of the cloud stays, and so does a page that asks for fewer requests.
func TestPages(t *testing.T) {
	for _, tc := range []struct {
		form   string
		status int
		page   bool
		told   string
	}{
		{"text/html; charset=utf-8", http.StatusOK, true, "GET "},
		{"text/html", http.StatusNotFound, true, "GET 404<htm"},
		{"TEXT/HTML", http.StatusBadGateway, true, "GET 502<htm"},
		{"text/html", http.StatusTooManyRequests, false, "GET 429<htm"},
		{"application/json", http.StatusNotFound, false, "GET 404<htm"},
		{"", http.StatusNotFound, false, "GET 404<htm"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{tc.form}
			w.WriteHeader(tc.status)
			_, _ = io.WriteString(w, "<html>")
		}))
		var told notes
		body, err := sendRequest(t, &http.Client{Transport: New(server.Client().Transport, told.observe, testLanguage())}, server.URL)
		server.Close()
		page, is := errors.AsType[*fault.PageError](err)
		if is != tc.page || is && (page.Status != tc.status || page.Operation != http.MethodGet) || !is && (body != "<html>" || err != nil) {
			t.Errorf("%q %d: got %q, %v", tc.form, tc.status, body, err)
		}
		if d := cmp.Diff([]string{tc.told}, told.all); d != "" {
			t.Errorf("%q %d: counted (-want +got):\n%s", tc.form, tc.status, d)
		}
	}
}
