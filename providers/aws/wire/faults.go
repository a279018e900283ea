package wire

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// faultOf gives an SDK error its meaning; nil stays nil.
func faultOf(err error, p kit.Progress) error {
	return kit.Errors{Read: refusalOf, Meaning: meaningOfAnswer, Cause: causeOf}.Fault(err, p)
}

// refusalOf takes AWS's answer out of an error of the SDK; false: there was none.
func refusalOf(err error) (kit.Refusal, bool) {
	said := kit.Refusal{Code: codeOf(err), Status: httpStatus(err), Text: textOf(err)}
	return said, said.Code != "" || said.Status != 0
}

// meaningOfAnswer maps the code, else the status. Server errors whose code is not mapped
// have no meaning: they do not show what became of the call.
func meaningOfAnswer(said kit.Refusal) (fault.Meaning, bool) {
	if m, ok := meaningOf(said.Code); ok {
		return m, true
	}
	return meaningOfStatus(said.Status)
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// textOf returns AWS's message. The SDK describes a refusal in another form, such as a page of a
// proxy, by where it is not XML.
func textOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorMessage() != "" {
		return api.ErrorMessage()
	}
	var call *smithy.OperationError
	if status := httpStatus(err); status >= http.StatusBadRequest && api == nil && errors.As(err, &call) {
		return fmt.Sprintf("%s was answered with HTTP status %d and no error of AWS: a proxy in between, or an endpoint that lacks the operation, can answer so", call.OperationName, status)
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

// meaningOfStatus is for responses whose code is not mapped. Server errors have no
// meaning: they do not show what became of the call.
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

// meaningOfRefusal is the rest of the table: calls that will be refused again until the
// user or the operator changes something.
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
		"InvalidPrefixListID.NotFound", "InvalidPrefixListId.NotFound", "InvalidPrefixListId.Malformed":
		return fault.Invalid, true
	}
	return fault.Internal, false
}
