package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

const (
	// quota is the rate, in calls a minute, of every group of methods, for a project
	// and for what is regional or zonal in each of its regions. The groups are those
	// of the page; it does not say any more how much each has, which every project
	// shows for itself, so this is what the page said last.
	// Source: docs.cloud.google.com/compute/api-quota (legacy quotas for global and for
	// regional methods; the newer ones count several groups together and are higher).
	quota = 1500
	// healthQuota is that of the methods that tell the health of backends.
	healthQuota = 1200
	// burst is how many calls may be sent at once. Google counts in whole minutes, so
	// together with the refill of a minute it must not exceed the quota.
	burst = 150
)

// The groups of methods that have a quota of their own. Those with "global-" are
// for what is in no region.
const (
	groupWrite          = "write"
	groupRead           = "read"
	groupList           = "list"
	groupOperation      = "operation"
	groupHeavy          = "heavy-read" // lists of all places, and waits in regions and zones
	groupEndpointWrite  = "endpoint-write"
	groupEndpointList   = "endpoint-list"
	groupHealth         = "health"
	globalGroup         = "global-"
	operationCollection = "Operations"
)

// newLimits returns the limits of one project and region, of which a share is used.
func newLimits(share float64, now func() time.Time, timeout time.Duration) *kit.Limits {
	var all []kit.Bucket
	add := func(name string, perMinute float64) {
		all = append(all, kit.Bucket{Name: name, Rate: perMinute / 60, Burst: burst})
	}
	for _, group := range []string{groupWrite, groupRead, groupList, groupOperation, groupHeavy} {
		add(group, quota)
		add(globalGroup+group, quota)
	}
	add(groupEndpointWrite, quota)
	add(groupEndpointList, quota)
	add(groupHealth, healthQuota)
	return kit.NewLimits(kit.LimitOptions{Buckets: all, Share: share, CallTimeout: timeout, Now: now})
}

// quotaOf returns the group that a method counts for, by the path and the name of a
// request.
func quotaOf(r *http.Request, operation string) string {
	collection, verb, _ := strings.Cut(operation, ".")
	scope := globalGroup
	if strings.Contains(r.URL.Path, "/regions/") || strings.Contains(r.URL.Path, "/zones/") {
		scope = ""
	}
	switch verb {
	case "attachNetworkEndpoints", "detachNetworkEndpoints":
		return groupEndpointWrite
	case "listNetworkEndpoints":
		return groupEndpointList
	case "getHealth":
		return groupHealth
	}
	switch {
	case verb == "aggregatedList", verb == "wait" && scope == "":
		return scope + groupHeavy
	case strings.HasSuffix(collection, operationCollection):
		return scope + groupOperation
	case verb == "list", verb == "listInstances":
		return scope + groupList
	case r.Method == http.MethodGet:
		return scope + groupRead
	}
	return scope + groupWrite
}

// limited lets requests through as the limits say, and makes those again that were
// throttled.
type limited struct {
	next  http.RoundTripper
	calls *kit.Limits
	waits *kit.Limits // of calls that are meant to take long
}

// RoundTrip implements http.RoundTripper. Answers come whole.
func (l *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	operation := nameOf(r).Operation
	limits := l.calls
	if strings.HasSuffix(operation, operationCollection+".wait") {
		limits = l.waits
	}
	var answer *http.Response
	err := limits.Do(r.Context(), func(ctx context.Context) error {
		request := r.Clone(ctx)
		var err error
		if r.GetBody != nil {
			if request.Body, err = r.GetBody(); err != nil {
				return fmt.Errorf("body of the request: %w", err)
			}
		}
		if answer, err = l.next.RoundTrip(request); err != nil {
			return err
		}
		return throttledFault(answer)
	}, quotaOf(r, operation))
	if err != nil && !fault.Is(err, fault.Throttled) || answer == nil {
		return nil, err
	}
	return answer, nil
}

// throttledFault reads the whole of an answer and returns a Throttled fault if it asks
// for fewer calls.
func throttledFault(answer *http.Response) error {
	body, err := io.ReadAll(answer.Body)
	if err := answer.Body.Close(); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if answer.StatusCode < http.StatusBadRequest {
		return nil
	}
	said := refusalOf(answer.StatusCode, answer.Header, body)
	if said.Meaning != fault.Throttled {
		return nil
	}
	f := &fault.Fault{Meaning: fault.Throttled, Code: said.Code}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		f.After = time.Duration(seconds) * time.Second
	}
	return f
}
