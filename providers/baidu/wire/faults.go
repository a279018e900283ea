package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// busyDelay is when to try again after an answer that the load balancer is busy.
const busyDelay = 5 * time.Second

// errorTable classifies the answers of the APIs.
func errorTable() kit.Errors {
	return kit.Errors{
		Read: func(err error) (kit.Refusal, bool) {
			r, ok := errors.AsType[*refusedError](err)
			if !ok {
				return kit.Refusal{}, false
			}
			return readRefusal(r.status, r.body), true
		},
		Meaning: meaningOf, Cause: codeTable().Cause, Conflict: fault.Conflict, Busy: busyDelay,
	}
}

// readRefusal reads the answer of a refused call.
// Source: https://cloud.baidu.com/doc/BLB/s/2jwvxnyvb.
func readRefusal(status int, body []byte) kit.Refusal {
	var said struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &said) // what is no JSON says nothing more than the status
	r := kit.Refusal{Status: status, Code: said.Code, Text: said.Message}
	if r.Text == "" {
		r.Text = http.StatusText(status)
	}
	return r
}

// codeTable returns the meanings of refusals. Others follow from the status.
// Source: https://cloud.baidu.com/doc/BLB/s/2jwvxnyvb, https://cloud.baidu.com/doc/EIP/s/Ejwvz31p1.
func codeTable() kit.Codes {
	return kit.Codes{
		Meanings: map[string]fault.Meaning{
			"LastOperationNotFinished":  fault.Pending,
			"NoSuchObject":              fault.NotFound,
			"EipNotFound":               fault.NotFound,
			"BackendServerAlreadyExist": fault.Exists,
			"ListenerAlreadyExist":      fault.Exists,
			"ListenerExceeded":          fault.Quota,
			"ServiceBlocked":            fault.Denied,
			"OptInRequired":             fault.Denied,
			"AccessDenied":              fault.Denied,
			"InvalidAccessKeyId":        fault.Denied,
			"SignatureDoesNotMatch":     fault.Denied,
			"InvalidHTTPAuthHeader":     fault.Denied,
			"RequestExpired":            fault.Denied,
			"PreconditionFailed":        fault.Conflict,
			"InternalError":             fault.Unavailable,
			"MalformedJSON":             fault.Internal,
			"InappropriateJSON":         fault.Invalid,
			"InvalidURI":                fault.Internal,
		},
		Statuses: map[int]fault.Meaning{http.StatusRequestEntityTooLarge: fault.Quota},
		Causes: map[string]fault.Cause{
			"InvalidAccessKeyId": fault.Unauthenticated, "SignatureDoesNotMatch": fault.Unauthenticated, "InvalidHTTPAuthHeader": fault.Unauthenticated, "RequestExpired": fault.Unauthenticated,
			"OptInRequired": fault.Account, "ServiceBlocked": fault.Account, "AccessDenied": fault.Unauthorized,
		},
	}
}

// meaningOf returns the meaning of a refusal. Codes of addresses that do not exist have other beginnings.
// Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/load_balancer_eip.go.
func meaningOf(r kit.Refusal) (fault.Meaning, bool) {
	if strings.Contains(r.Code, "EipNotFound") {
		return fault.NotFound, true
	}
	return codeTable().Meaning(r)
}

// isStale reports whether a token was used for a resource that was deleted since.
func isStale(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return ok && f.Code == codeStale
}

// refusalOf is what metrics count of a refused call.
func refusalOf(status int, _ http.Header, body []byte) providers.Answer {
	return errorTable().Answer(readRefusal(status, body))
}
