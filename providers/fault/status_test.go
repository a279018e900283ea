package fault

import "testing"

// TestOfStatus: what each status means, and that others mean nothing.
func TestOfStatus(t *testing.T) {
	for status, want := range map[int]Meaning{
		400: Invalid, 401: Denied, 403: Denied, 404: NotFound, 409: InUse, 410: NotFound, 412: Conflict, 429: Throttled, 500: Unavailable, 503: Unavailable,
	} {
		if got, ok := OfStatus(status, InUse); !ok || got != want {
			t.Errorf("%d: %v, %t; want %v", status, got, ok, want)
		}
	}
	for _, status := range []int{0, 200, 302, 418} {
		if got, ok := OfStatus(status, InUse); ok || got != Internal {
			t.Errorf("%d: %v, %t; want nothing in particular", status, got, ok)
		}
	}
}
