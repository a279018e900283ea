package aws

import (
	"errors"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/berth-lb/berth/providers/fault"
)

// way says how far a call came.
type way int

const (
	reading way = iota // a call that changes nothing
	stayed             // a writing call of which nothing left this machine
	sentOff            // a writing call that went out
)

// faultOf gives an SDK error its meaning; nil stays nil. Only codes, status and
// how far the call came decide, never the text.
func faultOf(err error, w way) error {
	if err == nil {
		return nil
	}
	var known *fault.Fault
	if errors.As(err, &known) {
		return err
	}
	code := codeOf(err)
	f := &fault.Fault{Meaning: w.unanswered(), Code: code, Text: textOf(err), Err: err}
	switch m, mapped := meaningOf(code); {
	case mapped && m == fault.Unavailable:
		// The server failed while it worked on the call: nobody knows how far it came.
	case mapped:
		f.Meaning = m
	default:
		if m, ok := meaningOfStatus(httpStatus(err)); ok {
			f.Meaning = m
		}
	}
	return f
}

// unanswered is the meaning of a call that got no answer, or none that tells
// whether it took effect.
func (w way) unanswered() fault.Meaning {
	if w == sentOff {
		return fault.Ambiguous
	}
	return fault.Unavailable
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func textOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorMessage() != "" {
		return api.ErrorMessage()
	}
	return err.Error()
}

func httpStatus(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// meaningOfStatus is for answers whose code nobody has mapped. Server errors
// have none: they say nothing of what became of the call.
func meaningOfStatus(status int) (fault.Meaning, bool) {
	switch {
	case status == http.StatusTooManyRequests:
		return fault.Throttled, true
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.Denied, true
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return fault.Internal, true
	}
	return fault.Internal, false
}

// mayRepeat tells which answers the SDK may repeat by itself.
func mayRepeat(m fault.Meaning) bool { return m == fault.Unavailable }

// meaningOf is the one table from wire codes to meanings, for all three APIs.
// Sources: the error lists of the ELB (2012-06-01), ELBv2 (2015-12-01) and EC2
// (2016-11-15) API references, and retry.DefaultThrottleErrorCodes of the SDK.
func meaningOf(code string) (fault.Meaning, bool) {
	switch code {
	case "LoadBalancerNotFound", "ListenerNotFound", "TargetGroupNotFound", "PolicyNotFound", "LoadBalancerAttributeNotFound",
		"InvalidGroup.NotFound", "InvalidGroupId.NotFound", "InvalidPermission.NotFound", "InvalidSecurityGroupRuleId.NotFound", "InvalidInstanceID.NotFound":
		return fault.NotFound, true
	case "DuplicateLoadBalancerName", "DuplicateTargetGroupName", "DuplicateListener", "DuplicatePolicyName",
		"InvalidGroup.Duplicate", "InvalidPermission.Duplicate":
		return fault.Exists, true
	case "ResourceInUse", "DependencyViolation", "InvalidGroup.InUse":
		return fault.InUse, true
	case "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestThrottledException", "TooManyRequestsException",
		"RequestLimitExceeded", "SlowDown", "EC2ThrottledException", "DependencyThrottle", "BandwidthLimitExceeded", "PriorityRequestLimitExceeded":
		return fault.Throttled, true
	case "PriorRequestNotComplete", "CapacityReservationPending", "IncorrectState":
		return fault.Pending, true
	case "InternalError", "InternalFailure", "InternalServerError", "ServiceUnavailable", "ServiceUnavailableException", "Unavailable",
		"HealthUnavailable", "RequestTimeout", "RequestTimeoutException":
		return fault.Unavailable, true
	}
	return meaningOfRefusal(code)
}

// meaningOfRefusal is the rest of the table: what will be refused again until
// somebody changes something.
func meaningOfRefusal(code string) (fault.Meaning, bool) {
	switch code {
	case "TooManyLoadBalancers", "TooManyPolicies", "TooManyTags", "TooManyTargetGroups", "TooManyTargets", "TooManyRegistrationsForTargetId",
		"TooManyListeners", "TooManyCertificates", "TooManyActions", "TooManyUniqueTargetGroupsPerLoadBalancer", "TargetGroupAssociationLimit",
		"CapacityUnitsLimitExceeded", "CapacityDecreaseRequestLimitExceeded", "InsufficientCapacity", "InsufficientFreeAddressesInSubnet",
		"RulesPerSecurityGroupLimitExceeded", "SecurityGroupLimitExceeded", "SecurityGroupsPerInterfaceLimitExceeded", "TagLimitExceeded", "ResourceLimitExceeded":
		return fault.Quota, true
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "AuthorizationError", "Blocked", "OptInRequired", "PendingVerification",
		"InvalidClientTokenId", "UnrecognizedClientException", "ExpiredToken", "ExpiredTokenException", "SignatureDoesNotMatch",
		"IncompleteSignature", "MissingAuthenticationToken", "MissingAuthenticationTokenException", "NotAuthorized", "RequestExpired",
		"OperationNotPermitted": // deletion protection, or an account that may not have load balancers: an administrator's matter, not the Service's
		return fault.Denied, true
	case "CertificateNotFound", "UnsupportedCertificate", "SSLPolicyNotFound", "ALPNPolicyNotFound", "ALPNPolicyNotSupported", "PolicyTypeNotFound",
		"AllocationIdNotFound", "SubnetNotFound", "AvailabilityZoneNotSupported", "IncompatibleProtocols", "UnsupportedProtocol",
		"InvalidConfigurationRequest", "InvalidInstance", "InvalidScheme", "InvalidSecurityGroup", "InvalidSubnet", "InvalidTarget",
		"InvalidLoadBalancerAction", "InvalidTag", "DuplicateTagKeys", "ValidationError",
		"InvalidGroupId.Malformed", "InvalidInstanceID.Malformed", "InvalidPermission.Malformed", "InvalidParameterValue", "InvalidParameterCombination",
		"InvalidParameter", "MissingParameter", "InvalidSubnetID.NotFound", "InvalidSubnetId.Malformed", "InvalidVpcID.NotFound", "InvalidGroup.Reserved",
		"InvalidPrefixListID.NotFound", "InvalidPrefixListId.Malformed":
		return fault.Invalid, true
	}
	return fault.Internal, false
}
