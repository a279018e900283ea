package model

import (
	"cmp"
)

// Rates are the limits that the configuration sets on calls, by type of resource in
// lower case; nil: none, and only Azure's own count.
type Rates map[string]TypeRates

// TypeRates are the limits on calls about one type of resource.
type TypeRates struct{ Reads, Writes Rate }

// Rate is a token bucket.
type Rate struct {
	Rate  float64 // calls a second
	Burst int     // calls at once
}

// Of is the limit on calls about a type of resource, in lower case.
func (r Rates) Of(kind string, writing bool) (Rate, bool) {
	limits, set := r[kind]
	if writing {
		return limits.Writes, set
	}
	return limits.Reads, set
}

// Limits where the file switches them on and does not say how large they are. Sources:
// kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go (RateLimitQPSDefault,
// RateLimitBucketDefault), pkg/provider/config/azure_ratelimit.go (order of overrides).
const (
	defaultRateQPS   = 1.0
	defaultRateBurst = 5
)

// rateFile is one set of limits in the file.
type rateFile struct {
	CloudProviderRateLimit            bool    `json:"cloudProviderRateLimit"`
	CloudProviderRateLimitQPS         float64 `json:"cloudProviderRateLimitQPS"`
	CloudProviderRateLimitBucket      int     `json:"cloudProviderRateLimitBucket"`
	CloudProviderRateLimitQPSWrite    float64 `json:"cloudProviderRateLimitQPSWrite"`
	CloudProviderRateLimitBucketWrite int     `json:"cloudProviderRateLimitBucketWrite"`
}

// ratesFile are the limits in the file: those of all clients, and over them those of
// single ones.
type ratesFile struct {
	rateFile

	LoadBalancerRateLimit           *rateFile `json:"loadBalancerRateLimit"`
	PublicIPAddressRateLimit        *rateFile `json:"publicIPAddressRateLimit"`
	SecurityGroupRateLimit          *rateFile `json:"securityGroupRateLimit"`
	SubnetsRateLimit                *rateFile `json:"subnetsRateLimit"`
	InterfaceRateLimit              *rateFile `json:"interfaceRateLimit"`
	PrivateLinkServiceRateLimit     *rateFile `json:"privateLinkServiceRateLimit"`
	VirtualMachineRateLimit         *rateFile `json:"virtualMachineRateLimit"`
	VirtualMachineScaleSetRateLimit *rateFile `json:"virtualMachineScaleSetRateLimit"`
}

// rates are the limits by type of resource. A client without limits of its own has
// those of all; one whose own are switched off has none.
func (f ratesFile) rates() Rates {
	out := Rates{}
	all := f.limits(rateFile{CloudProviderRateLimitQPS: defaultRateQPS, CloudProviderRateLimitBucket: defaultRateBurst})
	for _, client := range []struct {
		own   *rateFile
		types []string
	}{
		{f.LoadBalancerRateLimit, []string{"loadbalancers"}}, {f.PublicIPAddressRateLimit, []string{"publicipaddresses"}},
		{f.SecurityGroupRateLimit, []string{"networksecuritygroups"}}, {f.SubnetsRateLimit, []string{"virtualnetworks"}},
		{f.InterfaceRateLimit, []string{"networkinterfaces"}}, {f.PrivateLinkServiceRateLimit, []string{"privatelinkservices"}},
		{f.VirtualMachineRateLimit, []string{"virtualmachines"}},
		{f.VirtualMachineScaleSetRateLimit, []string{"virtualmachinescalesets", "virtualmachinescalesets/virtualmachines"}},
	} {
		limits := all
		if client.own != nil {
			limits = client.own.limits(all)
		}
		for _, kind := range client.types {
			if limits.CloudProviderRateLimit {
				out[kind] = TypeRates{
					Reads:  Rate{limits.CloudProviderRateLimitQPS, limits.CloudProviderRateLimitBucket},
					Writes: Rate{limits.CloudProviderRateLimitQPSWrite, limits.CloudProviderRateLimitBucketWrite},
				}
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// limits completes a set of limits; writes have those of reads where nothing else is
// said.
func (f rateFile) limits(fallback rateFile) rateFile {
	f.CloudProviderRateLimitQPS = cmp.Or(f.CloudProviderRateLimitQPS, fallback.CloudProviderRateLimitQPS)
	f.CloudProviderRateLimitBucket = cmp.Or(f.CloudProviderRateLimitBucket, fallback.CloudProviderRateLimitBucket)
	f.CloudProviderRateLimitQPSWrite = cmp.Or(f.CloudProviderRateLimitQPSWrite, fallback.CloudProviderRateLimitQPSWrite, f.CloudProviderRateLimitQPS)
	f.CloudProviderRateLimitBucketWrite = cmp.Or(f.CloudProviderRateLimitBucketWrite, fallback.CloudProviderRateLimitBucketWrite, f.CloudProviderRateLimitBucket)
	return f
}
