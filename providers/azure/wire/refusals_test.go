package wire

import (
	"testing"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/refusals"
)

// TestRefusalTexts: the condition of a refusal has the quota with its figures, and the next step that
// the code calls for. The messages are those of issues 106096 and 85431 of
// MicrosoftDocs/azure-docs, 1454 of coreos/tectonic-installer, and of the pages on errors of
// Azure Resource Manager.
func TestRefusalTexts(t *testing.T) {
	refusals.Check(t, "testdata/refusals.golden", func(r kit.Refusal) error { return errorsOf().Refused(r, kit.Sent) },
		kit.Refusal{Status: 400, Code: "PublicIPCountLimitReached", Text: "Cannot create more than 20 public IP addresses for this subscription in this region."},
		kit.Refusal{Status: 400, Code: "StaticPublicIPCountLimitReached", Text: "Cannot create more than 20 public IP addresses with static allocation method for this subscription in this region."},
		kit.Refusal{Status: 409, Code: "QuotaExceeded", Text: "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota. Additional details - Deployment Model: Resource Manager, Location: westeurope, Current Limit: 10, Current Usage: 8, Additional Required: 4."},
		kit.Refusal{Status: 400, Code: "LoadBalancerCountLimitReached", Text: "The limit is reached."},
		kit.Refusal{Status: 400, Code: "SubnetIsFull", Text: "Subnet apps with address prefix 10.1.0.0/29 does not have enough capacity for 1 IP addresses."},
		kit.Refusal{Status: 409, Code: "ScopeLocked", Text: "The scope '/subscriptions/s/resourceGroups/g' cannot perform write operation because following scope(s) are locked: '/subscriptions/s'. Please remove the lock and try again."},
		kit.Refusal{Status: 403, Code: "RequestDisallowedByPolicy", Text: "Resource 'kubernetes' was disallowed by policy."},
		kit.Refusal{Status: 403, Code: "AuthorizationFailed", Text: "The client does not have authorization to perform action 'Microsoft.Network/loadBalancers/write'."},
		kit.Refusal{Status: 401, Code: "ExpiredAuthenticationToken", Text: "The access token expiry UTC time is earlier than current UTC time."},
		kit.Refusal{Status: 409, Code: "ReadOnlyDisabledSubscription", Text: "The subscription is disabled and therefore marked as read only."},
		kit.Refusal{Status: 400, Code: "PrivateIPAddressIsAllocated", Text: "IP configuration is using the private IP address 10.1.0.9 which is already allocated to resource nic-1."},
		kit.Refusal{Status: 400, Code: "DnsRecordInUse", Text: "DNS record shop.westeurope.cloudapp.azure.com is already used by another public IP."},
		kit.Refusal{Status: 400, Code: "PublicIPAddressInUse", Text: "Resource /subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/shop is already allocated to resource lb-1."},
		kit.Refusal{Status: 429, Code: "TooManyRequests", Text: "The request is being throttled as the limit has been reached for operation type."},
	)
}
