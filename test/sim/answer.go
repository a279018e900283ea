package sim

import (
	"context"
	"net/http"
	"time"
)

// HangUp closes the connection without an answer. HTTP/2 cannot be hijacked; there
// the standard library offers no other way than this abort.
func HangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	// The connection is closed either way.
	_ = conn.Close()
}

// Delay waits for the duration of a call, unless its client disconnects before.
func Delay(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
