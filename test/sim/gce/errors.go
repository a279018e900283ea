package gce

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// knownErrors pairs the reasons of refused calls with the codes of failed operations.
func knownErrors() []wire.Error {
	return []wire.Error{
		{Status: 500, Reason: "backendError", Code: "INTERNAL_ERROR"},
		{Status: 503, Reason: "serviceUnavailable", Code: "SERVICE_UNAVAILABLE"},
		{Status: 503, Reason: "backendError", Code: "BACKEND_ERROR"},
		{Status: 400, Reason: "invalid", Code: "INVALID_FIELD_VALUE"},
		{Status: 400, Reason: "invalid", Code: "INVALID_USAGE"},
		{Status: 400, Reason: "resourceInUseByAnotherResource", Code: "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE"},
		{Status: 400, Reason: "resourceNotReady", Code: "RESOURCE_NOT_READY"},
		{Status: 401, Reason: "authError", Code: "UNAUTHENTICATED"},
		{Status: 403, Reason: "forbidden", Code: "PERMISSIONS_ERROR"},
		{Status: 403, Reason: "quotaExceeded", Code: "QUOTA_EXCEEDED"},
		{Status: 403, Reason: "rateLimitExceeded", Code: "RATE_LIMIT_EXCEEDED"},
		{Status: 404, Reason: "notFound", Code: "RESOURCE_NOT_FOUND"},
		{Status: 409, Reason: "alreadyExists", Code: "RESOURCE_ALREADY_EXISTS"},
		{Status: 409, Reason: "alreadyExists", Code: "IP_IN_USE_BY_ANOTHER_RESOURCE"},
		{Status: 412, Reason: "conditionNotMet", Code: "CONDITION_NOT_MET"},
		{Status: 429, Reason: "rateLimitExceeded", Code: "RATE_LIMIT_EXCEEDED"},
		{Status: 502, Reason: "backendError", Code: "BACKEND_ERROR"},
	}
}

// faultError fills in what the fault leaves open. Its code may be a reason or
// the code of an operation.
func faultError(f sim.Fault) *wire.Error {
	name, status := f.Code, f.Status
	if status == http.StatusOK {
		status = 0
	}
	if name == "" && status == 0 {
		status = http.StatusInternalServerError
	}
	out := wire.Error{Status: status, Reason: name, Code: name, Message: f.Message}
	for _, k := range knownErrors() {
		if (name == "" || name == k.Reason || name == k.Code) && (status == 0 || status == k.Status) {
			out.Status, out.Reason, out.Code = k.Status, k.Reason, k.Code
			break
		}
	}
	if out.Status == 0 {
		out.Status = http.StatusBadRequest
	}
	if out.Message == "" {
		out.Message = "injected by a fault of the simulator"
	}
	return &out
}
