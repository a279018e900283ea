package azure

import (
	"net/http"
	"sync"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// Quotas are calls per hour, subscription and principal.
// Source: Azure Resource Manager documentation, throttling; the classic numbers.
type Quotas struct {
	Reads   int // default 12000
	Writes  int // default 1200
	Deletes int // default 15000
	// Enforce refuses calls beyond the quota; otherwise the headers end at 0.
	Enforce bool
}

func (q *Quotas) fill() {
	sim.Default(&q.Reads, 12000)
	sim.Default(&q.Writes, 1200)
	sim.Default(&q.Deletes, 15000)
}

// quota counts calls in windows of an hour.
type quota struct {
	limits Quotas

	mu    sync.Mutex
	since time.Time
	used  map[string]int
}

func (q *quota) kind(method string) (string, int) {
	switch method {
	case http.MethodGet, http.MethodHead:
		return "Reads", q.limits.Reads
	case http.MethodDelete:
		return "Deletes", q.limits.Deletes
	}
	return "Writes", q.limits.Writes
}

// take counts a call; the error is the refusal.
func (q *quota) take(method string, now time.Time) *arm.Error {
	kind, limit := q.kind(method)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used == nil || now.Sub(q.since) >= time.Hour {
		q.since, q.used = now, map[string]int{}
	}
	if q.limits.Enforce && q.used[kind] >= limit {
		return &arm.Error{
			Status: http.StatusTooManyRequests, Code: "SubscriptionRequestsThrottled", RetryAfter: max(1, int((time.Hour - now.Sub(q.since)).Seconds())),
			Message: "Number of requests for subscription and operation '" + kind + "' exceeded the backend storage limit. Please try again after the window has passed.",
		}
	}
	q.used[kind]++
	return nil
}

// left is what a header tells after the call was counted.
func (q *quota) left(method string) (string, int) {
	kind, limit := q.kind(method)
	q.mu.Lock()
	defer q.mu.Unlock()
	return kind, max(0, limit-q.used[kind])
}
