package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/oracle/oci-go-sdk/v65/common"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// busyDelay is when to ask again after an answer that says to wait and not how long.
const busyDelay = 2 * time.Second

// errorTable gives the SDK's errors their meanings. 409 without a code says that what the
// call is about is busy.
func errorTable() kit.Errors {
	return kit.Errors{Read: refusalIn, Meaning: meaningOf, Cause: causeOf, Conflict: fault.Pending, Busy: busyDelay}
}

// refusalIn takes the cloud's answer out of an error of the SDK.
func refusalIn(err error) (kit.Refusal, bool) {
	var said common.ServiceError
	if !errors.As(err, &said) {
		return kit.Refusal{}, false
	}
	return kit.Refusal{Status: said.GetHTTPStatusCode(), Code: said.GetCode(), Text: said.GetMessage()}, true
}

// codeTokenUsed is the refusal of a retry token that was used for something that does not exist
// any more. Source: API reference, error 409 InvalidatedRetryToken.
const codeTokenUsed = "InvalidatedRetryToken"

// meaningOf is the one table from codes to meanings.
// Source: https://docs.oracle.com/en-us/iaas/Content/API/References/apierrors.htm
func meaningOf(r kit.Refusal) (fault.Meaning, bool) {
	switch r.Code {
	case "LimitExceeded", "QuotaExceeded", "OutOfCapacity", "OutOfHostCapacity":
		return fault.Quota, true
	case "IncorrectState", "Conflict", "RelatedResourceIncorrectState":
		return fault.Pending, true
	case codeTokenUsed:
		return fault.Conflict, true
	case "NotAuthorizedOrResourceAlreadyExists":
		return fault.Exists, true
	case "NoEtagMatch":
		return fault.Conflict, true
	case "RelatedResourceNotAuthorizedOrNotFound", "InvalidParameter", "MissingParameter", "CannotParseRequest", "ParameterTooLarge":
		return fault.Invalid, true
	case "NotAuthorizedOrNotFound", "NotFound":
		return fault.NotFound, true
	case "NotAuthenticated", "NotAuthorized", "SignUpRequired":
		return fault.Denied, true
	case "TooManyRequests":
		return fault.Throttled, true
	}
	return fault.Internal, false
}

// tokenUsed reports whether a refusal says that a retry token cannot be used again.
func tokenUsed(err error) bool {
	f, is := errors.AsType[*fault.Fault](err)
	return is && f.Code == codeTokenUsed
}

// causeOf says what has to change before a refused call can succeed.
// Source: https://docs.oracle.com/en-us/iaas/Content/API/References/apierrors.htm
func causeOf(r kit.Refusal) fault.Cause {
	switch r.Code {
	case "NotAuthenticated":
		return fault.Unauthenticated
	case "SignUpRequired":
		return fault.Account
	default:
		return fault.Unspecified
	}
}

// refusalOf is what metrics count of a refused call.
func refusalOf(status int, _ http.Header, body []byte) providers.Answer {
	var said struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(body, &said) // what is no JSON says nothing more than the status
	return errorTable().Answer(kit.Refusal{Status: status, Code: said.Code})
}
