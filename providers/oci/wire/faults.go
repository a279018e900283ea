package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
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
	return kit.Errors{Read: refusalIn, Meaning: codeTable().Meaning, Cause: codeTable().Cause, Limit: limitOf, Conflict: fault.Pending, Busy: busyDelay}
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

// codeTable returns the codes of all APIs.
// Source: https://docs.oracle.com/en-us/iaas/Content/API/References/apierrors.htm
func codeTable() kit.Codes {
	return kit.Codes{
		Meanings: map[string]fault.Meaning{
			"LimitExceeded": fault.Quota, "QuotaExceeded": fault.Quota, "OutOfCapacity": fault.Quota, "OutOfHostCapacity": fault.Quota,
			"IncorrectState": fault.Pending, "Conflict": fault.Pending, "RelatedResourceIncorrectState": fault.Pending,
			codeTokenUsed: fault.Conflict, "NoEtagMatch": fault.Conflict,
			"NotAuthorizedOrResourceAlreadyExists":   fault.Exists,
			"RelatedResourceNotAuthorizedOrNotFound": fault.Invalid, "InvalidParameter": fault.Invalid, "MissingParameter": fault.Invalid,
			"CannotParseRequest": fault.Invalid, "ParameterTooLarge": fault.Invalid,
			"NotAuthorizedOrNotFound": fault.NotFound, "NotFound": fault.NotFound,
			"NotAuthenticated": fault.Denied, "NotAuthorized": fault.Denied, "SignUpRequired": fault.Denied,
			"TooManyRequests": fault.Throttled,
		},
		Causes: map[string]fault.Cause{
			"NotAuthenticated": fault.Unauthenticated, "SignUpRequired": fault.Account,
			"OutOfCapacity": fault.Capacity, "OutOfHostCapacity": fault.Capacity,
		},
	}
}

// limitOf finds the quotas of a tenancy in the forms of the several services.
// Sources: oracle-quickstart/oci-cloudnative issue 230; oracle/terraform-provider-oci issue 883;
// Rapha-Borges/oke-free issue 12.
func limitOf(said kit.Refusal) fault.Limit {
	return kit.LimitIn(said, quotasExceeded, quotaReached, quotaOfMost)
}

var (
	quotasExceeded = regexp.MustCompile(`(?:limits|quotas) were exceeded: (?P<name>[\w-]+(?:, [\w-]+)*)`)
	quotaReached   = regexp.MustCompile(`Limit (?P<name>[\w-]+) of (?P<most>\d+) has been`)
	quotaOfMost    = regexp.MustCompile(`limit of (?P<most>\d+) (?:for )?(?P<name>.+?) (?:is|has been) exceeded`)
)

// tokenUsed reports whether a refusal says that a retry token cannot be used again.
func tokenUsed(err error) bool {
	f, is := errors.AsType[*fault.Fault](err)
	return is && f.Code == codeTokenUsed
}

// refusalOf is what metrics count of a refused call.
func refusalOf(status int, _ http.Header, body []byte) providers.Answer {
	var said struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(body, &said) // what is no JSON says nothing more than the status
	return errorTable().Answer(kit.Refusal{Status: status, Code: said.Code})
}
