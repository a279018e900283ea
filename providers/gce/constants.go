package gce

// Words of the API. Source: compute API reference.
const (
	schemeExternal = "EXTERNAL"
	schemeInternal = "INTERNAL"

	protocolTCP = "TCP"
	protocolUDP = "UDP"
	protocolL3  = "L3_DEFAULT"
	protocolAny = "UNSPECIFIED"

	versionIPv4 = "IPV4"
	versionIPv6 = "IPV6"

	tierPremium  = "PREMIUM"
	tierStandard = "STANDARD"

	affinityNone     = "NONE"
	affinityClientIP = "CLIENT_IP"

	balancingConnection = "CONNECTION"

	spillDisabled  = "ZONAL_AFFINITY_DISABLED"
	spillCrossZone = "ZONAL_AFFINITY_SPILL_CROSS_ZONE"

	localityMaglev             = "MAGLEV"
	localityRendezvous         = "GCP_RENDEZVOUS"
	localityWeightedMaglev     = "WEIGHTED_MAGLEV"
	localityWeightedRendezvous = "WEIGHTED_GCP_RENDEZVOUS"

	trackPerSession = "PER_SESSION"
)

// Limits of the API and of the official controllers.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_external.go;
// kubernetes/ingress-gce:pkg/neg/syncers; Google Cloud quota pages.
const (
	maxRulePorts        = 5
	poolInsertLimit     = 200
	poolMembersPerCall  = 1000
	groupMembersPerCall = 1000
	negEndpointsPerCall = 500
	maxLocalEndpoints   = 250
	maxNetLBLocal       = 3000
)
