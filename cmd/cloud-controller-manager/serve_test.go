package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestRenewals: a leader whose lease nobody has renewed for long is not well; one
// that stands by is.
func TestRenewals(t *testing.T) {
	const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager"
	status := http.StatusOK
	r := &renewals{path: "/namespaces/kube-system/leases/cloud-controller-manager", limit: time.Minute}
	wire := r.listen(roundTripper(func(*http.Request) (*http.Response, error) {
		if status == 0 {
			return nil, errors.New("cut")
		}
		return &http.Response{StatusCode: status, Body: http.NoBody}, nil
	}))
	send := func(method, path string, answer int) {
		status = answer
		response, err := wire.RoundTrip(httptest.NewRequest(method, path, nil))
		if err == nil {
			_ = response.Body.Close() // it is empty
		}
	}
	now, later := time.Now(), time.Now().Add(time.Hour)
	send(http.MethodGet, path, http.StatusOK)
	send(http.MethodPut, path, http.StatusConflict)
	send(http.MethodPut, path, 0)
	send(http.MethodPut, path+"-of-another", http.StatusOK)
	if err := r.check(later, true); err != nil {
		t.Errorf("no renewal was seen yet: %v", err)
	}
	send(http.MethodPut, path, http.StatusOK)
	if err := r.check(now.Add(time.Minute), true); err != nil {
		t.Errorf("the lease is fresh: %v", err)
	}
	if err := r.check(later, true); err == nil {
		t.Error("the lease is an hour old")
	}
	if err := r.check(later, false); err != nil {
		t.Errorf("who stands by renews nothing: %v", err)
	}
}
