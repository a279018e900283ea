package wire

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/googleapi"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// notReadyDelay is when to ask again after the answer that a resource is not
// ready: another operation on it has to end.
const notReadyDelay = 2 * time.Second

// answerErrors reads the responses of both libraries. The response of a server that
// failed during a call does not show how far the call got.
func answerErrors() kit.Errors {
	return kit.Errors{
		Read: func(err error) (kit.Refusal, bool) {
			var answer *googleapi.Error
			if !errors.As(err, &answer) {
				return kit.Refusal{}, false
			}
			said := kit.Refusal{Status: answer.Code, Text: answer.Message}
			if len(answer.Errors) > 0 {
				said.Code = answer.Errors[0].Reason
			}
			return said, true
		},
		Meaning:  func(said kit.Refusal) (fault.Meaning, bool) { return meaningOf(said.Code) },
		Cause:    causeOf,
		Limit:    limitOf,
		Conflict: fault.Exists,
		Busy:     notReadyDelay,
	}
}

// faultOf returns an error of a call as a fault; nil stays nil.
func faultOf(err error, p kit.Progress) error { return answerErrors().Fault(err, p) }

// faultOfOperation returns the fault of an operation that has ended; nil if it
// succeeded. Its first error decides, as it does for the official controllers.
func faultOfOperation(op *computepb.Operation) error {
	said := kit.Refusal{Status: int(op.GetHttpErrorStatusCode()), Text: op.GetHttpErrorMessage()}
	failures := op.GetError().GetErrors()
	if len(failures) == 0 && said.Status < http.StatusBadRequest {
		return nil
	}
	if len(failures) > 0 {
		said.Code, said.Text = failures[0].GetCode(), failures[0].GetMessage()
	}
	if _, mapped := meaningOf(said.Code); !mapped {
		if _, mapped = fault.OfStatus(said.Status, fault.Exists); !mapped {
			return &fault.Fault{Meaning: fault.Internal, Code: said.Code, Text: said.Text}
		}
	}
	return answerErrors().Refused(said, kit.Sent)
}

func asFault(err error) (*fault.Fault, bool) { return errors.AsType[*fault.Fault](err) }

// ofCreation returns what a refused creation means: nothing there can have changed in
// between, so that a condition that is not met is one of the organisation's policies,
// or an address that is taken.
// Source: Resource Manager documentation, organization policy constraints.
func ofCreation(err error) error {
	f, ok := asFault(err)
	if !ok || f.Meaning != fault.Conflict {
		return err
	}
	return f.With(fault.Invalid, "")
}

// alreadyExists reports whether a set differs from its known state: no member is at
// fault then.
func alreadyExists(err error) bool { return fault.Is(err, fault.Exists) }

// meaningOf is the one table from reasons to meanings. A refused call says
// "resourceNotReady" where a failed operation says "RESOURCE_NOT_READY", so
// both are brought to one form.
// Sources: Compute Engine API reference, errors of calls and operations;
// Google Cloud resource manager, core errors of JSON APIs.
func meaningOf(code string) (fault.Meaning, bool) {
	switch strings.ToLower(strings.ReplaceAll(code, "_", "")) {
	case "notfound", "resourcenotfound":
		return fault.NotFound, true
	case "alreadyexists", "resourcealreadyexists", "memberalreadyexists", "duplicate":
		return fault.Exists, true
	case "resourceinusebyanotherresource", "resourceinuse":
		return fault.InUse, true
	case "resourcenotready", "operationinprogress":
		return fault.Pending, true
	case "conditionnotmet", "staleresource":
		return fault.Conflict, true
	case "ratelimitexceeded", "userratelimitexceeded", "concurrentoperationsquotaexceeded", "resourceoperationrateexceeded", "toomanyrequests", "resourceexhausted":
		return fault.Throttled, true
	case "quotaexceeded", "limitexceeded", "resourcelimitexceeded", "resourcepoolexhausted", "ipspaceexhausted", "zoneresourcepoolexhausted", "dailylimitexceeded":
		return fault.Quota, true
	case "forbidden", "accessnotconfigured", "insufficientpermissions", "permissionserror", "permissiondenied", "autherror", "unauthenticated",
		"servicedisabled", "billingnotenabled", "projectnotfound":
		return fault.Denied, true
	case "backenderror", "internalerror", "internal", "unavailable", "badgateway", "deadlineexceeded":
		return fault.Unavailable, true
	case "invalid", "invalidargument", "invalidparameter", "invalidfieldvalue", "invalidusage", "required", "requiredfield", "badrequest", "parseerror", "failedprecondition",
		"unsupportedoperation", "invalidresourceusage", "instanceinmultipleloadbalancedigs", "wrongsubnetwork", "organizationpolicyviolated",
		"ipinusebyanotherresource":
		return fault.Invalid, true
	}
	return fault.Internal, false
}
