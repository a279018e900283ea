package wire

import (
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// causeOf says what has to change before a refused call can succeed. AWS answers 403
// to credentials that it does not accept and to rights that are missing, so only codes
// distinguish them.
// Source: common errors in the ELB, ELBv2 and EC2 API references; ELBv2,
// DeleteLoadBalancer, OperationNotPermitted.
func causeOf(said kit.Refusal) fault.Cause {
	switch said.Code {
	case "AuthFailure", "InvalidClientTokenId", "UnrecognizedClientException", "ExpiredToken", "ExpiredTokenException", "SignatureDoesNotMatch",
		"IncompleteSignature", "MissingAuthenticationToken", "MissingAuthenticationTokenException", "RequestExpired":
		return fault.Unauthenticated
	case "OperationNotPermitted":
		return fault.Locked
	case "OptInRequired", "PendingVerification", "Blocked":
		return fault.Account
	case "InsufficientFreeAddressesInSubnet":
		return fault.Addresses
	case "InsufficientCapacity":
		return fault.Capacity
	default:
		return fault.Unspecified
	}
}
