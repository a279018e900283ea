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

// errorTable classifies the answers of the API.
func errorTable() kit.Errors {
	return kit.Errors{Read: refusalIn, Meaning: meaningOf, Cause: causeOf, Limit: limitOf, OfSome: isOfSome, Conflict: fault.Pending, Busy: busyDelay}
}

func refusalIn(err error) (kit.Refusal, bool) {
	var r *refusedError
	if !errors.As(err, &r) {
		return kit.Refusal{}, false
	}
	return readRefusal(r.status, r.body), true
}

func readRefusal(status int, body []byte) kit.Refusal {
	var said struct {
		Code    string `json:"Code"`
		Message string `json:"Message"`
	}
	_ = json.Unmarshal(body, &said) // what is no JSON says nothing more than the status
	r := kit.Refusal{Status: status, Code: said.Code, Text: said.Message}
	if r.Text == "" {
		r.Text = http.StatusText(status)
	}
	return r
}

// codeMeanings is the table from codes, in lower case, to meanings. Others follow from their
// endings and the status.
// Sources: aliyun/terraform-provider-alicloud:alicloud/errors.go (SlbIsBusy); API of SLB, error codes.
func codeMeanings() map[string]fault.Meaning {
	return map[string]fault.Meaning{
		"operationbusy":                        fault.Pending,
		"systembusy":                           fault.Pending,
		"serviceisconfiguring":                 fault.Pending,
		"serviceisstopping":                    fault.Pending,
		"backendserver.configuring":            fault.Pending,
		"tokenisprocessing":                    fault.Pending,
		"operationfailed.tokenisprocessing":    fault.Pending,
		"incorrectstatus.loadbalancer":         fault.Pending,
		"incorrectstatus.servergroup":          fault.Pending,
		"incorrectstatus.listener":             fault.Pending,
		"conflict.lock":                        fault.Pending,
		codeProtected:                          fault.Pending,
		"resourceinuse.servergroup":            fault.InUse,
		"dependencyviolation":                  fault.InUse,
		"authorizationlimitexceed":             fault.Quota,
		"resourcealreadyexist.listener":        fault.Exists,
		"listeneralreadyexists":                fault.Exists,
		"rsppoolexist":                         fault.InUse,
		"instancebackendservernumberoverlimit": fault.Quota,
		"vswitchavailableipnotexist":           fault.Quota,
		"invalidaccesskeyid.notfound":          fault.Denied,
		"invalidaccesskeyid.inactive":          fault.Denied,
		"invalidsecuritytoken.expired":         fault.Denied,
		"signaturedoesnotmatch":                fault.Denied,
		"invalidtimestamp.expired":             fault.Denied,
		codeServer:                             fault.Invalid,
		codeNetServer:                          fault.Invalid,
		"obtainipfail":                         fault.Invalid,
	}
}

// codeProtected refuses the deletion of a network load balancer, in lower case, also for a moment after its
// protection was switched off. Source: API of NLB, DeleteLoadBalancer.
const codeProtected = "operationdenied.deletionprotectionenabled"

// codeServer refuses a server that does not exist, in lower case.
const codeServer = "invalidserverid.notfound"

// codeNetServer is the same of the NLB API.
const codeNetServer = "resourcenotfound.backendserver"

func meaningOf(r kit.Refusal) (fault.Meaning, bool) {
	code := strings.ToLower(r.Code)
	if m, ok := codeMeanings()[code]; ok {
		return m, true
	}
	switch {
	case strings.HasPrefix(code, "throttling"):
		return fault.Throttled, true
	case strings.HasSuffix(code, ".notfound"), strings.HasSuffix(code, "notexist"), strings.HasPrefix(code, "resourcenotfound"):
		return fault.NotFound, true
	case strings.HasPrefix(code, "forbidden"), strings.HasPrefix(code, "nopermission"):
		return fault.Denied, true
	case strings.Contains(code, "quota"), strings.Contains(code, "overlimit"):
		return fault.Quota, true
	case strings.HasPrefix(code, "operationdenied"):
		return fault.Conflict, true
	}
	return 0, false
}

// causeOf returns what has to change before a refused call can succeed.
func causeOf(r kit.Refusal) fault.Cause {
	code := strings.ToLower(r.Code)
	if strings.HasPrefix(code, "invalidaccesskeyid") || strings.HasPrefix(code, "invalidsecuritytoken") || code == "signaturedoesnotmatch" || code == "invalidtimestamp.expired" {
		return fault.Unauthenticated
	}
	if code == "vswitchavailableipnotexist" {
		return fault.Addresses
	}
	return fault.Unspecified
}

// limitOf returns the quota of a refusal: its name is the end of a code such as
// QuotaLimitExceeds.Listener.
func limitOf(r kit.Refusal) fault.Limit {
	_, name, _ := strings.Cut(r.Code, "QuotaLimitExceeds.")
	return fault.Limit{Name: name}
}

// isOfSome reports whether an answer is about some of the servers of a call.
func isOfSome(r kit.Refusal) bool {
	code := strings.ToLower(r.Code)
	return code == codeServer || code == codeNetServer || code == "obtainipfail"
}

// refusalOf is what metrics count of a refused call.
func refusalOf(status int, _ http.Header, body []byte) providers.Answer {
	return errorTable().Answer(readRefusal(status, body))
}
