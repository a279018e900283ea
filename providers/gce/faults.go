package gce

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/googleapi"

	"github.com/berth-lb/berth/providers/fault"
)

// way says how far a call came.
type way int

const (
	reading way = iota // a call that changes nothing
	stayed             // a writing call of which nothing left this machine
	sentOff            // a writing call that went out
)

// notReadyDelay is when to ask again after the answer that a resource is not
// ready: another operation on it has to end.
const notReadyDelay = 2 * time.Second

// faultOf gives an error of a call its meaning; nil stays nil. Only reasons,
// status and how far the call came decide, never the text.
func faultOf(err error, w way) error {
	if err == nil {
		return nil
	}
	var known *fault.Fault
	if errors.As(err, &known) {
		return err
	}
	f := &fault.Fault{Meaning: w.unanswered(), Err: err, Text: err.Error()}
	var answer *googleapi.Error
	if !errors.As(err, &answer) {
		return f
	}
	if answer.Message != "" {
		f.Text = answer.Message
	}
	if len(answer.Errors) > 0 {
		f.Code = answer.Errors[0].Reason
	}
	m, mapped := meaningOf(f.Code)
	if !mapped {
		m, mapped = fault.OfStatus(answer.Code, fault.Exists)
	}
	if mapped && m != fault.Unavailable {
		// Of a server that failed while it worked on the call nobody knows how far it came.
		f.Meaning = m
	}
	return timed(f)
}

// unanswered is the meaning of a call that got no answer, or none that tells
// whether it took effect.
func (w way) unanswered() fault.Meaning {
	if w == sentOff {
		return fault.Ambiguous
	}
	return fault.Unavailable
}

// faultOfOperation is what an operation that has ended says; nil if it went well.
// Its first error decides, as it does for the official controllers.
func faultOfOperation(op *computepb.Operation) error {
	failures := op.GetError().GetErrors()
	status := int(op.GetHttpErrorStatusCode())
	if len(failures) == 0 && status < http.StatusBadRequest {
		return nil
	}
	f := &fault.Fault{Meaning: fault.Internal, Text: op.GetHttpErrorMessage()}
	if len(failures) > 0 {
		f.Code, f.Text = failures[0].GetCode(), failures[0].GetMessage()
	}
	m, mapped := meaningOf(f.Code)
	if !mapped {
		m, mapped = fault.OfStatus(status, fault.Exists)
	}
	switch {
	case m == fault.Unavailable:
		f.Meaning = fault.Ambiguous // it was at work when it failed
	case mapped:
		f.Meaning = m
	}
	return timed(f)
}

// timed says when to look again at what is only not ready yet.
func timed(f *fault.Fault) error {
	if f.Meaning == fault.Pending {
		f.After = notReadyDelay
	}
	return f
}

// meaningOf is the one table from reasons to meanings. A refused call says
// "resourceNotReady" where a failed operation says "RESOURCE_NOT_READY", so
// both are brought to one form.
// Sources: Compute Engine API reference, errors of calls and operations;
// Google Cloud resource manager, core errors of JSON APIs.
func meaningOf(code string) (fault.Meaning, bool) {
	switch strings.ToLower(strings.ReplaceAll(code, "_", "")) {
	case "notfound", "resourcenotfound":
		return fault.NotFound, true
	case "alreadyexists", "resourcealreadyexists", "memberalreadyexists", "duplicate", "ipinusebyanotherresource":
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
		"unsupportedoperation", "invalidresourceusage", "instanceinmultipleloadbalancedigs", "wrongsubnetwork", "organizationpolicyviolated":
		return fault.Invalid, true
	}
	return fault.Internal, false
}
