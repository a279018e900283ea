package fault

import "errors"

// Cause is what has to change before a refused call can succeed. It decides which
// advice users get; the Meaning decides what the loop does.
type Cause int

const (
	// Unspecified means that the meaning says it all.
	Unspecified Cause = iota
	// Unauthenticated means that the cloud does not accept the credentials: they are
	// missing, malformed, revoked or expired.
	Unauthenticated
	// Unauthorized means that the credentials are valid and lack the right.
	Unauthorized
	// Locked means that a lock or a deletion protection forbids the change, whatever
	// the rights of the caller.
	Locked
	// Policy means that a rule of the cloud organisation forbids it.
	Policy
	// Account means that the account cannot use the service at all: it is disabled, not
	// subscribed, or the API is not enabled.
	Account
	// Addresses means that the subnet or pool has no free address. No quota helps.
	Addresses
	// Capacity means that the cloud has no capacity left at this place, whatever the quota.
	Capacity
	// Balance means that the account has to be paid for first.
	Balance
	// Held means that another resource of the cloud has the address.
	Held
	// Full means that one resource has reached a limit of its own, which cannot be raised.
	Full
)

// CauseOf returns the cause of the first fault in the chain of an error.
func CauseOf(err error) Cause {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Cause
	}
	return Unspecified
}

// causeOfStatus is the cause of a refusal whose code is in no table.
func causeOfStatus(status int) Cause {
	switch status {
	case statusUnauthorized:
		return Unauthenticated
	case statusForbidden:
		return Unauthorized
	default:
		return Unspecified
	}
}

// CauseOfStatus returns the cause that the status of an HTTP answer implies for a
// fault of the meaning. Only denied calls have one: some APIs answer 403 to requests
// beyond a quota.
func CauseOfStatus(status int, m Meaning) Cause {
	if m != Denied {
		return Unspecified
	}
	return causeOfStatus(status)
}
