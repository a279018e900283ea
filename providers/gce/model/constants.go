package model

// Words of the API. Source: compute API reference.
const (
	SchemeExternal = "EXTERNAL"
	SchemeInternal = "INTERNAL"

	protocolTCP = "TCP"
	protocolUDP = "UDP"
	protocolL3  = "L3_DEFAULT"
	protocolAny = "UNSPECIFIED"

	VersionIPv4 = "IPV4"
	VersionIPv6 = "IPV6"

	TierPremium  = "PREMIUM"
	tierStandard = "STANDARD"

	AffinityNone     = "NONE"
	affinityClientIP = "CLIENT_IP"

	BalancingConnection = "CONNECTION"

	spillDisabled  = "ZONAL_AFFINITY_DISABLED"
	spillCrossZone = "ZONAL_AFFINITY_SPILL_CROSS_ZONE"

	localityMaglev             = "MAGLEV"
	LocalityRendezvous         = "GCP_RENDEZVOUS"
	localityWeightedMaglev     = "WEIGHTED_MAGLEV"
	localityWeightedRendezvous = "WEIGHTED_GCP_RENDEZVOUS"

	trackPerSession = "PER_SESSION"
)

// Limits of the API and of the official controllers.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_external.go;
// kubernetes/ingress-gce:pkg/neg/syncers; Google Cloud quota pages.
const (
	maxRulePorts        = 5
	PoolInsertLimit     = 200
	PoolMembersPerCall  = 1000
	GroupMembersPerCall = 1000
	NegEndpointsPerCall = 500
	maxLocalEndpoints   = 250
	maxNetLBLocal       = 3000
)
