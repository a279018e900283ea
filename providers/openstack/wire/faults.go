package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// errorTable classifies the SDK's errors. 409 means that something exists already, or that
// the resource is busy; see Session.change.
func errorTable() kit.Errors {
	return kit.Errors{Read: refusalIn, Meaning: meaningOf, Conflict: fault.Exists, Busy: busyDelay}
}

// busyDelay is when to ask again after an answer that says to wait and not how long.
const busyDelay = 2 * time.Second

// refusalIn takes the cloud's answer out of an error of the SDK.
func refusalIn(err error) (kit.Refusal, bool) {
	var code gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &code) {
		return kit.Refusal{}, false
	}
	return refusal(code.Actual, code.ResponseHeader, code.Body), true
}

// refusal reads an answer in the forms of the several APIs.
// Sources: Octavia and Neutron API references, errors.
func refusal(status int, header http.Header, body []byte) kit.Refusal {
	var said struct {
		FaultString  string `json:"faultstring"`
		NeutronError struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"NeutronError"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal(body, &said) // what is no JSON says nothing more than the status
	r := kit.Refusal{
		Status: status, Code: said.NeutronError.Type,
		Text: firstNonBlank(said.FaultString, said.NeutronError.Message, said.Error.Message, said.Description, http.StatusText(status)),
	}
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil {
		r.After = time.Duration(seconds) * time.Second
	}
	return r
}

// quotaMet begins what Octavia says of a quota; the status is that of a right which is
// missing. Source: openstack/octavia, octavia/common/exceptions.py (QuotaException).
const quotaMet = "Quota has been met"

// meaningOf is the one table from codes to meanings. Octavia has no codes but the
// status. Sources: neutron_lib/exceptions; Octavia API reference.
func meaningOf(r kit.Refusal) (fault.Meaning, bool) {
	switch r.Code {
	case "OverQuota", "IpAddressGenerationFailure", "ExternalIpAddressExhausted":
		return fault.Quota, true
	case "SecurityGroupInUse", "PortInUse", "FloatingIPPortAlreadyAssociated":
		return fault.InUse, true
	case "RevisionNumberConstraintFailed":
		return fault.Conflict, true
	case "PolicyNotAuthorized":
		return fault.Denied, true
	}
	if r.Status == http.StatusForbidden && strings.HasPrefix(r.Text, quotaMet) {
		return fault.Quota, true
	}
	switch r.Status {
	case http.StatusNotImplemented:
		return fault.Invalid, true
	case http.StatusRequestEntityTooLarge:
		return fault.Throttled, true // as older releases of Nova and Neutron's proxies say it
	}
	return fault.Internal, false
}

// refusalOf is what metrics count of a refused call.
func refusalOf(status int, header http.Header, body []byte) providers.Answer {
	return errorTable().Answer(refusal(status, header, body))
}
