package fault

// Statuses of HTTP that mean the same whoever answers.
const (
	statusBadRequest         = 400
	statusUnauthorized       = 401
	statusForbidden          = 403
	statusNotFound           = 404
	statusConflict           = 409
	statusGone               = 410
	statusPreconditionFailed = 412
	statusTooManyRequests    = 429
	statusServerError        = 500
)

// OfStatus is what the status of an HTTP answer means whose code nobody has mapped;
// false: nothing in particular. What 409 means is each API's own affair.
// Sources: RFC 9110, section 15; RFC 6585, section 4.
func OfStatus(status int, conflict Meaning) (Meaning, bool) {
	switch {
	case status == statusTooManyRequests:
		return Throttled, true
	case status == statusUnauthorized || status == statusForbidden:
		return Denied, true
	case status == statusNotFound || status == statusGone:
		return NotFound, true
	case status == statusConflict:
		return conflict, true
	case status == statusPreconditionFailed:
		return Conflict, true
	case status == statusBadRequest:
		return Invalid, true
	case status >= statusServerError:
		return Unavailable, true
	}
	return Internal, false
}
