package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// busyDelay is when to try again after an answer that says to wait and not how long.
const busyDelay = 15 * time.Second

// errorTable classifies the answers of the APIs. 409 means that the load balancer is busy,
// unless the code says something else.
func errorTable() kit.Errors {
	return kit.Errors{Read: refusalIn, Meaning: meaningOf, Cause: causeOf, Conflict: fault.Pending, Busy: busyDelay}
}

func refusalIn(err error) (kit.Refusal, bool) {
	var r *refusedError
	if !errors.As(err, &r) {
		return kit.Refusal{}, false
	}
	return readRefusal(r.status, r.header, r.body), true
}

// readRefusal reads an answer in the forms of the VPC API and of IAM.
// Source: VPC API reference, "Error handling"; IAM Identity Services API reference, "Error handling".
func readRefusal(status int, header http.Header, body []byte) kit.Refusal {
	var said struct {
		Errors []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"errors"`
		Code    string `json:"errorCode"`
		Message string `json:"errorMessage"`
	}
	_ = json.Unmarshal(body, &said) // what is no JSON says nothing more than the status
	r := kit.Refusal{Status: status, Code: said.Code, Text: said.Message}
	if len(said.Errors) > 0 {
		r.Code, r.Text = said.Errors[0].Code, said.Errors[0].Message
	}
	if r.Text == "" {
		r.Text = http.StatusText(status)
	}
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil {
		r.After = time.Duration(seconds) * time.Second
	}
	return r
}

// codeMeanings is the table from codes to meanings. Others follow from the status.
// Sources: ibm-cloud-docs/vpc, lb-ts-409.md; terraform-provider-ibm 3006 and 3204.
func codeMeanings() map[string]fault.Meaning {
	return map[string]fault.Meaning{
		"load_balancer_update_conflict": fault.Pending,
		"load_balancer_duplicate_name":  fault.Exists,
		"pool_duplicate_name":           fault.Exists,
		"listener_duplicate_port":       fault.Exists,
		"pool_in_use":                   fault.InUse,
		"precondition_failed":           fault.Conflict,
		"over_quota":                    fault.Quota,
		"over_rate_limit":               fault.Throttled,
		"not_authenticated":             fault.Denied,
		"not_authorized":                fault.Denied,
	}
}

func meaningOf(r kit.Refusal) (fault.Meaning, bool) {
	if strings.HasSuffix(r.Code, "_not_found") {
		return fault.NotFound, true
	}
	m, ok := codeMeanings()[r.Code]
	return m, ok
}

// causeOf returns what has to change before a refused call can succeed.
func causeOf(r kit.Refusal) fault.Cause {
	if r.Code == "not_authenticated" || strings.HasPrefix(r.Code, "BXNIM") {
		return fault.Unauthenticated
	}
	return fault.Unspecified
}

// loginError returns the error of a call that got no token. The call was not sent.
func loginError(err error) error {
	if known, ok := errors.AsType[*fault.Fault](err); ok {
		return known
	}
	var refused *core.AuthenticationError
	if !errors.As(err, &refused) || refused.Response == nil {
		return &fault.Fault{Meaning: fault.Unavailable, Text: "no token of IAM: " + err.Error(), Err: err}
	}
	said := readRefusal(refused.Response.StatusCode, refused.Response.GetHeaders(), refused.Response.RawResult)
	if said.Status >= http.StatusInternalServerError || said.Status == http.StatusTooManyRequests {
		return &fault.Fault{Meaning: fault.Unavailable, Code: said.Code, Text: "no token of IAM: " + said.Text, Err: err}
	}
	return &fault.Fault{Meaning: fault.Denied, Cause: fault.Unauthenticated, Code: said.Code, Text: "IAM refuses the credentials: " + said.Text, Err: err}
}

// refusalOf is what metrics count of a refused call.
func refusalOf(status int, header http.Header, body []byte) providers.Answer {
	return errorTable().Answer(readRefusal(status, header, body))
}
