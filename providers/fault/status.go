package fault

// HTTP statuses that have the same meaning in every API.
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

// OfStatus returns the meaning of the status of an HTTP answer without a mapped code;
// false: none. The meaning of 409 depends on the API.
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
