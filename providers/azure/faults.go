package azure

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/berth-lb/berth/providers/fault"
)

// way says how far a call came.
type way int

const (
	reading way = iota // a call that changes nothing
	stayed             // a writing call of which nothing left this machine
	sentOff            // a writing call that went out
)

// busyDelay is when to ask again after the answer that another operation on the
// resource has to end first, where it says no time itself.
const busyDelay = 2 * time.Second

// unanswered is the meaning of a call that got no answer, or none that tells
// whether it took effect.
func (w way) unanswered() fault.Meaning {
	if w == sentOff {
		return fault.Ambiguous
	}
	return fault.Unavailable
}

// faultOf gives an error of a call that was not answered its meaning.
func faultOf(err error, w way) error {
	if err == nil {
		return nil
	}
	var login *azidentity.AuthenticationFailedError
	if errors.As(err, &login) {
		return &fault.Fault{Meaning: fault.Denied, Err: err, Text: "login: " + err.Error()}
	}
	return &fault.Fault{Meaning: w.unanswered(), Err: err, Text: err.Error()}
}

// refusal is what a refused call says. Only its code, its status and how far the
// call came decide, never the text.
func (s *Session) refusal(r *http.Response, body Object, w way) error {
	said := body.in("error")
	f := &fault.Fault{Meaning: w.unanswered(), Code: orElse(r.Header.Get("X-Ms-Error-Code"), said.text("code")), Text: said.text("message")}
	if f.Text == "" {
		f.Text = http.StatusText(r.StatusCode)
	}
	f.After, _ = retryAfter(r.Header, s.now())
	m, mapped := meaningOf(f.Code, r.StatusCode)
	if mapped && m != fault.Unavailable {
		// Of a server that failed while it worked on the call nobody knows how far it came.
		f.Meaning = m
	}
	return timed(f)
}

// faultOfOperation is what an operation says that was accepted and went wrong.
func faultOfOperation(said Object, name string) error {
	f := &fault.Fault{Meaning: fault.Ambiguous, Code: said.text("code"), Text: name + ": " + orElse(said.text("message"), "the operation failed")}
	if m, mapped := meaningOf(f.Code, 0); mapped && m != fault.Unavailable {
		f.Meaning = m
	}
	return timed(f)
}

// timed says when to look again at what is only busy.
func timed(f *fault.Fault) error {
	if f.Meaning == fault.Pending && f.After == 0 {
		f.After = busyDelay
	}
	return f
}

// meaningOf is the one table from codes to meanings; the status decides about
// codes that are not in it. Sources: Azure Resource Manager reference, common
// deployment errors; kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go.
func meaningOf(code string, status int) (fault.Meaning, bool) {
	switch lower(code) {
	case "resourcenotfound", "notfound", "resourcegroupnotfound", "parentresourcenotfound":
		return fault.NotFound, true
	case "preconditionfailed", "canceledandsupersededduetoanotheroperation", "invalidresourcereference", "staleresource":
		return fault.Conflict, true
	case "publicipaddresscannotbedeleted", "loadbalancerinusebyvirtualmachinescaleset", "inusesubnetcannotbeupdated", "loadbalancercannotbedeleted",
		"loadbalancerinuse", "privatelinkservicecannotbedeleted", "publicipreferencedbymultipleipconfigs", "privateipaddressisallocated", "servicewithoverlaymappingscannotbedeleted":
		return fault.InUse, true
	case "anotheroperationinprogress", "referencedresourcenotprovisioned", "retryableerror", "resourcegroupbeingdeleted", "resourcenotprovisioned", "conflict":
		return fault.Pending, true
	case "operationnotallowed":
		// Compute throttles with this code, and refuses with it while a machine changes.
		if status == http.StatusTooManyRequests {
			return fault.Throttled, true
		}
		return fault.Pending, true
	case "subscriptionrequeststhrottled", "toomanyrequests":
		return fault.Throttled, true
	case "authorizationfailed", "authenticationfailed", "linkedauthorizationfailed", "invalidauthenticationtoken", "requestdisallowedbypolicy", "subscriptionnotfound":
		return fault.Denied, true
	case "quotaexceeded":
		return fault.Quota, true
	case "dnsrecordinuse", "invaliddomainnamelabel", "domainnamelabelreserved":
		return fault.Invalid, true
	}
	if strings.HasSuffix(lower(code), "limitreached") || strings.HasSuffix(lower(code), "limitexceeded") {
		return fault.Quota, true
	}
	return fault.OfStatus(status, fault.Pending)
}
