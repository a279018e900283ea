package kit_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// TestWrite distinguishes calls that were sent from calls that were not, answered or not.
func TestWrite(t *testing.T) {
	cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer cut.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, tc := range map[string]struct {
		url  string
		want kit.Progress
	}{"cut after it was sent": {cut.URL, kit.Sent}, "nothing listens": {gone.URL, kit.NotSent}} {
		t.Run(name, func(t *testing.T) {
			got, err := kit.Write(t.Context(), func(ctx context.Context) error {
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, tc.url, nil)
				if err != nil {
					return err
				}
				answer, err := http.DefaultClient.Do(r)
				if err == nil {
					_ = answer.Body.Close()
				}
				return err
			})
			if got != tc.want || err == nil {
				t.Errorf("progress %d, %v; want %d", got, err, tc.want)
			}
		})
	}
}

// TestWriteFenced: a writing call is not made once the fence is closed.
func TestWriteFenced(t *testing.T) {
	ctx := providers.WithFence(t.Context(), func() error { return errors.New("the Lease is over") })
	got, err := kit.Write(ctx, func(context.Context) error {
		t.Error("the call was made")
		return nil
	})
	if got != kit.NotSent || !fault.Is(err, fault.Unavailable) {
		t.Errorf("progress %d, %v", got, err)
	}
}

// refusalError is an error of an SDK.
type refusalError struct{ kit.Refusal }

// Error implements error.
func (r *refusalError) Error() string { return r.Text }

// TestErrors: the table decides, then the status; a server's failure says nothing of
// what became of the call.
func TestErrors(t *testing.T) {
	table := kit.Errors{
		Read: func(err error) (kit.Refusal, bool) {
			var r *refusalError
			if !errors.As(err, &r) {
				return kit.Refusal{}, false
			}
			return r.Refusal, true
		},
		Meaning: func(r kit.Refusal) (fault.Meaning, bool) {
			switch r.Code {
			case "Taken":
				return fault.Exists, true
			case "Busy":
				return fault.Pending, true
			case "Broken":
				return fault.Unavailable, true
			}
			return fault.Internal, false
		},
		Conflict: fault.InUse, Busy: 3 * time.Second,
	}
	for name, tc := range map[string]struct {
		err   error
		p     kit.Progress
		want  fault.Meaning
		after time.Duration
	}{
		"a code of the table":        {&refusalError{kit.Refusal{Code: "Taken", Status: 400}}, kit.Sent, fault.Exists, 0},
		"busy without a time":        {&refusalError{kit.Refusal{Code: "Busy", Status: 409}}, kit.Sent, fault.Pending, 3 * time.Second},
		"busy with one":              {&refusalError{kit.Refusal{Code: "Busy", Status: 409, After: time.Minute}}, kit.Sent, fault.Pending, time.Minute},
		"another conflict":           {&refusalError{kit.Refusal{Code: "?", Status: 409}}, kit.Sent, fault.InUse, 0},
		"too many":                   {&refusalError{kit.Refusal{Status: 429, After: time.Second}}, kit.Reading, fault.Throttled, time.Second},
		"a server that failed":       {&refusalError{kit.Refusal{Status: 500}}, kit.Sent, fault.Ambiguous, 0},
		"one that failed by code":    {&refusalError{kit.Refusal{Code: "Broken", Status: 400}}, kit.Sent, fault.Ambiguous, 0},
		"one that failed at reading": {&refusalError{kit.Refusal{Status: 502}}, kit.Reading, fault.Unavailable, 0},
		"no answer":                  {errors.New("cut"), kit.Sent, fault.Ambiguous, 0},
		"not sent":                   {errors.New("no route"), kit.NotSent, fault.Unavailable, 0},
		"a fault stays":              {fault.New(fault.Quota, "full"), kit.Sent, fault.Quota, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := table.Fault(tc.err, tc.p)
			if fault.Of(got) != tc.want || fault.After(got) != tc.after {
				t.Errorf("got %v after %v, want %v after %v", fault.Of(got), fault.After(got), tc.want, tc.after)
			}
		})
	}
	if table.Fault(nil, kit.Sent) != nil {
		t.Error("no error became one")
	}
}

// TestPageIsNoAnswer: a page of HTML says nothing of what became of the call, whatever its status.
func TestPageIsNoAnswer(t *testing.T) {
	table := kit.Errors{Read: func(error) (kit.Refusal, bool) { return kit.Refusal{Status: http.StatusNotFound}, true }}
	page := &fault.PageError{Operation: "DeleteThing", Status: http.StatusNotFound}
	for progress, want := range map[kit.Progress]fault.Meaning{kit.Reading: fault.Unavailable, kit.Sent: fault.Ambiguous} {
		err := table.Fault(&url.Error{Op: "Post", URL: "https://cloud.example", Err: page}, progress)
		if !fault.Is(err, want) || err.Error() != page.Error() {
			t.Errorf("progress %d: got %v: %v", progress, fault.Of(err), err)
		}
	}
}
