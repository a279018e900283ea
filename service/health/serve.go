package health

import (
	"fmt"
	"net/http"
	"strings"
)

// ServeReady answers /readyz: 200 or 503, and in words what it follows from. The
// text names no Service and no account.
func (h *Health) ServeReady(w http.ResponseWriter, _ *http.Request) {
	r := h.Ready()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !r.Ready() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	// A client that has disconnected is not an error.
	_, _ = w.Write([]byte(r.String()))
}

// String is the answer of /readyz.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString(map[bool]string{true: "ready", false: "not ready"}[r.Ready()])
	b.WriteString(map[bool]string{true: ": leader\n", false: ": standby, another process leads or none yet\n"}[r.Leads])
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "[%s] %s %s\n", map[bool]string{true: "+", false: "-"}[c.Well], c.Name, c.Says)
	}
	return b.String()
}
