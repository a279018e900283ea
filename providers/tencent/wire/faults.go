package wire

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// busyDelay is when to try again after an answer that the load balancer is busy.
const busyDelay = 5 * time.Second

// Codes of refusals that the session acts on.
const (
	codeTokenUsed = "InvalidParameter.ClientTokenLimitExceeded"
)

// isOfClient reports whether the SDK made a code itself, because there was no answer that it could
// read.
func isOfClient(code string) bool { return strings.HasPrefix(code, "ClientError") }

// codeOf returns the code of a fault; empty if it has none.
func codeOf(err error) string {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.Code
	}
	return ""
}

// errorTable classifies the answers of the API.
func errorTable() kit.Errors {
	return kit.Errors{
		Read: func(err error) (kit.Refusal, bool) {
			r, ok := refusedOf(err)
			if !ok {
				return kit.Refusal{}, false
			}
			return kit.Refusal{Code: r.Code, Text: r.Message, After: pauseAfter(r.Code)}, true
		},
		Meaning: meaningOf, Cause: causeOf, Conflict: fault.Conflict, Busy: busyDelay,
	}
}

// pauseAfter returns how long a refusal asks to wait.
func pauseAfter(code string) time.Duration {
	if code == "FailedOperation.FrequencyCheckRisk" {
		return deletionWindow
	}
	return 0
}

// codeTable returns the meanings of refusals. A code that is not in it counts as its beginning, up to a dot.
// Source: tencentcloud-sdk-go:tencentcloud/clb/v20180317/errors.go.
func codeTable() kit.Codes {
	return kit.Codes{Meanings: map[string]fault.Meaning{
		"FailedOperation":                        fault.Ambiguous,
		"FailedOperation.ResourceInOperating":    fault.Pending,
		"FailedOperation.InvalidLBStatus":        fault.Pending,
		"FailedOperation.ResourceInCloning":      fault.Pending,
		"ResourceInCloning":                      fault.Pending,
		"FailedOperation.RequestTimeout":         fault.Ambiguous,
		"FailedOperation.RateLimitExceeded":      fault.Throttled,
		"FailedOperation.FrequencyCheckRisk":     fault.Throttled,
		"FailedOperation.TargetNumCheckRisk":     fault.Conflict,
		"FailedOperation.TrafficCheckRisk":       fault.Conflict,
		"FailedOperation.EipTrafficCheckRisk":    fault.Conflict,
		"FailedOperation.NoListenerInLB":         fault.NotFound,
		"FailedOperation.InsufficientBalance":    fault.Quota,
		"FailedOperation.":                       fault.Conflict,
		"InvalidParameter":                       fault.Invalid,
		"InvalidParameter.LBIdNotFound":          fault.NotFound,
		"InvalidParameter.ListenerIdNotFound":    fault.NotFound,
		"InvalidParameter.LocationNotFound":      fault.NotFound,
		"InvalidParameter.PortCheckFailed":       fault.Exists,
		"InvalidParameter.ProtocolCheckFailed":   fault.Exists,
		codeTokenUsed:                            fault.Conflict,
		"InvalidParameterValue":                  fault.Invalid,
		"InvalidParameterValue.Duplicate":        fault.Exists,
		"MissingParameter":                       fault.Invalid,
		"UnknownParameter":                       fault.Invalid,
		"UnsupportedOperation":                   fault.Invalid,
		"OperationDenied":                        fault.Conflict,
		"ResourceNotFound":                       fault.NotFound,
		"ResourceInUse":                          fault.InUse,
		"ResourceInsufficient":                   fault.Quota,
		"ResourcesSoldOut":                       fault.Quota,
		"LimitExceeded":                          fault.Quota,
		"RequestLimitExceeded":                   fault.Throttled,
		"AuthFailure":                            fault.Denied,
		"UnauthorizedOperation":                  fault.Denied,
		"InternalError":                          fault.Unavailable,
		"DryRunOperation":                        fault.Internal,
		"InvalidAction":                          fault.Internal,
		"NoSuchVersion":                          fault.Internal,
		"UnsupportedRegion":                      fault.Invalid,
		"ResourceUnavailable":                    fault.Unavailable,
		"FailedOperation.CertificateNotFound":    fault.Invalid,
		"InvalidParameter.InvalidFilter":         fault.Internal,
		"InvalidParameter.FormatError":           fault.Invalid,
		"UnsupportedOperation.TargetSourceLimit": fault.Invalid,
	}, Causes: map[string]fault.Cause{
		"AuthFailure":                         fault.Unauthenticated,
		"FailedOperation.InsufficientBalance": fault.Balance,
		"ResourceInsufficient":                fault.Capacity,
		"ResourcesSoldOut":                    fault.Capacity,
	}}
}

func meaningOf(r kit.Refusal) (fault.Meaning, bool) {
	table := codeTable()
	if m, ok := table.Meaning(r); ok {
		return m, true
	}
	begin, rest, dotted := strings.Cut(r.Code, ".")
	if dotted && rest != "" {
		if m, ok := table.Meaning(kit.Refusal{Code: begin + "."}); ok {
			return m, true
		}
	}
	r.Code = begin
	return table.Meaning(r)
}

// causeOf returns what has to change before a refused call can succeed.
func causeOf(r kit.Refusal) fault.Cause {
	if cause := codeTable().Cause(r); cause != fault.Unspecified {
		return cause
	}
	r.Code, _, _ = strings.Cut(r.Code, ".")
	return codeTable().Cause(r)
}

// refusalPattern finds the code of a refusal at the beginning of an answer, which may be cut.
var refusalPattern = regexp.MustCompile(`^\s*\{\s*"Response"\s*:\s*\{\s*"Error"\s*:\s*(\{[^{}]*\})`)

// refusalIn reads an answer, or its beginning, as a refusal; without a code it is none.
func refusalIn(status int, body []byte) kit.Refusal {
	r := kit.Refusal{Status: status}
	found := refusalPattern.FindSubmatch(body)
	if found == nil {
		return r
	}
	var said struct {
		Code    string `json:"Code"`
		Message string `json:"Message"`
	}
	if json.Unmarshal(found[1], &said) == nil {
		r.Code, r.Text = said.Code, said.Message
	}
	return r
}
