package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
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
	return kit.Errors{Read: refusalIn, Meaning: meaningOf, Cause: codeTable().Cause, Limit: limitOf, Conflict: fault.Exists, Busy: busyDelay}
}

// busyDelay is when to ask again after an answer that says to wait and not how long.
const busyDelay = 2 * time.Second

// refusalIn takes the cloud's answer out of an error of the SDK.
func refusalIn(err error) (kit.Refusal, bool) {
	var code gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &code) {
		return kit.Refusal{}, false
	}
	return parseRefusal(code.Actual, code.ResponseHeader, code.Body), true
}

// parseRefusal parses an answer in the forms of the several APIs. Sources: Octavia and
// Neutron API references, errors.
func parseRefusal(status int, header http.Header, body []byte) kit.Refusal {
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

// codeTable returns the codes of Neutron; Octavia has none but the status.
// Sources: neutron_lib/exceptions; Octavia API reference.
func codeTable() kit.Codes {
	return kit.Codes{
		Meanings: map[string]fault.Meaning{
			"OverQuota": fault.Quota, "IpAddressGenerationFailure": fault.Quota, "ExternalIpAddressExhausted": fault.Quota,
			"SecurityGroupInUse": fault.InUse, "PortInUse": fault.InUse, "FloatingIPPortAlreadyAssociated": fault.InUse,
			"RevisionNumberConstraintFailed": fault.Conflict, "PolicyNotAuthorized": fault.Denied,
		},
		Causes: map[string]fault.Cause{"IpAddressGenerationFailure": fault.Addresses, "ExternalIpAddressExhausted": fault.Addresses},
		Statuses: map[int]fault.Meaning{
			http.StatusNotImplemented:        fault.Invalid,
			http.StatusRequestEntityTooLarge: fault.Throttled, // as older releases of Nova and Neutron's proxies say it
		},
	}
}

// meaningOf returns the meaning of a refusal by the table, except for quotas of Octavia.
func meaningOf(r kit.Refusal) (fault.Meaning, bool) {
	m, ok := codeTable().Meaning(r)
	if !ok && r.Status == http.StatusForbidden && strings.HasPrefix(r.Text, quotaMet) {
		return fault.Quota, true
	}
	return m, ok
}

// limitOf finds the names of quotas in the messages of Octavia and Neutron, which have no figures.
// Sources: openstack/octavia, octavia/common/exceptions.py; neutron_lib/exceptions (OverQuota).
func limitOf(r kit.Refusal) fault.Limit {
	limit := kit.LimitIn(r, quotaResources)
	limit.Name = strings.ReplaceAll(limit.Name, "'", "")
	return limit
}

var quotaResources = regexp.MustCompile(`for resources: \[?(?P<name>[^\].]+)`)

// refusalOf is what metrics count of a refused call.
func refusalOf(status int, header http.Header, body []byte) providers.Answer {
	return errorTable().Answer(parseRefusal(status, header, body))
}
