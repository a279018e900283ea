package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/service/lease"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestLeaseIsChecked: a leader whose Lease was not renewed for long is unhealthy; a
// standby replica is healthy.
func TestLeaseIsChecked(t *testing.T) {
	now := time.Duration(0)
	f := lease.New(lease.Options{Namespace: "kube-system", Name: "ccm", Duration: time.Hour, Now: func() time.Duration { return now }})
	if err := checkLease(f, time.Minute, true); err != nil {
		t.Errorf("there was no renewal yet: %v", err)
	}
	answer := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"ccm"},"spec":{"holderIdentity":"me"}}`
	transport := f.Wrap(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer))}, nil
	}))
	response, err := transport.RoundTrip(httptest.NewRequest(http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/ccm", nil))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // it is in memory
	for age, want := range map[time.Duration]bool{time.Minute: true, 2 * time.Minute: false} {
		now = age
		if err := checkLease(f, time.Minute, true); (err == nil) != want {
			t.Errorf("age %v: %v", age, err)
		}
		if err := checkLease(f, time.Minute, false); err != nil {
			t.Errorf("a standby replica of age %v: %v", age, err)
		}
	}
}

// TestSinceBoot: the clock of the fence advances.
func TestSinceBoot(t *testing.T) {
	if a, b := sinceBoot(), sinceEpoch(); a <= 0 || b <= 0 || sinceBoot() < a {
		t.Errorf("got %v, %v", a, b)
	}
}
